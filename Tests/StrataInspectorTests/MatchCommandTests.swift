import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

/// Text queries in the tool.
@Suite struct MatchCommandTests {
    private let directory: URL
    private var path: String { directory.path(percentEncoded: false) }

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(component: "match-\(UUID().uuidString).strata")
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Film",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string)),
                    .attribute(AttributeDescription(name: "plot", type: .string, isOptional: true)),
                ], fullText: ["title", "plot"])
        ])
        let store = try Store.open(.directory(directory), model: model)
        defer { store.close() }
        let context = try PersistentContainer(over: store).newBackgroundContext()
        for (title, plot) in [
            ("Stalker", "Three men walk into the Zone, to a room that grants wishes."), ("Zone", "zone by zone"),
            ("Mirror", nil),
        ] {
            let film = try context.insertNewObject(forEntityName: "Film")
            try film.setValue(title, forKey: "title")
            try film.setValue(plot, forKey: "plot")
        }
        try context.save()
    }

    @Test func objectsAreFoundByWords() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let found = try Tool.run(
            "query", path, "Film", "--match", "zone OR men", "--columns", "title", "--snippet", "--format", "csv")
        #expect(found.exitCode == 0, "\(found)")
        #expect(found.output.hasPrefix("title,snippet\n"), "\(found)")
        #expect(
            found.output.contains("\"Three [men] walk into the [Zone], to a room that grants wishes.\""), "\(found)")
        #expect(found.output.contains("[zone] by [zone]"))
        let json = try Tool.run("query", path, "Film", "--match", "title: zone", "--json")
        #expect(json.exitCode == 0 && json.output.contains("\"Zone\"") && !json.output.contains("Stalker"), "\(json)")
        let explained = try Tool.run("query", path, "Film", "--match", "zone", "--explain")
        #expect(explained.output.contains("text of Film matching zone"), "\(explained)")
        let wrong = try Tool.run("query", path, "Film", "--match", "(zone")
        #expect(wrong.exitCode != 0 && wrong.error.contains("closing parenthesis"), "\(wrong)")
        #expect(try Tool.run("query", path, "Film", "--snippet").exitCode != 0)
        let limited = try Tool.run(
            "query", path, "Film", "--match", "zone", "--where", "title != 'Zone'", "--columns", "title", "--format",
            "csv")
        #expect(limited.output == "title\nStalker\n", "\(limited)")
        #expect(try Tool.run("verify", path).exitCode == 0)
    }
}
