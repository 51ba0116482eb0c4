import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// A second container migrates the store while contexts of the first are open.
@Suite struct SecondContainerTests {
    private static func model(_ version: Int) throws -> ManagedObjectModel {
        let title = AttributeDescription(
            name: version == 1 ? "title" : "name", type: .string, isOptional: true,
            renamingIdentifier: version == 1 ? nil : "title")
        let year = AttributeDescription(name: "year", type: version == 3 ? .string : .integer32, isOptional: true)
        var film: [PropertyDescription] = [.attribute(title), Porting.one("studio", "Studio", "films")]
        if version != 4 { film.append(.attribute(year)) }
        if version > 1 { film.append(Porting.attribute("added", .integer32, isOptional: false, default: .integer(7))) }
        return try ManagedObjectModel(entities: [
            EntityDescription(name: "Film", properties: film),
            EntityDescription(
                name: "Studio",
                properties: [
                    Porting.attribute("name", .string), Porting.many("films", "Film", "studio", .cascade),
                ]),
        ])
    }

    private func container(_ version: Int, _ url: URL) throws -> PersistentContainer {
        PersistentContainer(
            name: "Films", model: try Self.model(version), at: .url(url), options: .init(durability: .disposable))
    }

    /// Runs `body` with a container of the first model, whose contexts hold objects, and migrates under it.
    private func withMigration(
        to version: Int,
        _ body: (PersistentContainer, ManagedObjectContext, ManagedObject, PersistentContainer) throws -> Void
    ) throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "second-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let first = try container(1, url)
        try first.loadPersistentStores()
        defer { first.close() }
        let context = first.newBackgroundContext()
        let studio = try context.make("Studio", ["name": "Mosfilm"])
        let film = try context.make("Film", ["title": "Stalker", "year": 1979, "studio": studio])
        try context.make("Film", ["title": "Solaris", "year": 1972, "studio": studio])
        try context.save()
        let second = try container(version, url)
        defer { second.close() }
        try body(first, context, film, second)
        let report = try second.verify()
        #expect(report.isSound, "\(report)")
    }

    @Test(arguments: [2, 3, 4]) func openContextsReadOnAndTheirSavesSayWhy(version: Int) throws {
        try withMigration(to: version) { first, context, film, second in
            let reader = first.newBackgroundContext()
            let fault = reader.object(with: film.objectID)
            let child = try context.newChildContext()
            let draft = try child.existingObject(with: film.objectID)
            try film.setValue("changed", forKey: "title")
            let results = FetchedResultsController(
                fetchRequest: try FetchRequest<ManagedObject>(entityName: "Film", sortedBy: [SortDescription("title")]),
                context: reader)
            try results.performFetch()
            try second.loadPersistentStores()
            // What was open reads on, also what had not been read.
            #expect(try fault.text("title") == "Stalker" && fault.value(forKey: "year") as? Int32 == 1979)
            #expect(
                try reader.find("Film", "studio.name == 'Mosfilm'", sortedBy: [SortDescription("title")]).count == 2)
            #expect(results.fetchedObjects?.count == 2)
            reader.refreshAllObjects()
            #expect(try reader.find("Film", "title == 'Solaris'").count == 1 && reader.unreportedErrors.isEmpty)
            // A child still saves into its parent, which cannot save.
            try draft.setValue(1980, forKey: "year")
            try child.save()
            #expect(thrownError { try context.save() }?.code == .modelChanged)
            #expect(
                try context.hasChanges && film.text("title") == "changed"
                    && film.value(forKey: "year") as? Int32 == 1980)
            context.rollback()
            #expect(try film.text("title") == "Stalker")
            context.reset()
            #expect(try context.find("Film").count == 2)
            try context.make("Film", ["title": "New"])
            #expect(thrownError { try context.save() }?.code == .modelChanged)
            #expect(
                thrownError {
                    try reader.execute(BatchDeleteRequest<ManagedObject>(entityName: "Film"))
                }?.code == .modelChanged)
            let fresh = first.newBackgroundContext()
            #expect(try fresh.find("Film", "title == 'Stalker'").count == 1)
            // The second container goes on.
            let newer = second.newBackgroundContext()
            let other = try newer.existingObject(with: film.objectID)
            #expect(try other.text("name") == "Stalker" && other.value(forKey: "added") as? Int32 == 7)
            #expect(try newer.find("Film", "name == 'Solaris' AND studio.name == 'Mosfilm'").count == 1)
            try other.setValue("Stalker!", forKey: "name")
            try newer.save()
            reader.refreshAllObjects()
            #expect(try fault.text("title") == "Stalker")
            newer.delete(try #require(try newer.find("Studio").first))
            try newer.save()
            reader.refreshAllObjects()
            #expect(try fault.text("title") == "Stalker" && reader.find("Film").count == 2)
            #expect(try newer.find("Film").isEmpty)
        }
    }

    @Test func aSaveOfTheFirstContainerWaitsForNoMigration() throws {
        try withMigration(to: 2) { first, context, film, second in
            try second.loadPersistentStores()
            first.close()
            #expect(try film.text("title") == "Stalker")
            let error = thrownError { _ = try context.find("Film") }
            #expect(error?.code == .storeClosed)
            // Opened again with the old model, the store is ahead.
            let again = PersistentContainer(
                name: "Films", model: try Self.model(1), at: first.location, options: .init(durability: .disposable))
            #expect(thrownError { try again.loadPersistentStores() }?.code == .modelDowngrade)
        }
    }
}
