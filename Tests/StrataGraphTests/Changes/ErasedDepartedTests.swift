import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

/// An object whose entity has left the model is erased while contexts are open.
struct ErasedDepartedTests {
    private let url = FileManager.default.temporaryDirectory
        .appending(path: "strata-\(UUID().uuidString)", directoryHint: .isDirectory)

    private func container(hasDogs: Bool) throws -> PersistentContainer {
        let name = PropertyDescription.attribute(AttributeDescription(name: "name", type: .string, isOptional: true))
        let model = try ManagedObjectModel(
            entities: [EntityDescription(name: "Animal", properties: [name])]
                + (hasDogs ? [EntityDescription(name: "Dog", superentityName: "Animal")] : []))
        let options = PersistentStoreOptions(
            durability: .disposable, migration: .automatic, allowsModelDowngrade: true)
        return PersistentContainer(name: "Test", model: model, at: .url(url), options: options)
    }

    @Test func contextsAndTheHistoryKnowOfIt() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let dog = try withLoaded(container(hasDogs: true)) { context in
            let dog = try context.insertNewObject(forEntityName: "Dog")
            try dog.setValue("Rex", forKey: "name")
            try context.insertNewObject(forEntityName: "Animal").setValue("Tom", forKey: "name")
            try context.save()
            return dog.objectID
        }
        let container = try container(hasDogs: false)
        try withLoaded(container) { context in
            let request = FetchRequest<ManagedObject>(entityName: "Animal")
            let tom = try #require(try context.fetch(request).first)
            var merged: [Set<ObjectID>] = []
            let observation = context.observe(.didMerge) { merged.append($0.deletedObjectIDs) }
            defer { observation.cancel() }
            let before = try container.head()
            let result = try container.erase([dog], reason: "asked for it")
            #expect(result.isComplete && result.deletedCount == 1)
            try tom.setValue("Tim", forKey: "name")
            try context.save()
            // No context of this model can have an object of the id.
            let deleted = merged.reduce(into: Set()) { $0.formUnion($1) }
            #expect(deleted == [])
            try #expect(context.count(for: request) == 1)
            let erasures = try container.erasures(of: dog)
            #expect(erasures.map(\.reason) == ["asked for it"])
            let kinds = try container.history(of: dog).map(\.isErased)
            #expect(kinds == [true, true])
            let changes = try container.changes(from: .event(before), to: .event(container.head()))
            #expect(changes.contains { $0.objectID == tom.objectID })
        }
        let last = try self.container(hasDogs: true)
        try withLoaded(last) { context in
            let names = try context.fetch(FetchRequest<ManagedObject>(entityName: "Animal"))
                .map { try $0.value(forKey: "name") as? String }
            #expect(names == ["Tim"])
            #expect(throws: StrataError.self) { try context.existingObject(with: dog) }
            try #expect(last.erasures(of: dog).count == 1)
        }
    }
}
