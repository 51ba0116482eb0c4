import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

/// The history of values and links that a migration converted: what they were before, what became of them, and the
/// names of today.
struct ConvertedHistoryTests {
    private let url = FileManager.default.temporaryDirectory
        .appending(path: "strata-\(UUID().uuidString)", directoryHint: .isDirectory)

    private func container(_ model: ManagedObjectModel) -> PersistentContainer {
        PersistentContainer(
            name: "Test", model: model, at: .url(url), options: .init(durability: .disposable, migration: .automatic))
    }

    private func attribute(_ name: String, _ type: AttributeType, from: String? = nil) -> PropertyDescription {
        .attribute(AttributeDescription(name: name, type: type, isOptional: true, renamingIdentifier: from))
    }

    private func relationship(
        _ name: String, _ destination: String, _ inverse: String?, isToMany: Bool = false, from: String? = nil
    ) -> PropertyDescription {
        .relationship(
            RelationshipDescription(
                name: name, destinationEntityName: destination, inverseName: inverse, isToMany: isToMany,
                renamingIdentifier: from))
    }

    private func person(_ properties: PropertyDescription...) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(name: "Person", properties: [attribute("name", .string)] + properties)
        ])
    }

    private func age(_ type: AttributeType) throws -> ManagedObjectModel { try person(attribute("age", type)) }

    private func object(_ name: String, _ context: ManagedObjectContext, _ entity: String = "Person") throws
        -> ManagedObject
    {
        var request = FetchRequest<ManagedObject>(entityName: entity)
        request.predicate = try FetchPredicate(format: "name == %@", argumentArray: [name])
        return try #require(try context.fetch(request).first)
    }

    /// Saves after each change.
    private func set(_ value: Any?, _ key: String, _ name: String, _ context: ManagedObjectContext) throws {
        try object(name, context).setValue(value, forKey: key)
        try context.save()
    }

    /// Ada of 36, who becomes 37, and Bob, whose age is gone again.
    private func makePersons(_ model: ManagedObjectModel) throws -> (born: EventNumber, changed: TransactionNumber) {
        let old = container(model)
        try old.loadPersistentStores()
        defer { old.close() }
        let context = old.newBackgroundContext()
        for name in ["Ada", "Bob"] {
            let person = try context.insertNewObject(forEntityName: "Person")
            try person.setValue(name, forKey: "name")
            try person.setValue(Int32(36), forKey: "age")
        }
        try context.save()
        let born = try old.head()
        try set(Int32(37), "age", "Ada", context)
        let changed = try #require(try old.transactions().last).number
        try set(nil, "age", "Bob", context)
        return (born, changed)
    }

    @Test func aConvertedValueShowsWhatItWasUnderTheNameOfToday() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let (born, changed) = try makePersons(age(.integer32))
        let new = container(try person(attribute("years", .string, from: "age")))
        try new.loadPersistentStores()
        defer { new.close() }
        let context = new.newBackgroundContext()
        let (ada, bob) = (try object("Ada", context).objectID, try object("Bob", context).objectID)
        let migration = try #require(try new.transactions().last).number
        func texts(_ events: [HistoryEvent]) -> [[String]] { events.map { $0.changes.map(\.description) } }
        let expected = [
            ["years: 37 -> \"37\""], ["years: 36 -> 37"], ["name: nil -> \"Ada\"", "years: nil -> 36"],
        ]
        #expect(try texts(new.history(of: ada)) == expected)
        let converted = try #require(try new.history(of: ada).first?.changes.first)
        #expect(converted.before == .integer(37) && converted.after == .string("37"))
        let events = try new.events(through: new.head()).filter { $0.objectID == ada }
        #expect(texts(events.reversed()) == expected)
        #expect(try new.blame(ada).keys.sorted() == ["name", "years"])
        #expect(try new.blame(ada)["years"]?.transaction.number == migration)
        func years(_ changes: [ObjectChange], _ id: ObjectID) -> [String] {
            changes.first { $0.objectID == id }?.properties.filter { $0.key != "name" }.map(\.description) ?? []
        }
        #expect(try years(new.changes(in: migration), ada) == ["years: 37 -> \"37\""])
        #expect(try new.changes(in: migration).count == 1)
        #expect(try years(new.changes(in: changed), ada) == ["years: 36 -> 37"])
        func head() throws -> HistoryMoment { .event(try new.head()) }
        let whole = try new.changes(from: .event(born), to: head())
        #expect(years(whole, ada) == ["years: 36 -> \"37\""] && years(whole, bob) == ["years: 36 -> nil"])
        #expect(whole.first { $0.objectID == ada }?["years"]?.after == .string("37"))
        try set("38", "years", "Ada", context)
        try set("40", "years", "Bob", context)
        let later = try new.changes(from: .event(born), to: head())
        #expect(years(later, ada) == ["years: 36 -> \"38\""] && years(later, bob) == ["years: 36 -> \"40\""])
        let back = try new.changes(from: head(), to: .event(born))
        #expect(years(back, ada) == ["years: \"38\" -> 36"] && years(back, bob) == ["years: \"40\" -> 36"])
        #expect(try years(new.changes(from: .event(.zero), to: head()), ada) == ["years: nil -> \"38\""])
        try context.delete(object("Ada", context))
        try context.save()
        #expect(try years(new.changes(from: .event(born), to: head()), ada) == ["years: 36 -> nil"])
    }

    /// Other models since, and a type that is converted twice.
    @Test func changesBeforeSeveralMigrationsAreUndone() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let (born, changed) = try makePersons(age(.integer32))
        try withLoaded(container(age(.string))) { _ in }
        try withLoaded(container(person(attribute("age", .string), attribute("town", .string)))) { _ in }
        try withLoaded(container(person(attribute("age", .double), attribute("town", .string)))) { _ in }
        let new = container(
            try person(attribute("age", .double), attribute("town", .string), attribute("pet", .string)))
        try withLoaded(new) { context in
            let ada = try object("Ada", context)
            #expect(try ada.value(forKey: "age") as? Double == 37)
            let migrations = try new.history(of: ada.objectID).prefix(2).map { $0.changes.map(\.description) }
            #expect(migrations == [["age: \"37\" -> 37.0"], ["age: 37 -> \"37\""]])
            try context.revert(changed)
            #expect(try ada.value(forKey: "age") as? Double == 36)
            context.rollback()
            try context.restore(try object("Bob", context).objectID, at: born)
            #expect(try object("Bob", context).value(forKey: "age") as? Double == 36)
            context.rollback()
            for event in try new.history(of: ada.objectID).prefix(2) {
                try context.revert(event.transaction.number)
                #expect(!context.hasChanges)
            }
        }
    }

    private func books(_ author: PropertyDescription, _ inverse: String) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Person",
                properties: [attribute("name", .string), relationship("books", "Book", inverse, isToMany: true)]),
            EntityDescription(name: "Book", properties: [attribute("name", .string), author]),
        ])
    }

    private func one() throws -> ManagedObjectModel {
        try books(relationship("author", "Person", "books", from: "authors"), "author")
    }

    private func many() throws -> ManagedObjectModel {
        try books(relationship("authors", "Person", "books", isToMany: true, from: "author"), "authors")
    }

    /// A book by Ada that becomes one by Bob.
    private func makeBook(_ model: ManagedObjectModel, isToMany: Bool) throws -> TransactionNumber {
        let old = container(model)
        try old.loadPersistentStores()
        defer { old.close() }
        let context = old.newBackgroundContext()
        for (name, entity) in [("Ada", "Person"), ("Bob", "Person"), ("Notes", "Book")] {
            try context.insertNewObject(forEntityName: entity).setValue(name, forKey: "name")
        }
        for name in ["Ada", "Bob"] {
            let (author, book) = (try object(name, context), try object("Notes", context, "Book"))
            try book.setValue(
                isToMany ? Set([author]) as Any : author, forKey: isToMany ? "authors" : "author")
            try context.save()
        }
        return try #require(try old.transactions().last).number
    }

    @Test(arguments: [true, false]) func linksThatAMigrationMovedAreNoChanges(isToMany: Bool) throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let changed = try makeBook(isToMany ? many() : one(), isToMany: isToMany)
        let new = container(isToMany ? try one() : try many())
        try withLoaded(new) { context in
            func authors() throws -> [String] {
                let book = try object("Notes", context, "Book")
                let found = try book.value(forKey: isToMany ? "author" : "authors")
                let persons =
                    (found as? [ManagedObject]) ?? (found as? Set<ManagedObject>).map(Array.init)
                    ?? (found as? ManagedObject).map { [$0] }
                return try (persons ?? []).map { try $0.value(forKey: "name") as? String ?? "" }
            }
            #expect(try authors() == ["Bob"])
            let migration = try #require(try new.transactions().last).number
            #expect(migration > changed)
            let moved = try new.changes(in: migration)
            if !isToMany { #expect(moved.isEmpty, "\(moved)") }
            try context.revert(migration)
            let undone = try context.changes()
            #expect(undone.isEmpty, "\(undone)")
            try context.revert(changed)
            #expect(try authors() == ["Ada"])
            context.rollback()
            let before = try new.changes(in: changed)
            let keys = Set(before.flatMap { $0.properties.map(\.key) + $0.links.map(\.key) })
            #expect(keys.isSubset(of: ["author", "authors", "books"]), "\(keys)")
        }
    }

    /// An erasure of values reaches the former numbers of an attribute, whatever its name was.
    @Test func anErasureReachesValuesOfBeforeAConversion() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let old = container(try person(attribute("code", .string)))
        try withLoaded(old) { context in
            let ada = try context.insertNewObject(forEntityName: "Person")
            try ada.setValue("Ada", forKey: "name")
            try ada.setValue("4711471147114711", forKey: "code")
            try context.save()
            try ada.setValue("8152815281528152", forKey: "code")
        }
        let new = container(try person(attribute("number", .integer64, from: "code")))
        try withLoaded(new) { context in
            let ada = try object("Ada", context).objectID
            try new.erase([ada], attributes: ["number"], reason: "asked")
            let values = try new.history(of: ada).flatMap(\.changes).filter { $0.key != "name" }
            #expect(values.allSatisfy { $0.before.isNull && $0.after.isNull }, "\(values)")
        }
        let bytes = try Data(contentsOf: url.appending(path: "data.mdb"))
        for code in ["4711471147114711", "8152815281528152"] { #expect(bytes.range(of: Data(code.utf8)) == nil) }
    }
}
