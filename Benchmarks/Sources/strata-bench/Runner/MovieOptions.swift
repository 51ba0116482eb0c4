import ArgumentParser
import Foundation

/// The options of commands over stores of movies.
struct MovieOptions: ParsableArguments {
    @Option(help: "Numbers of movies, with commas between them.", transform: MovieOptions.sizes)
    var size = [10_000, 100_000]

    @Option(help: "Measures only the lines whose names contain this.")
    var filter = ""

    @Option(help: "Writes everything as JSON to this file; - is the standard output.")
    var json: String?

    @Flag(help: "Prints the tables as Markdown.")
    var markdown = false

    @Option(help: "Where the stores are made; they are removed afterwards.")
    var directory = FileManager.default.temporaryDirectory.path(percentEncoded: false)

    var style: TextTable.Style { markdown ? .markdown : .terminal }

    static func sizes(_ text: String) throws -> [Int] {
        try text.split(separator: ",").map { part in
            guard let size = Int(part), size >= 1_000 else {
                throw ValidationError("A size must be a whole number of at least 1000, not '\(part)'.")
            }
            return size
        }
    }

    func validate() throws {
        let names = LineName.allCases.map { $0.rawValue.lowercased() } + ["file"]
        guard names.contains(where: { $0.contains(filter.lowercased()) }) || filter.isEmpty else {
            throw ValidationError("No line has '\(filter)' in its name.")
        }
    }

    /// Writes the report as JSON where that was asked for.
    ///
    /// - Returns: whether the standard output was taken.
    func write(_ report: some Encodable) throws -> Bool {
        guard let json else { return false }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let data = try encoder.encode(report)
        guard json == "-" else {
            try data.write(to: URL(filePath: json))
            return false
        }
        FileHandle.standardOutput.write(data + Data("\n".utf8))
        return true
    }
}

extension Set<Peer> {
    /// The peers in the text of an option, and Strata.
    init(option text: String) throws {
        self = [.strata]
        guard text.lowercased() != "none" else { return }
        for part in text.split(separator: ",") {
            let name = part.trimmingCharacters(in: .whitespaces).lowercased()
            guard let peer = Peer.allCases.first(where: { $0.rawValue.lowercased() == name }) else {
                throw ValidationError("There is no peer '\(part)'; there are \(Peer.others).")
            }
            insert(peer)
        }
    }
}
