import ArgumentParser
import Foundation
import Strata
import StrataPostgres

@main
struct PhotoramaDemo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Photorama", abstract: "Tells the Photorama story: a feed of photos that is kept.")

    @Option(help: "The store's directory; made when it is missing.")
    var store = "Photorama.strata"

    @Option(help: "A log to share with other stores, in PostgreSQL: postgresql://…#name.")
    var log: String?

    @Option(help: "The directory with the pages of the feed.")
    var fixtures = "Fixtures/Photorama"

    @Option(help: "How many photos the store and the archive have that are compared.")
    var count = 100_000

    func validate() throws {
        guard count >= 100 else { throw ValidationError("A comparison needs 100 photos at least.") }
    }

    @MainActor func run() async throws {
        RemoteURLTransformer.register()
        let container = try PersistentContainer(
            name: "Photorama", entities: [Photo.self], at: .url(URL(filePath: store, directoryHint: .isDirectory)),
            options: .init(log: try log.map { try PersistentStoreLog(postgres: $0) }))
        try container.loadPersistentStores()
        defer { container.close() }
        let comparison = Comparison(count: count, in: FileManager.default.temporaryDirectory)
        try await Story(container, feed: URL(filePath: fixtures, directoryHint: .isDirectory), comparison).tell()
    }
}
