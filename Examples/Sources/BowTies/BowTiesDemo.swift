import ArgumentParser
import Foundation
import StrataGraph
import StrataModel
import StrataPostgres

@main
struct BowTiesDemo: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "BowTies", abstract: "Tells the BowTies story on a real store on disk.")

    @Option(help: "The store's directory; made when it is missing.")
    var store = "BowTies.strata"

    @Option(help: "A log to share with other stores, in PostgreSQL: postgresql://…#name.")
    var log: String?

    @Option(help: "The directory with SampleData.plist and the pictures.")
    var fixtures = "Fixtures/BowTies"

    func run() throws {
        TieColorTransformer.register()
        let url = URL(filePath: store, directoryHint: .isDirectory)
        let container = try PersistentContainer(
            name: "BowTies", entities: BowTiesModel.entities, at: .url(url),
            options: .init(log: try log.map { try PersistentStoreLog(postgres: $0) }))
        try container.loadPersistentStores()
        defer { container.close() }
        try Story(container, path: store, fixtures: fixtures).tell()
    }
}
