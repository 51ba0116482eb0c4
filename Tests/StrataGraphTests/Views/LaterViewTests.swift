import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// Another container adds views to the model of a store while contexts of the first one are open.
@Suite struct LaterViewTests {
    private static func model(_ views: [ViewDescription] = []) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Film",
                properties: [
                    Porting.attribute("title", .string), Porting.attribute("year", .integer32),
                    Porting.one("studio", "Studio", "films"),
                ], uniquenessConstraints: [["title"]]),
            EntityDescription(
                name: "Studio",
                properties: [
                    Porting.attribute("name", .string), Porting.many("films", "Film", "studio", .cascade),
                    .attribute(
                        AttributeDescription(
                            name: "count", type: .integer64, isOptional: true,
                            derivationExpression: try FetchExpression(format: "films.@count"))),
                ]),
        ]).adding(views: views)
    }

    private static let byYear = ViewDescription(
        name: "ByYear", entityName: "Film", keys: [ViewKey("year")], aggregates: [ViewAggregate("films", .count)])
    private static let byStudio = ViewDescription(
        name: "ByStudio", entityName: "Film", keys: [ViewKey("studio")], aggregates: [ViewAggregate("films", .count)])

    private func container(_ views: [ViewDescription], _ url: URL) throws -> PersistentContainer {
        let container = PersistentContainer(
            name: "Films", model: try Self.model(views), at: .url(url), options: .init(durability: .disposable))
        try container.loadPersistentStores()
        return container
    }

    private func withStore(
        _ views: [ViewDescription], _ body: (PersistentContainer, ManagedObjectContext, URL) throws -> Void
    ) throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "later-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let container = try container(views, url)
        defer { container.close() }
        let context = container.newBackgroundContext()
        let studio = try context.make("Studio", ["name": "Mosfilm"])
        try context.make("Film", ["title": "Stalker", "year": 1979, "studio": studio])
        try context.make("Film", ["title": "Solaris", "year": 1972, "studio": studio])
        try context.save()
        try body(container, context, url)
    }

    private func counts(_ view: String, _ context: ManagedObjectContext) throws -> Int {
        try context.fetchRows(ViewFetchRequest(view)).dictionaries.reduce(0) { sum, row in
            guard case .integer(let count)? = row["films"] else { return sum }
            return sum + Int(count)
        }
    }

    /// The first view of the store, and a further one.
    @Test(arguments: [[], [byStudio]]) func contextsOfTheOlderModelSaveOn(views: [ViewDescription]) throws {
        try withStore(views) { first, context, url in
            let film = try #require(try context.find("Film", "title == 'Stalker'").first)
            let child = try context.newChildContext()
            let draft = try child.existingObject(with: film.objectID)
            let second = try container(views + [Self.byYear], url)
            defer { second.close() }
            // Changes of both are merged.
            let newer = second.newBackgroundContext()
            try newer.existingObject(with: film.objectID).setValue("Stalker!", forKey: "title")
            try newer.save()
            try draft.setValue(1980, forKey: "year")
            try child.save()
            try context.save()
            #expect(try film.text("title") == "Stalker!" && film.value(forKey: "year") as? Int32 == 1980)
            // New objects, derived values, deletions, undo and batches.
            let studio = try #require(film.value(forKey: "studio") as? ManagedObject)
            let mirror = try context.make("Film", ["title": "Mirror", "year": 1975, "studio": studio])
            try context.save()
            #expect(try studio.value(forKey: "count") as? Int64 == 3)
            context.refreshAllObjects()
            #expect(try mirror.text("title") == "Mirror" && studio.value(forKey: "count") as? Int64 == 3)
            #expect(try context.find("Film", "studio.name == 'Mosfilm' AND year > 1974").count == 2)
            newer.refreshAllObjects()
            #expect(try counts("ByYear", newer) == 3 && newer.find("Film", "title == 'Mirror'").count == 1)
            context.delete(mirror)
            try context.save()
            _ = try context.execute(
                BatchUpdateRequest<ManagedObject>(
                    entityName: "Film", setting: ["year": try FetchExpression(format: "1900")]))
            context.refreshAllObjects()
            #expect(try context.find("Film", "year == 1900").count == 2)
            // Uniqueness is checked against the newest state.
            try newer.make("Film", ["title": "Ivan", "year": 1962])
            try newer.save()
            let twin = try context.make("Film", ["title": "Ivan", "year": 1962])
            #expect(thrownError { try context.save() }?.code == .constraintMerge)
            context.delete(twin)
            try context.save()
            let fresh = first.newBackgroundContext()
            #expect(try fresh.find("Film").count == 3)
            if !views.isEmpty { #expect(try counts("ByStudio", fresh) == 3) }
            newer.refreshAllObjects()
            #expect(try counts("ByYear", newer) == 3)
            for container in [first, second] {
                let report = try container.verify()
                #expect(report.isSound, "\(report)")
            }
            let past = try first.context(asOf: .now)
            #expect(try past.find("Film").count == 3)
        }
    }

    /// A view of the older model is gone, so it may not save.
    @Test func contextsWhoseViewIsGoneDoNotSave() throws {
        try withStore([Self.byStudio]) { first, context, url in
            let second = try container([Self.byYear], url)
            defer { second.close() }
            try context.make("Film", ["title": "Mirror", "year": 1975])
            #expect(thrownError { try context.save() }?.code == .modelChanged)
            #expect(try counts("ByStudio", first.newBackgroundContext()) == 2)
        }
    }
}
