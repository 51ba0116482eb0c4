import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// A model that one store brings to a shared log, and views that it declares.
@Suite struct SharedModelTests {
    private let root = FileManager.default.temporaryDirectory.appending(path: "strata-model-\(UUID().uuidString)")

    private func person(_ age: AttributeType, views: [ViewDescription] = []) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Person",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string, isOptional: true)),
                    .attribute(AttributeDescription(name: "age", type: age, isOptional: true)),
                ])
        ]).adding(views: views)
    }

    private func node(
        _ name: String, _ connection: SharedLogConnection, _ model: ManagedObjectModel
    ) throws -> PersistentContainer {
        let container = PersistentContainer(
            name: "Persons", model: model, at: .url(root.appending(path: name)),
            options: .init(log: PersistentStoreLog(connection)))
        try container.loadPersistentStores()
        return container
    }

    private func save(_ name: String, _ age: Any, _ container: PersistentContainer) throws {
        let context = container.newBackgroundContext()
        let person = try context.insertNewObject(forEntityName: "Person")
        try person.setValue(name, forKey: "name")
        try person.setValue(age, forKey: "age")
        try context.save()
    }

    private func ages(_ context: ManagedObjectContext) throws -> [String] {
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
            .map { "\(try $0.value(forKey: "age") ?? "nil")" }.sorted()
    }

    private func code(_ body: () throws -> Void) -> StrataError.Code? {
        do { try body() } catch { return (error as? StrataError)?.code }
        return nil
    }

    /// A migration is a transaction of the log.
    @Test(arguments: TestLog.all) func aStoreWithTheOlderModelReadsOn(log: TestLog) throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let connection = try log.make()
        let (older, newer) = (try person(.integer32), try person(.string))
        let first = try node("first", connection, older)
        let second = try node("second", connection, older)
        try save("Ada", Int32(36), first)
        try second.catchUp()
        let reading = second.newBackgroundContext()
        #expect(try ages(reading) == ["36"])
        first.close()
        let migrated = try node("first", connection, newer)
        try save("Bob", "forty", migrated)
        try second.catchUp()
        // Contexts go on reading what was there before the newer model, and nothing is written under the older one.
        #expect(try ages(reading) == ["36"])
        reading.refreshAllObjects()
        #expect(try ages(reading) == ["36"])
        try reading.insertNewObject(forEntityName: "Person").setValue("Cid", forKey: "name")
        #expect(code { try reading.save() } == .modelChanged)
        #expect(try ages(second.newBackgroundContext()) == ["36"])
        second.close()
        let again = try node("second", connection, newer)
        try save("Dan", "50", again)
        try migrated.catchUp()
        let fresh = try node("third", connection, newer)
        for container in [migrated, again, fresh] {
            #expect(try ages(container.newBackgroundContext()) == ["36", "50", "forty"])
            #expect(try container.store.logPosition() == migrated.store.logPosition())
            #expect(try container.verify().isSound)
        }
        // A program with the older model is refused by every store.
        for container in [migrated, again, fresh] { container.close() }
        #expect(code { try node("second", connection, older).close() } == .modelDowngrade)
        #expect(code { try node("fourth", connection, older).close() } == .modelDowngrade)
    }

    /// Views are tables of each store, which keeps its own: those of all say the same at the same event.
    @Test(arguments: TestLog.all, [ViewUpkeep.inline, .catchingUp])
    func everyStoreKeepsTheViews(log: TestLog, upkeep: ViewUpkeep) throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let connection = try log.make()
        var view = ViewDescription(
            name: "ByName", entityName: "Person", keys: [ViewKey("name")],
            aggregates: [ViewAggregate("persons", .count), ViewAggregate("years", .sum, "age")])
        view.upkeep = upkeep
        let model = try person(.integer32, views: [view])
        let nodes = [try node("first", connection, model), try node("second", connection, model)]
        for number in 0..<40 { try save("n\(number % 7)", Int32(number), nodes[number % 2]) }
        for node in nodes { try node.catchUp() }
        let fresh = try node("third", connection, model)
        let rows = try (nodes + [fresh]).map { container in
            try container.wait(forView: "ByName", timeout: .seconds(20))
            #expect(try container.verify().isSound)
            return try container.newBackgroundContext().fetchRows(ViewFetchRequest("ByName")).map { "\($0)" }
        }
        #expect(rows[0].count == 7 && Set(rows).count == 1, "\(rows)")
        for container in nodes + [fresh] { container.close() }
    }
}
