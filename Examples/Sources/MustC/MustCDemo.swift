import ArgumentParser
import Foundation
import Strata
import StrataPostgres

@main
struct MustCDemo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "MustC", abstract: "A family and the movies that it must see.",
        subcommands: [StoryCommand.self, ThreeNodesCommand.self, NodeCommand.self], defaultSubcommand: StoryCommand.self
    )
}

/// `MustC story`, or without a command: tells the story.
struct StoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "story", abstract: "Tells the MustC story.")

    @OptionGroup var place: MovieStore

    @Option(help: "The directory with Family.json.")
    var fixtures = "Fixtures/MustC"

    @MainActor func run() async throws {
        let container = try place.open()
        defer { container.close() }
        let seed = try FamilySeed(directory: URL(filePath: fixtures, directoryHint: .isDirectory))
        try await Story(container, seed).tell()
    }
}

/// Where the movies are.
struct MovieStore: ParsableArguments {
    @Option(help: "The store's directory; made when it is missing.")
    var store = "MustC.strata"

    @Option(help: "A log to share with other stores, in PostgreSQL: postgresql://…#name.")
    var log: String?

    @MainActor func open() throws -> PersistentContainer {
        let container = try PersistentContainer(
            name: "MustC", entities: [FamilyMember.self, Movie.self],
            at: .url(URL(filePath: store, directoryHint: .isDirectory)),
            options: .init(log: try log.map { try PersistentStoreLog(postgres: $0) }))
        try container.loadPersistentStores()
        return container
    }
}
