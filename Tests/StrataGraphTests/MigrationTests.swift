import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Synchronization
import Testing

/// Containers that are loaded with another model than their store has.
struct MigrationTests {
    private let url = FileManager.default.temporaryDirectory
        .appending(path: "strata-\(UUID().uuidString)", directoryHint: .isDirectory)

    private func container(
        _ model: ManagedObjectModel, _ migration: PersistentStoreMigration = .automatic,
        values: [MigrationRule] = []
    ) -> PersistentContainer {
        PersistentContainer(
            name: "Test", model: model, at: .url(url),
            options: .init(durability: .disposable, migration: migration, migrationRules: values))
    }

    private func person(_ properties: PropertyDescription...) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [EntityDescription(name: "Person", properties: properties)])
    }

    private func text(_ name: String, from: String? = nil) -> PropertyDescription {
        .attribute(AttributeDescription(name: name, type: .string, isOptional: true, renamingIdentifier: from))
    }

    private func age(_ type: AttributeType) -> PropertyDescription {
        .attribute(AttributeDescription(name: "age", type: type, isOptional: true))
    }

    private let persons = {
        var persons = FetchRequest<ManagedObject>(entityName: "Person")
        persons.sortDescriptors = [SortDescription("name")]
        return persons
    }()

    private func insert(_ values: [String: Any], _ context: ManagedObjectContext) throws {
        let object = try context.insertNewObject(forEntityName: "Person")
        for (key, value) in values { try object.setValue(value, forKey: key) }
    }

    @Test func pastContextsShowTheTypesOfThen() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let old = container(try person(text("name"), age(.integer32)))
        try withLoaded(old) { try insert(["name": "Ada", "age": Int32(36)], $0) }
        let then = try { () -> EventNumber in
            try old.loadPersistentStores()
            defer { old.close() }
            return try old.head()
        }()
        let new = container(try person(text("title", from: "name"), age(.string)))
        let plan = try new.migrationPlan()
        #expect(plan.objectCount == 1 && plan.steps.map(\.kind) == [.propertyRenamed, .type])
        try withLoaded(new) { context in
            let now = try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
            #expect(try now.map { try $0.value(forKey: "age") as? String } == ["36"])
            try now.first?.setValue("Ada L.", forKey: "title")
            try context.save()
            let converted = try new.context(asOf: .event(then)).fetch(FetchRequest<ManagedObject>(entityName: "Person"))
            #expect(try converted.map { try $0.value(forKey: "age") as? String } == ["36"])
            #expect(try converted.map { try $0.value(forKey: "title") as? String } == ["Ada"])
            let past = try new.context(asOf: .event(then), model: .ofThen)
            let before = try past.fetch(persons)
            #expect(try before.map { try $0.value(forKey: "age") as? Int32 } == [36])
            #expect(try before.map { try $0.value(forKey: "name") as? String } == ["Ada"])
            #expect(try past.count(for: persons) == 1)
        }
        #expect(try new.migrationPlan().isEmpty)
    }

    @Test func saveOfAContainerThatWasOvertakenIsRefused() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let old = container(try person(text("name"), age(.integer32)))
        try old.loadPersistentStores()
        let context = old.newBackgroundContext()
        try insert(["name": "Ada", "age": Int32(36)], context)
        try context.save()
        let ada = try #require(try context.fetch(persons).first)
        context.refreshAllObjects()
        try withLoaded(container(try person(text("name"), age(.string)))) { _ in }
        // It goes on reading the state it stands at.
        #expect(try ada.value(forKey: "age") as? Int32 == 36)
        #expect(try context.count(for: persons) == 1)
        try ada.setValue(Int32(37), forKey: "age")
        #expect(thrownError { try context.save() }?.code == .modelChanged)
        #expect(context.hasChanges)
        old.close()
    }

    /// Transactions before a migration, and the migration itself, are undone by what it made of the former values.
    @Test func whatAMigrationConvertedIsUndoneByItsValues() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let old = container(try person(text("name"), age(.integer32)))
        try old.loadPersistentStores()
        let before = old.newBackgroundContext()
        try insert(["name": "Ada", "age": Int32(36)], before)
        try before.save()
        let born = try old.head()
        let ada = try #require(try before.fetch(persons).first).objectID
        try before.fetch(persons).first?.setValue(Int32(37), forKey: "age")
        try before.save()
        let changed = try #require(try old.transactions().last).number
        old.close()
        let new = container(try person(text("name"), age(.string)))
        try new.loadPersistentStores()
        defer { new.close() }
        let context = new.newBackgroundContext()
        let object = try #require(try context.fetch(persons).first)
        func present() throws -> String? { try object.value(forKey: "age") as? String }
        #expect(try present() == "37")
        let migration = try #require(try new.transactions().last).number
        #expect(migration > changed)
        try context.revert(migration)
        #expect(!context.hasChanges)
        try context.revert(changed)
        #expect(try present() == "36")
        context.rollback()
        try object.setValue("38", forKey: "age")
        try context.save()
        #expect(thrownError { try context.revert(changed) }?.code == .merge)
        try context.restore(ada, at: born)
        #expect(try present() == "36")
        try context.save()
        #expect(try new.verify().isSound)
    }

    /// Contexts of any age read the last state before the newer model, whatever was saved after it.
    @Test func aContainerThatWasOvertakenReadsOn() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let old = container(try person(text("name"), age(.integer32)))
        try old.loadPersistentStores()
        let context = old.newBackgroundContext()
        try insert(["name": "Ada", "age": Int32(36)], context)
        try context.save()
        let following = old.newBackgroundContext()
        following.automaticallyMergesChangesFromParent = true
        #expect(try ages(following) == [36])
        // This one has not seen it when the model changes.
        try insert(["name": "Bob", "age": Int32(40)], context)
        try context.save()
        try withLoaded(container(try person(text("name"), age(.string)))) { newer in
            try insert(["name": "Cid", "age": "50"], newer)
        }
        for reading in [following, context, old.newBackgroundContext()] {
            reading.refreshAllObjects()
            #expect(try ages(reading) == [36, 40])
            reading.reset()
            #expect(try ages(reading) == [36, 40])
            try reading.mergeChanges(fromObjectIDs: [ObjectID]())
        }
        #expect(try old.newBackgroundContext().count(for: persons) == 2)
        try insert(["name": "Dan", "age": Int32(60)], following)
        #expect(thrownError { try following.save() }?.code == .modelChanged)
        old.close()
    }

    private func ages(_ context: ManagedObjectContext) throws -> [Int32] {
        try context.fetch(persons).compactMap { try $0.value(forKey: "age") as? Int32 }.sorted()
    }

    @Test func stagesRunTheirCodeOnceWithOldAndNewObjects() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let first = try person(text("name"), text("city"))
        let address = PropertyDescription.relationship(
            RelationshipDescription(name: "address", destinationEntityName: "Address", inverseName: "persons"))
        let last = try ManagedObjectModel(entities: [
            EntityDescription(name: "Person", properties: [text("name"), address]),
            EntityDescription(
                name: "Address",
                properties: [
                    text("city"),
                    .relationship(
                        RelationshipDescription(
                            name: "persons", destinationEntityName: "Person", inverseName: "address", isToMany: true)),
                ]),
        ])
        try withLoaded(container(first)) { context in
            for (name, city) in [("Ada", "london "), ("Bob", "Paris"), ("Cid", "London")] {
                try insert(["name": name, "city": city], context)
            }
        }
        let runs = Mutex((will: 0, did: 0))
        let stage = MigrationStage(
            label: "addresses", to: last,
            willMigrate: { context in
                runs.withLock { $0.will += 1 }
                for person in try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")) {
                    let city = try person.value(forKey: "city") as? String
                    try person.setValue(city?.trimmingCharacters(in: .whitespaces).capitalized, forKey: "city")
                }
            },
            didMigrate: { stage in
                let run = runs.withLock { runs in
                    runs.did += 1
                    return runs.did
                }
                var addresses: [String: ManagedObject] = [:]
                for old in try stage.before.fetch(FetchRequest<ManagedObject>(entityName: "Person")) {
                    guard let city = try old.value(forKey: "city") as? String else { continue }
                    let address = try addresses[city] ?? stage.after.insertNewObject(forEntityName: "Address")
                    addresses[city] = address
                    try address.setValue(city, forKey: "city")
                    try stage.after.object(with: old.objectID).setValue(address, forKey: "address")
                }
                if run == 1 { throw StrataError(.noSpace, "the test pulls the plug") }
            })
        #expect(thrownError { try container(last, .staged([stage])).loadPersistentStores() }?.code == .noSpace)
        for _ in 0..<2 {
            try withLoaded(container(last, .staged([stage]))) { context in
                let addresses = try context.fetch(
                    FetchRequest<ManagedObject>(entityName: "Address", sortedBy: [SortDescription("city")]))
                #expect(try addresses.map { try $0.value(forKey: "city") as? String } == ["London", "Paris"])
                let homes = try context.fetch(persons).map { try $0.value(forKey: "address") as? ManagedObject }
                #expect(homes == [addresses[0], addresses[1], addresses[0]])
                let cities = try context.fetch(persons).map { try $0.value(forKeyPath: "address.city") as? String }
                #expect(cities == ["London", "Paris", "London"])
            }
        }
        #expect(runs.withLock { $0.will } == 1 && runs.withLock { $0.did } == 2)
    }

    @Test func keyPathsLeadIntoACompositeThatAStageHasMade() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let address = PropertyDescription.attribute(
            AttributeDescription(
                name: "address", type: .composite, isOptional: true,
                elements: ["city", "street"].map { AttributeDescription(name: $0, type: .string, isOptional: true) }))
        let last = try person(text("name"), address)
        try withLoaded(container(try person(text("name"), text("city")))) { context in
            for (name, city) in [("Ada", "London"), ("Bob", nil)] {
                try insert(["name": name].merging(city.map { ["city": $0] } ?? [:]) { $1 }, context)
            }
        }
        let stage = MigrationStage(
            label: "composite", to: last,
            didMigrate: { stage in
                for old in try stage.before.fetch(FetchRequest<ManagedObject>(entityName: "Person")) {
                    let city = try old.value(forKeyPath: "city") as? String
                    let person = stage.after.object(with: old.objectID)
                    #expect(try person.value(forKeyPath: "address.city") == nil)
                    guard let city else { continue }
                    try person.setValue(["city": city], forKey: "address")
                    #expect(try person.value(forKeyPath: "address.city") as? String == city)
                }
            })
        for _ in 0..<2 {
            try withLoaded(container(last, .staged([stage]))) { context in
                let people = try context.fetch(persons)
                #expect(try people.map { try $0.value(forKeyPath: "address.city") as? String } == ["London", nil])
                #expect(try people.allSatisfy { try $0.value(forKeyPath: "address.street") == nil })
                #expect(thrownError { _ = try people[0].value(forKeyPath: "city") }?.code == .unknownKey)
                context.refreshAllObjects()
                #expect(try people[0].value(forKeyPath: "address.city") as? String == "London")
            }
        }
    }

    @Test func containerThatMayNotMigrateSaysSo() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        try withLoaded(container(try person(text("name")))) { _ in }
        let new = container(try person(text("name"), text("city")), .none)
        #expect(thrownError { try new.loadPersistentStores() }?.code == .persistentStoreIncompatibleVersionHash)
    }
}
