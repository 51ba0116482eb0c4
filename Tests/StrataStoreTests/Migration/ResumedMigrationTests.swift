import Foundation
import StrataModel
import StrataStore
import Synchronization
import Testing

/// Migrations of many commits that are cut short, and stores that others migrate.
struct ResumedMigrationTests {
    private func model(_ type: AttributeType, unique: Bool = false) throws -> ManagedObjectModel {
        try Describe.model(
            EntityDescription(
                name: "Note",
                properties: [
                    Describe.attribute("x", type, optional: true),
                    type == .string
                        ? Describe.toMany("to", "Note", inverse: "from", ordered: true)
                        : Describe.toOne("to", "Note", inverse: "from"),
                    Describe.toMany("from", "Note", inverse: "to"),
                ],
                indexes: [FetchIndexDescription(name: "byX", elements: [FetchIndexElement("x")])],
                uniquenessConstraints: unique ? [["x"]] : []))
    }

    /// Makes strings of numbers, until it has done so often enough.
    private func rule(failingAfter limit: Int) -> MigrationRule {
        let calls = Mutex(0)
        return MigrationRule(entity: "Note", property: "x") { old in
            let count = calls.withLock { calls in
                calls += 1
                return calls
            }
            guard count <= limit else { throw StrataError(.noSpace, "the test pulls the plug") }
            if case .integer(let number) = old["x"] { return .string("n\(number)") }
            return .null
        }
    }

    private func fill(_ place: MigratedStore, count: Int) throws -> [ObjectID] {
        try place.open(model(.integer32)) { fixture in
            var ids: [ObjectID] = []
            for number in 0..<count {
                let to: AttributeValue = ids.last.map { .objectID($0) } ?? .null
                ids.append(try fixture.insert("Note", ["x": .integer(Int64(number)), "to": to]))
            }
            return ids
        }
    }

    @Test(arguments: [1, 2, 3, 5, 7, 9])
    func migrationCutShortAnywhereIsFinishedByTheNextOpening(steps: Int) throws {
        let place = MigratedStore()
        defer { place.remove() }
        let ids = try fill(place, count: 10)
        // Ten calls look whether it can be done; the writing is cut short after some more.
        let error = #expect(throws: StrataError.self) {
            try place.open(
                model(.string, unique: true),
                MigratedStore.options(values: [rule(failingAfter: 10 + steps)], oneCommit: 0, step: 2)
            ) { _ in }
        }
        #expect(error?.code == .migration)
        // Nobody sees what is half done: not through another model, and not by reading alone.
        #expect(throws: StrataError.self) { try place.open(model(.integer32)) { _ in } }
        var readOnly = StoreOptions()
        readOnly.isReadOnly = true
        #expect(throws: StrataError.self) { try Store.open(place.location, model: nil, options: readOnly) }
        // Nor does anybody go on without the rules that it was begun with.
        for model in [nil, try model(.string, unique: true)] {
            let refusal = #expect(throws: StrataError.self) { try Store.open(place.location, model: model) }
            #expect(refusal?.code == .migration)
        }
        let options = MigratedStore.options(values: [rule(failingAfter: .max)], oneCommit: 0, step: 3)
        try place.open(model(.string, unique: true), options) { fixture in
            let dump = try StateDump(fixture.store, at: fixture.store.head())
            for (number, id) in ids.enumerated() {
                #expect(dump[id, "x"] == .value(.string("n\(number)")))
                #expect(dump[id, "to"] == .members(number == 0 ? [] : [ids[number - 1]]))
                #expect(dump[id, "from"] == .members(number == 9 ? [] : [ids[number + 1]]))
                // Each object was rewritten once, however often the work was begun.
                try #expect(fixture.store.history(of: id).count == 2)
            }
        }
    }

    @Test func saveUnderAnOlderModelIsRefusedAndWritesNothing() throws {
        let place = MigratedStore()
        defer { place.remove() }
        let ids = try fill(place, count: 3)
        let old = try StoreFixture(place.location, model: model(.integer32))
        let schema = old.schema
        let then = try old.store.head()
        let before = try StateDump(old.store, at: then)
        var changes = try old.changes()
        try old.update(ids[0], ["x": .integer(9)], in: &changes)
        // Another opening of the same file; in a process there is one map a file, and in it one head.
        let new = try StoreFixture(place.location, model: model(.string))
        let head = try new.store.head()
        let error = #expect(throws: StrataError.self) { try old.store.save(changes) }
        #expect(error?.code == .modelChanged)
        try #expect(new.store.head() == head)
        // What it had read it goes on reading, and nothing newer.
        try #expect(StateDump(old.store, at: then, through: schema) == before)
        let refusal = #expect(throws: StrataError.self) { try old.store.read(at: head, through: schema) { _ in } }
        #expect(refusal?.code == .modelChanged)
        old.store.close()
        new.store.close()
    }
}
