import Foundation
import StrataModel
import StrataStore
import Testing

/// Entries of indexes that are not simply the row's values: cut, left out, or of older rows.
@Suite struct IndexKeyTests {
    private let long = String(repeating: "x", count: 700)

    private func noteModel(
        _ properties: [PropertyDescription], indexes: [FetchIndexDescription] = [], unique: [[String]] = []
    ) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Note", properties: properties, indexes: indexes, uniquenessConstraints: unique)
        ])
    }

    private func number(_ name: String, default value: AttributeValue? = nil) -> PropertyDescription {
        .attribute(AttributeDescription(name: name, type: .integer32, isOptional: true, defaultValue: value))
    }

    private let text = PropertyDescription.attribute(
        AttributeDescription(name: "text", type: .string, isOptional: true))

    private func fetch(
        _ fixture: StoreFixture, _ predicate: FetchPredicate?, _ sort: [SortDescription] = [], usesIndex: Bool = true
    ) throws -> [ObjectID] {
        let request = StoreRequest(entityID: try fixture.entity("Note").id, predicate: predicate, sort: sort)
        let planned = try CompiledQuery(request, fixture.schema, access: .avoidingScans)
        let scanned = try CompiledQuery(request, fixture.schema, access: .scanOnly)
        return try fixture.store.read(at: try fixture.store.head()) { snapshot in
            let found = try snapshot.fetch(planned)
            let plan = try snapshot.explain(planned)
            #expect(plan.steps.contains { $0.operation == .index } == usesIndex, "\(plan)")
            #expect(try snapshot.fetch(scanned) == found)
            #expect(try snapshot.count(planned) == found.count)
            return found
        }
    }

    @Test func valuesThatDifferBehindTheCutOfTheirKeysStayApart() throws {
        let index = FetchIndexDescription(name: "byText", elements: [.init("text")])
        let fixture = try StoreFixture(model: try noteModel([text], indexes: [index]))
        let b = try fixture.insert("Note", ["text": .string(long + "b")])
        let a = try fixture.insert("Note", ["text": .string(long + "a")])
        let short = try fixture.insert("Note", ["text": .string("x")])
        #expect(try fetch(fixture, .equal("text", .string(long + "a"))) == [a])
        #expect(try fetch(fixture, .beginsWith("text", long)) == [b, a])
        #expect(try fetch(fixture, .greaterThan("text", .string(long + "a"))) == [b])
        #expect(try fetch(fixture, nil, [SortDescription("text")]) == [short, a, b])
        #expect(try fetch(fixture, nil, [SortDescription("text", isAscending: false)]) == [b, a, short])
    }

    @Test func uniquenessLooksBehindTheCutOfKeys() throws {
        let fixture = try StoreFixture(model: try noteModel([text], unique: [["text"]]))
        _ = try fixture.insert("Note", ["text": .string(long + "a")])
        let b = try fixture.insert("Note", ["text": .string(long + "b")])
        #expect(throws: StrataError.self) { try fixture.insert("Note", ["text": .string(long + "a")]) }
        try fixture.update(b, ["text": .string(long + "c")])
        _ = try fixture.insert("Note", ["text": .string(long + "b")])
        _ = try fixture.insert("Note", ["text": .null])
        _ = try fixture.insert("Note", ["text": .null])
        #expect(throws: StrataError.self) { try fixture.update(b, ["text": .string(long + "a")]) }
    }

    @Test func aPartialIndexHoldsJustTheRowsThatMeetItsPredicate() throws {
        let index = FetchIndexDescription(
            name: "byNumber", elements: [.init("number")], partialIndexPredicate: .equal("text", "open"))
        let fixture = try StoreFixture(model: try noteModel([text, number("number")], indexes: [index]))
        let first = try fixture.insert("Note", ["text": "open", "number": 1])
        let second = try fixture.insert("Note", ["text": "closed", "number": 1])
        let isOpen = FetchPredicate.equal("text", "open")
        #expect(try fetch(fixture, isOpen && .equal("number", 1)) == [first])
        #expect(try fetch(fixture, .equal("number", 1), usesIndex: false) == [first, second])
        try fixture.update(first, ["text": "closed"])
        try fixture.update(second, ["text": "open", "number": 2])
        #expect(try fetch(fixture, isOpen && .equal("number", 1)) == [])
        #expect(try fetch(fixture, isOpen && .greaterThan("number", 1)) == [second])
        try fixture.delete(second)
        #expect(try fetch(fixture, isOpen && .greaterThan("number", 1)) == [])
    }

    @Test func olderRowsAreFoundByTheDefaultAPropertyWasBornWith() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "strata-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let byNumber = FetchIndexDescription(name: "byNumber", elements: [.init("number")])
        var fixture = try StoreFixture(
            .directory(url), model: try noteModel([text, number("number")], indexes: [byNumber]))
        let old = try fixture.insert("Note", ["text": "old", "number": 7])
        fixture.store.close()
        let newer = try noteModel([number("stars", default: 3), number("number"), text], indexes: [byNumber])
        fixture = try StoreFixture(.directory(url), model: newer)
        let new = try fixture.insert("Note", ["text": "new", "number": 7, "stars": 3])
        #expect(try fetch(fixture, .equal("number", 7)) == [old, new])
        #expect(try fetch(fixture, .equal("stars", 3), usesIndex: false) == [old, new])
        #expect(try fetch(fixture, .equal("number", 7) && .equal("text", "old")) == [old])
        try fixture.update(old, ["number": 8])
        #expect(try fetch(fixture, .equal("number", 7)) == [new])
        #expect(try fetch(fixture, .equal("number", 8) && .equal("stars", 3)) == [old])
        fixture.store.close()
    }
}
