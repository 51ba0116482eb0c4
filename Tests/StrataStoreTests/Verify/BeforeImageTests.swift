import Foundation
import StrataModel
@testable import StrataStore
import Testing

/// Events that are whole and sealed, and make the right views, but say something else than the log about the state
/// before them.
@Suite struct BeforeImageTests {
    private let damaged: DamagedStore

    init() throws { damaged = try DamagedStore() }

    private var fixture: StoreFixture { damaged.fixture }

    /// Appends an event as a save does, with a payload of one's own.
    private func append(
        _ kind: EventKind, _ object: ObjectID, previous: EventNumber, _ fill: (inout ByteWriter) throws -> Void
    ) throws {
        var payload = ByteWriter()
        try fill(&payload)
        let file = damaged.store.file
        try damaged.write { transaction in
            var head = try file.readHead(transaction)
            var projector = Projector(tables: file.tables, histories: file.histories, tracking: .independent)
            var events = EventList(transaction: TransactionNumber(rawValue: head.transaction.rawValue + 1))
            events.append(kind, object, previous: previous, payload)
            let description = TransactionDescription(id: .ofTransaction())
            _ = try LogWriter.append(events, description, after: &head, file, transaction, &projector)
        }
    }

    private func update(
        _ object: ObjectID, _ key: String, from before: RecordedValue, to after: AttributeValue
    ) throws {
        let property = try fixture.property("Movie", key).id
        try append(.updated, object, previous: try fixture.revision(of: object)) { payload in
            try payload.append(changes: [PropertyChange(property: property, before: before, after: .value(after))])
        }
    }

    /// Expects one problem, of the last event.
    private func expect(_ what: String, _ name: String) throws {
        let messages = try damaged.problems().map(\.description)
        let head = try damaged.store.head()
        #expect(messages == ["replay: event \(head): it says \(what) before it than the log for \(name)"])
    }

    @Test func whatIsRightIsSound() throws {
        try update(damaged.alien, "rating", from: .value(.double(4)), to: .double(5))
        try update(damaged.alien, "title", from: .value(.string("Alien")), to: .string("Aliens"))
        try update(damaged.heat, "title", from: .previous, to: .string("Heat 2"))
        #expect(try damaged.problems().map(\.description) == [])
    }

    @Test(arguments: [
        ("rating", AttributeValue.double(3), AttributeValue.double(5)), ("rating", .null, .double(5)),
        ("title", .string("Alien 3"), .string("Aliens")), ("owner", .null, .null),
    ])
    func aWrongValueBeforeAnUpdateIsFound(key: String, before: AttributeValue, after: AttributeValue) throws {
        try update(damaged.alien, key, from: .value(before), to: after)
        try expect("another value", "Movie/p\(damaged.alien.row).\(key)")
    }

    /// The row of a deleted object is in the event, whole or value by value.
    @Test(arguments: [false, true]) func aWrongRowBeforeADeletionIsFound(isByValue: Bool) throws {
        let wrong = try fixture.image("Movie", ["title": .string("Cold")])
        let title = try fixture.property("Movie", "title")
        try append(.deleted, damaged.heat, previous: try fixture.revision(of: damaged.heat)) { payload in
            if isByValue {
                return try payload.append(lastValues: [(title.id, .value(.string("Cold")))])
            }
            payload.append(0 as UInt8)
            payload.append(wrong.unsafeBytes)
        }
        try expect(
            "another \(isByValue ? "value" : "row")", "Movie/p\(damaged.heat.row)\(isByValue ? ".title" : "")")
    }

    @Test(arguments: [EventKind.moved, .unlinked]) func wrongPositionsOfALinkAreFound(kind: EventKind) throws {
        let record = try #require(try damaged.records("events").last { $0.value[1] == EventKind.linked.rawValue })
        let linked = try record.value.withUnsafeBytes { try EventView($0).pair() }
        let number = record.key.withUnsafeBytes { UInt64(bigEndian: $0.load(as: UInt64.self)) }
        let wrong = PairPositions(inSource: 3, inTarget: 77)
        try append(kind, linked.key.source, previous: EventNumber(rawValue: number)) { payload in
            payload.append(
                pair: PairEvent(key: linked.key, positions: wrong, positionsBefore: kind == .moved ? wrong : nil))
        }
        let isOfMovie = linked.key.source == damaged.alien
        try expect(
            "other positions", isOfMovie ? "Movie/p\(damaged.alien.row).tags" : "Tag/p\(damaged.tag.row).movies")
    }
}
