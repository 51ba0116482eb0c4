import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// Text queries in requests: contexts with unsaved changes, past moments, formats, live results.
@Suite(.verifiesStores) struct FullTextRequestTests {
    private let container: PersistentContainer
    private let context: ManagedObjectContext

    init() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Film",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string, isOptional: true)),
                    .attribute(AttributeDescription(name: "plot", type: .string, isOptional: true)),
                    .attribute(AttributeDescription(name: "year", type: .integer32, isOptional: true)),
                ], fullText: ["title", "plot"])
        ])
        container = PersistentContainer(
            name: "Texts", model: model, at: .inMemory, options: .init(durability: .disposable))
        try container.loadPersistentStores()
        MadeStores.current?.add(container)
        context = container.newBackgroundContext()
        for (title, plot, year) in [
            ("Stalker", "Three men walk into the Zone, to a room that grants wishes.", 1979),
            ("Zone", "A zone of zones, zone after zone.", 2001), ("Mirror", "A man remembers.", 1975),
        ] {
            let film = try context.insertNewObject(forEntityName: "Film")
            try film.setValue(title, forKey: "title")
            try film.setValue(plot, forKey: "plot")
            try film.setValue(year, forKey: "year")
        }
        try context.save()
    }

    private func titles(_ request: FetchRequest<ManagedObject>, _ context: ManagedObjectContext? = nil) throws
        -> [String]
    {
        try (context ?? self.context).fetch(request).compactMap { try $0.value(forKey: "title") as? String }
    }

    private var films: FetchRequest<ManagedObject> { FetchRequest(entityName: "Film") }

    @Test func requestsFindByWordsInTheOrderOfRelevance() throws {
        #expect(try titles(films.matching("zone")) == ["Zone", "Stalker"])
        #expect(try titles(films.sorted(by: SortDescription("year")).matching("zone")) == ["Stalker", "Zone"])
        #expect(try titles(films.matching("stalk* NEAR/9 zone")) == [])
        #expect(try titles(films.matching("zone").where(FetchPredicate(format: "year < 1990"))) == ["Stalker"])
        let format = try FetchRequest<ManagedObject>(
            entityName: "Film",
            where: FetchPredicate(format: "SELF matchesText: \"walk* OR remembers\" AND year > 1970"))
        #expect(try titles(format) == ["Stalker", "Mirror"])
        let column = try FetchRequest<ManagedObject>(
            entityName: "Film", where: FetchPredicate(format: "title matchesText: %@", "zone"))
        #expect(try titles(column) == ["Zone"])
        let written = try FetchPredicate(format: "\(FetchPredicate.matchesText("a \"b c\"* NEAR(d e)"))")
        #expect(written == .matchesText("a \"b c\"* NEAR(d e)"))
        #expect(try context.count(for: films.matching("zone")) == 2)
        #expect(try context.explain(films.matching("zone")).description.contains("text of Film matching zone"))
    }

    @Test func aContextFindsItsUnsavedChangesAndAPastOneWhatWasThere() throws {
        let stalker = try #require(try context.fetch(films).first)
        let moment = try container.head()
        let film = try context.insertNewObject(forEntityName: "Film")
        try film.setValue("Solaris", forKey: "title")
        try film.setValue("An ocean, no zone at all.", forKey: "plot")
        try stalker.setValue("Nothing.", forKey: "plot")
        #expect(Set(try titles(films.matching("zone"))) == ["Zone", "Solaris"])
        var saved = try films.matching("zone")
        saved.includesPendingChanges = false
        #expect(try titles(saved) == ["Zone", "Stalker"])
        try context.save()
        #expect(Set(try titles(films.matching("zone"))) == ["Zone", "Solaris"])
        let past = try container.context(asOf: .event(moment))
        #expect(try titles(films.matching("zone"), past) == ["Zone", "Stalker"])
    }

    @Test func requestsThatCannotRunSayWhy() throws {
        func message(_ body: () throws -> Void) -> String {
            do {
                try body()
                return ""
            } catch {
                return (error as? StrataError)?.message ?? "\(error)"
            }
        }
        #expect(message { _ = try titles(films.matching("(zone")) }.contains("closing parenthesis"))
        #expect(message { _ = try titles(films.matching("titel: zone")) }.contains("title"))
        #expect(message { _ = try titles(films.sortedByRelevance()) }.contains("needs a condition on text"))
        #expect(
            message {
                _ = try titles(films.matching("zone").sorted(by: SortDescription("year")))
            }.contains("no other key"))
        func refusal(_ format: String) -> String {
            message { _ = try titles(films.where(FetchPredicate(format: format))) }
        }
        #expect(refusal("year matchesText: 'a'").contains("year is a"))
        #expect(refusal("year matchesText: 'a'").contains("searches strings"))
        #expect(refusal("title matchesText: 'plot: zone'").contains("only title is searched"))
        #expect(refusal("title matchesText: 'title: zone'") == "")
    }
}
