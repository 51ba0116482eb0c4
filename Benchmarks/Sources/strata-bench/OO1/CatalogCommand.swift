import ArgumentParser
import Foundation

struct CatalogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "oo1", abstract: "Runs OO1 on Strata and on SQLite, cold and warm, with every count checked.")

    @Option(help: "The number of parts: the paper has 20,000 and 200,000.")
    var parts = 20_000

    @OptionGroup var durability: StrataDurability
    @OptionGroup var folder: WorkingFolder

    func validate() throws {
        guard parts >= 1_000 else { throw ValidationError("--parts must be at least 1000.") }
    }

    func run() throws {
        try folder.run { directory in
            try CatalogWorkload(catalog: Catalog(count: parts), directory: directory, durability: durability.value)
                .run()
        } print: { report in
            print(
                """
                ### OO1, \(report.parts) parts

                Built in \(Quantity.time(report.strataBuild)) (SQLite \(Quantity.time(report.sqliteBuild))); on disk \
                \(report.strataBytes / 1000) kB (SQLite \(report.sqliteBytes / 1000) kB).

                | measure | count | Strata cold | SQLite cold | Strata warm | SQLite warm | ratio warm |
                |---|--:|--:|--:|--:|--:|--:|
                """)
            for item in report.results {
                let ratio = String(format: "%.2f", item.ratio)
                print(
                    "| \(item.measure) | \(item.count) | \(Quantity.time(item.strataCold)) | \(Quantity.time(item.sqliteCold)) "
                        + "| \(Quantity.time(item.strataWarm)) | \(Quantity.time(item.sqliteWarm)) | \(ratio) |")
            }
        }
    }
}
