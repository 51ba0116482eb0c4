import ArgumentParser
import Foundation
import Strata
import StrataPostgres

@main
struct MustCDemo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "MustC", abstract: "Tells the MustC story: a family and the movies that it must see.")

    @Option(help: "The store's directory; made when it is missing.")
    var store = "MustC.strata"

    @Option(help: "A log to share with other stores, in PostgreSQL: postgresql://…#name.")
    var log: String?

    @Option(help: "The directory with Family.json.")
    var fixtures = "Fixtures/MustC"

    @MainActor func run() async throws {
        let container = try PersistentContainer(
            name: "MustC", entities: [FamilyMember.self, Movie.self],
            at: .url(URL(filePath: store, directoryHint: .isDirectory)),
            options: .init(log: try log.map { try PersistentStoreLog(postgres: $0) }))
        try container.loadPersistentStores()
        defer { container.close() }
        let seed = try FamilySeed(directory: URL(filePath: fixtures, directoryHint: .isDirectory))
        try await Story(container, seed).tell()
    }
}
