import ArgumentParser
import Foundation
import Strata
import StrataPostgres

@main
struct LetsEatDemo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "LetsEat", abstract: "Tells the LetsEat story: reviews and photos of restaurants.")

    @Option(help: "The store's directory; made when it is missing.")
    var store = "LetsEat.strata"

    @Option(help: "A log to share with other stores, in PostgreSQL: postgresql://…#name.")
    var log: String?

    @Option(help: "The directory with Reviews.json and the photos.")
    var fixtures = "Fixtures/LetsEat"

    func run() async throws {
        let container = try PersistentContainer(
            name: "LetsEat", entities: [Review.self, RestaurantPhoto.self], views: [Ratings.view],
            at: .url(URL(filePath: store, directoryHint: .isDirectory)),
            options: .init(log: try log.map { try PersistentStoreLog(postgres: $0) }))
        try container.loadPersistentStores()
        defer { container.close() }
        let sample = try SampleData(directory: URL(filePath: fixtures, directoryHint: .isDirectory))
        try await Story(container, sample).tell()
    }
}
