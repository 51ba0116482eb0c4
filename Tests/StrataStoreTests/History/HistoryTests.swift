import Foundation
import StrataModel
import StrataStore
import Testing

@Suite struct HistoryTests {
    private func properties(_ payload: RecordedEvent.Payload) -> [PropertyID] {
        switch payload {
        case .inserted(let values), .deleted(let values): values.map(\.property)
        case .updated(let changes): changes.map(\.property)
        default: []
        }
    }

    @Test func theHistoryOfAnObjectIsToldNewestFirst() throws {
        let fixture = try StoreFixture()
        let id = try fixture.insert("Movie", ["title": .string("Alien"), "rating": .double(0)])
        try fixture.update(id, ["rating": .double(4)])
        _ = try fixture.insert("Movie", ["title": .string("Heat")])
        try fixture.delete(id)
        let history = try fixture.store.history(of: id)
        #expect(history.map(\.kind) == [.deleted, .updated, .inserted])
        #expect(history.map(\.object) == [id, id, id])
        #expect(history[0].previous == history[1].eventNumber)
        guard case .updated(let changes) = history[1].payload else {
            Issue.record("an update was expected")
            return
        }
        #expect(changes.map(\.before) == [.value(.double(0))])
        #expect(changes.map(\.after) == [.value(.double(4))])
        let names = try fixture.store.recordedNames()
        #expect(names.name(of: changes[0].property) == "rating")
        #expect(names.name(of: id) == "Movie/p\(id.row)")
        #expect(try fixture.store.history(of: id, after: history[1].eventNumber).map(\.kind) == [.deleted])
        #expect(try fixture.store.history(of: id, after: history[0].eventNumber).isEmpty)
        let never = ObjectID(entity: id.entityID, row: 999_999_999)
        #expect(try fixture.store.history(of: never).isEmpty)
    }

    @Test func theLinksOfAnObjectAreToldAfterAnEvent() throws {
        let fixture = try StoreFixture()
        let movie = try fixture.insert("Movie", ["title": .string("Alien")])
        let tags = try ["loud", "dark"].map { try fixture.insert("Tag", ["label": .string($0)]) }
        for tag in tags { try fixture.link(movie, "tags", tag) }
        let all = try fixture.store.linkHistory(of: movie)
        #expect(all.map(\.kind) == [.linked, .linked])
        #expect(try fixture.store.linkHistory(of: tags[0]).map(\.eventNumber) == [all[1].eventNumber])
        var looks = 0
        let later = try fixture.store.linkHistory(of: movie, after: all[1].eventNumber) { looks += 1 }
        #expect(later.map(\.eventNumber) == [all[0].eventNumber] && looks == 2)
        #expect(try fixture.store.linkHistory(of: movie, after: all[0].eventNumber).isEmpty)
    }

    @Test func aLargeBeforeImageIsLookedUpOnRequest() throws {
        let fixture = try StoreFixture()
        let long = String(repeating: "long ", count: 1000)
        let id = try fixture.insert("Movie", ["title": .string(long)])
        try fixture.update(id, ["title": .string("short")])
        let event = try #require(try fixture.store.history(of: id).first)
        guard case .updated(let recorded) = event.payload,
            case .updated(let resolved) = try fixture.store.resolved(event).payload
        else {
            Issue.record("an update was expected")
            return
        }
        #expect(recorded[0].before == .previous)
        #expect(resolved[0].before == .value(.string(long)))
    }

    @Test func eventsAreWalkedFromEitherEnd() throws {
        let fixture = try StoreFixture()
        for title in ["A", "B", "C"] { _ = try fixture.insert("Movie", ["title": .string(title)]) }
        let head = try fixture.store.head()
        var forward: [EventNumber] = []
        try fixture.store.events(from: .zero, through: head) {
            forward.append($0.eventNumber)
            return true
        }
        var backward: [EventNumber] = []
        try fixture.store.events(from: .zero, through: head.advanced(by: 10), order: .newestFirst) {
            backward.append($0.eventNumber)
            return backward.count < 2
        }
        #expect(forward.map(\.rawValue) == Array(1...head.rawValue))
        #expect(backward == [head, EventNumber(rawValue: head.rawValue - 1)])
    }

    @Test func aMomentIsTheEndOfTheTransactionBeforeIt() throws {
        let fixture = try StoreFixture()
        let first = try fixture.insert("Movie", ["title": .string("A")])
        let middle = try #require(try fixture.store.transactions(before: nil, limit: 1).first)
        var changes = try fixture.changes()
        try fixture.update(first, ["rating": .double(1)], in: &changes)
        _ = try fixture.insert("Movie", ["title": .string("B")], into: &changes)
        let receipt = try fixture.save(changes)
        let store = fixture.store
        #expect(try store.eventNumber(at: .distantPast) == .zero)
        #expect(try store.eventNumber(at: middle.date) == middle.lastEvent)
        #expect(try store.eventNumber(at: receipt.date) == receipt.eventNumber)
        #expect(try store.eventNumber(at: .distantFuture) == receipt.eventNumber)
        #expect(try store.eventNumber(of: receipt.transaction) == receipt.eventNumber)
        #expect(try store.eventNumber(of: middle.number) == middle.lastEvent)
        #expect(throws: StrataError.self) { try store.eventNumber(of: TransactionNumber(rawValue: 99)) }
    }

    @Test func anEventLeadsToItsTransaction() throws {
        let fixture = try StoreFixture()
        var changes = try fixture.changes()
        changes.author = "ann"
        for title in ["A", "B", "C"] { _ = try fixture.insert("Movie", ["title": .string(title)], into: &changes) }
        let receipt = try fixture.save(changes)
        let store = fixture.store
        for number in receipt.previousHead.rawValue + 1...receipt.eventNumber.rawValue {
            let record = try store.transaction(containing: EventNumber(rawValue: number))
            #expect(record?.number == receipt.transaction)
            #expect(record?.author == "ann")
        }
        #expect(try store.transaction(containing: receipt.eventNumber.advanced(by: 1)) == nil)
        #expect(try store.transaction(containing: .zero) == nil)
        let all = try store.transactions(limit: 100)
        #expect(all.map(\.number.rawValue) == Array(1...receipt.transaction.rawValue))
        #expect(
            try store.transactions(after: TransactionNumber(rawValue: 1), limit: 1).map(\.number.rawValue) == [2])
    }

    @Test func changedObjectsAreThoseWithANewRowOrPair() throws {
        let fixture = try StoreFixture()
        let ann = try fixture.insert("Owner", ["name": .string("Ann")])
        let tag = try fixture.insert("Tag", ["label": .string("space")])
        let alien = try fixture.insert("Movie", ["title": .string("Alien")])
        let heat = try fixture.insert("Movie", ["title": .string("Heat")])
        let start = try fixture.store.head()
        try fixture.update(alien, ["owner": .objectID(ann)])
        let middle = try fixture.store.head()
        try fixture.link(heat, "tags", tag)
        let end = try fixture.store.head()
        #expect(try fixture.store.objectChanges(after: start, through: middle).all == [alien])
        #expect(try fixture.store.objectChanges(after: middle, through: end).all == [heat, tag].sorted())
        #expect(try fixture.store.objectChanges(after: end, through: end).all.isEmpty)
    }

    @Test func namesOfRemovedPropertiesAreRemembered() throws {
        let fixture = try StoreFixture(
            model: try MovieModel.make(extraAttributes: [
                .attribute(AttributeDescription(name: "studio", type: .string, isOptional: true))
            ]))
        let id = try fixture.insert("Movie", ["title": .string("Alien"), "studio": .string("Fox")])
        let inserted = try #require(try fixture.store.history(of: id).first)
        let names = try fixture.store.recordedNames()
        #expect(properties(inserted.payload).map { names.name(of: $0) }.contains("studio"))
    }

    @Test func whatHasLeftTheModelIsCalledAsItWasLast() throws {
        let place = MigratedStore()
        defer { place.remove() }
        func note(_ properties: PropertyDescription...) throws -> ManagedObjectModel {
            try Describe.model(
                EntityDescription(name: "Note", properties: properties),
                EntityDescription(name: "Rest", properties: [Describe.attribute("z", optional: true)]))
        }
        let (text, entity) = try place.open(note(Describe.attribute("x", optional: true))) { fixture in
            (try fixture.property("Note", "x").id, try fixture.entity("Note").id)
        }
        try place.open(note(Describe.attribute("y", optional: true, from: "x"))) { fixture in
            let names = try fixture.store.recordedNames()
            #expect(names.name(of: text) == "y" && names.name(of: entity) == "Note")
        }
        let rest = EntityDescription(name: "Rest", properties: [Describe.attribute("z", optional: true)])
        try place.open(try Describe.model(rest)) { fixture in
            let names = try fixture.store.recordedNames()
            #expect(names.name(of: text) == "y" && names.name(of: entity) == "Note")
            #expect(names.properties(named: "y")[entity] == [text] && names.properties(named: "x").isEmpty)
            #expect(names.name(of: PropertyID(rawValue: 999)) == "property 999")
        }
    }
}
