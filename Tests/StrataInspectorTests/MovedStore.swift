import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

/// A store that a migration changed: `Person` became `Human` and its `name` `fullName`, `isTall` became a number, and
/// `note` and the entity `Junk` have left the model.
///
/// | transaction | |
/// |---|---|
/// | 2 | by ann: Person/p1 (P1), Person/p2 (P2), Junk/p3 |
/// | 3 | by bob: Person/p1 has the age 40 |
/// | 4 | by eve: Person/p2 is deleted |
/// | 5 | the migration |
/// | 6 | by ann: Human/p1 has the age 41 |
final class MovedStore {
    let directory = FileManager.default.temporaryDirectory.appending(
        component: "moved-\(UUID().uuidString).strata", directoryHint: .isDirectory)

    var path: String { directory.path(percentEncoded: false).trimmingSuffix("/") }

    init() throws {
        let clock = TestClock()
        var options = StoreOptions()
        options.clock = { clock.next() }
        try changing(to: try Self.model(isNew: false), options) { context in
            let person = try context.insertNewObject(forEntityName: "Person")
            for (name, value) in [("name", "P1"), ("age", 39), ("isTall", true), ("note", "x")] as [(String, Any)] {
                try person.setValue(value, forKey: name)
            }
            let other = try context.insertNewObject(forEntityName: "Person")
            try other.setValue("P2", forKey: "name")
            try context.insertNewObject(forEntityName: "Junk").setValue("rust", forKey: "text")
            try Self.save(context, "ann")
            try person.setValue(40, forKey: "age")
            try Self.save(context, "bob")
            context.delete(other)
            try Self.save(context, "eve")
        }
        try changing(to: try Self.model(isNew: true), options) { context in
            let human = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Human")).first)
            try human.setValue(41, forKey: "age")
            try Self.save(context, "ann")
        }
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    private func changing(
        to model: ManagedObjectModel, _ options: StoreOptions, _ body: (ManagedObjectContext) throws -> Void
    ) throws {
        let store = try Store.open(.directory(directory), model: model, options: options)
        defer { store.close() }
        try body(try PersistentContainer(over: store).newBackgroundContext())
    }

    private static func save(_ context: ManagedObjectContext, _ author: String) throws {
        context.transactionAuthor = author
        try context.save()
    }

    private static func model(isNew: Bool) throws -> ManagedObjectModel {
        func attribute(_ name: String, _ type: AttributeType, was former: String? = nil) -> PropertyDescription {
            .attribute(AttributeDescription(name: name, type: type, isOptional: true, renamingIdentifier: former))
        }
        if isNew {
            return try ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Human",
                    properties: [
                        attribute("fullName", .string, was: "name"), attribute("age", .integer64),
                        attribute("isTall", .integer16),
                    ], renamingIdentifier: "Person")
            ])
        }
        return try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Person",
                properties: [
                    attribute("name", .string), attribute("age", .integer64), attribute("isTall", .boolean),
                    attribute("note", .string),
                ]),
            EntityDescription(name: "Junk", properties: [attribute("text", .string)]),
        ])
    }
}
