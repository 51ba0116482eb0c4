import ArgumentParser
import Foundation

/// `strata-bench queries`: the queries of a movie app, beside SQLite.
struct QueriesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queries",
        abstract:
            "Times fetch requests over movies, and groups of flights, beside SQLite with the same rows and indexes.",
        discussion: """
            SQLite is called by its C API with prepared statements, reads every column of each row found, and takes no \
            objects; Strata compiles the request each time, and gives managed objects. Answers are compared before \
            anything is timed.
            """)

    @Option(
        help: "Numbers of movies, with commas between them or an option for each.",
        transform: { text in
            try text.split(separator: ",").map { part in
                guard let size = Int(part), size >= 1000 else {
                    throw ValidationError("A size must be a whole number of at least 1000, not '\(part)'.")
                }
                return size
            }
        })
    var sizes: [[Int]] = [[10_000, 100_000]]

    @Option(help: "Where the stores are made; they are removed afterwards.")
    var directory = FileManager.default.temporaryDirectory.path(percentEncoded: false)

    @Option(help: "Times only the queries whose names contain this.")
    var only = ""

    @Flag(help: "Writes the measurements as JSON instead of tables.")
    var json = false

    @Flag(help: "Prints the tables as Markdown.")
    var markdown = false

    func run() throws {
        let sizes = sizes.flatMap { $0 }
        var results: [Int: [QueryWorkload.Result]] = [:]
        try WorkingFolder.inside(directory) { folder in
            for size in sizes {
                results[size] =
                    try QueryWorkload(size: size, directory: folder, only: only).run()
                    + FlightWorkload(size: size, directory: folder, only: only).run()
            }
        }
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            FileHandle.standardOutput.write(try encoder.encode(results))
            Swift.print()
        } else {
            for size in sizes { printTable(results[size] ?? [], size: size) }
        }
    }

    private func printTable(_ results: [QueryWorkload.Result], size: Int) {
        var table = TextTable(["query", "found", "Strata", "SQLite", "ratio", "to reach", ""])
        for result in results {
            let spread = "(\(Quantity.ratio(result.leastRatio))-\(Quantity.ratio(result.largestRatio)))"
            table.add([
                result.query, String(result.rows), Quantity.time(result.strata), Quantity.time(result.sqlite),
                "\(Quantity.ratio(result.ratio)) \(spread)", Quantity.ratio(result.mostRatio),
                result.isReached ? "reached" : "MISSED",
            ])
        }
        print(
            "\n\(markdown ? "###" : "==") Queries over \(Quantity.count(size)) movies and as many flights, times per query\n"
        )
        print(table.text(markdown ? .markdown : .terminal))
    }
}
