import ArgumentParser
import Foundation

/// `strata-bench run`, what is run when nothing else is asked for.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs Strata beside bare LMDB, SQLite, GRDB and archives, and judges the bars.")

    @Option(help: "Numbers of movies, with commas between them.", transform: RunCommand.sizes)
    var size = [10_000, 100_000]

    @Option(help: "Measures only the lines whose names contain this.")
    var filter = ""

    @Option(
        help: "Whom to measure beside Strata, with commas between them, or none: \(Peer.others).",
        transform: RunCommand.peers)
    var peers = Set(Peer.allCases)

    @Option(help: "How often each line is measured, after once to warm up.")
    var rounds = 7

    @Option(help: "Writes everything as JSON to this file; - is the standard output.")
    var json: String?

    @Flag(help: "Prints the tables as Markdown.")
    var markdown = false

    @Option(help: "Where the stores are made; they are removed afterwards.")
    var directory = FileManager.default.temporaryDirectory.path(percentEncoded: false)

    /// In the order in which they run: the first fills the stores, the last but one closes them.
    static var workloads: [any Workload.Type] {
        [
            BulkInsert.self, RandomFaults.self, ColdMembers.self, HotReads.self, Hops.self, IndexedRanges.self,
            UnindexedCounts.self, Commits.self, Updates.self, Cascades.self, WholeStore.self, ColdOpen.self,
            History.self,
        ]
    }

    private static func sizes(_ text: String) throws -> [Int] {
        try text.split(separator: ",").map { part in
            guard let size = Int(part), size >= 1_000 else {
                throw ValidationError("A size must be a whole number of at least 1000, not '\(part)'.")
            }
            return size
        }
    }

    private static func peers(_ text: String) throws -> Set<Peer> {
        if text.lowercased() == "none" { return [.strata] }
        return try text.split(separator: ",").reduce(into: [.strata]) { peers, part in
            let name = part.trimmingCharacters(in: .whitespaces).lowercased()
            guard let peer = Peer.allCases.first(where: { $0.rawValue.lowercased() == name }) else {
                throw ValidationError("There is no peer '\(part)'; there are \(Peer.others).")
            }
            peers.insert(peer)
        }
    }

    func validate() throws {
        guard rounds >= 1 else { throw ValidationError("--rounds must be at least 1.") }
        let names = LineName.allCases.map { $0.rawValue.lowercased() } + ["file"]
        guard names.contains(where: { $0.contains(filter.lowercased()) }) || filter.isEmpty else {
            throw ValidationError("No line has '\(filter)' in its name.")
        }
    }

    func run() throws {
        var report = Report(machine: Machine())
        try WorkingPlace.inside(directory) { place in
            for size in size.sorted() { report.sizes.append(try measure(size, place)) }
        }
        if let json {
            let data = try Self.encoder.encode(report)
            if json == "-" { return FileHandle.standardOutput.write(data + Data("\n".utf8)) }
            try data.write(to: URL(filePath: json))
        }
        print(ReportText(report: report, style: markdown ? .markdown : .terminal).text, terminator: "")
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return encoder
    }

    private func measure(_ size: Int, _ place: URL) throws -> SizeReport {
        let bench = Bench(size: size, filter: filter, rounds: rounds)
        let stores = try MovieStores(
            Movies(count: size), peers, in: place.appending(path: "movies-\(size)", directoryHint: .isDirectory))
        for workload in Self.workloads {
            if workload == ColdOpen.self { try FileSizes.measure("at the end", stores, bench) }
            // The first fills the stores for all others.
            if workload == BulkInsert.self || workload.lines.contains(where: bench.isWanted) {
                try workload.run(stores, bench)
            }
            if workload == BulkInsert.self {
                try FileSizes.measure("after inserting", stores, bench)
                FileSizes.addValues("after inserting", stores, bench)
            }
        }
        try stores.remove()
        bench.judge()
        return bench.report
    }
}
