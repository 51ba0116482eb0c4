import ArgumentParser
import Foundation

struct DesignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "oo7", abstract: "Runs OO7 on Strata and on SQLite, cold and hot, with every count checked.")

    @Option(help: "small or medium.")
    var size = "small"

    @Option(help: "Connections of each atomic part: 3, 6 or 9.")
    var connections = 3

    @OptionGroup var durability: StrataDurability
    @OptionGroup var folder: WorkingFolder

    func validate() throws {
        guard DesignSize.all.contains(where: { $0.name == size }) else {
            throw ValidationError("--size is small or medium.")
        }
        guard [3, 6, 9].contains(connections) else { throw ValidationError("--connections is 3, 6 or 9.") }
    }

    func run() throws {
        guard var parameters = DesignSize.all.first(where: { $0.name == size }) else { return }
        parameters.connectionsPerPart = connections
        let design = Design(parameters)
        try folder.run(
            { try DesignWorkload(design: design, directory: $0, durability: durability.value).run() }, print: Self.print
        )
    }

    private static func print(_ report: DesignWorkload.Report) {
        Swift.print(
            """
            ### OO7 \(report.size), \(report.connectionsPerPart) connections a part

            Built in \(Quantity.time(report.strataBuild)) (SQLite \(Quantity.time(report.sqliteBuild))); on disk \
            \(report.strataBytes / 1000) kB (SQLite \(report.sqliteBytes / 1000) kB).

            | operation | count | Strata cold | SQLite cold | Strata hot | SQLite hot | ratio hot | |
            |---|--:|--:|--:|--:|--:|--:|---|
            """)
        for item in report.results {
            let ratio = String(format: "%.2f", item.ratio)
            let verdict = item.isTraversal ? (item.isReached ? "reached" : "MISSED") : ""
            Swift.print(
                "| \(item.operation) | \(item.count) | \(Quantity.time(item.strataCold)) | \(Quantity.time(item.sqliteCold)) "
                    + "| \(Quantity.time(item.strataHot)) | \(Quantity.time(item.sqliteHot)) | \(ratio) | \(verdict) |")
        }
    }
}
