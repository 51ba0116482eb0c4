import Foundation
import StrataModel
import Testing

@testable import StrataInspector
@testable import StrataStore

/// Names of objects in the past come from the objects' own events, and are those of the state then.
@Suite struct StudioPastNamesTests {
    private static func tool(_ arguments: String...) throws {
        let result = try Tool.run(arguments)
        #expect(result.exitCode == 0, "\(arguments): \(result.error)")
    }

    private static func restore(_ object: String, at moment: String, _ path: String) throws {
        let studio = try Studio(paths: [path], isWritable: true)
        defer { studio.close() }
        let name = try #require(studio.names.first)
        func send(_ page: String, _ body: [String: String]) throws -> JSONNode {
            let answer = studio.change(StudioAddress(path: [name, page]), try JSONEncoder().encode(body))
            #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
            return try JSONNode(answer.body)
        }
        let draft = try send("draft", ["kind": "restore", "object": object, "at": moment])
        _ = try send("save", ["draft": try #require(draft["draft"].text)])
    }

    @Test func aPageOfAnEarlyTransactionReadsNothingOfTheLaterLog() throws {
        let visit = try StudioVisit()
        let parts = visit.studio.stores[0].store.snapshots.lag.parts
        let events = try visit.page("transaction/3")["events"].items
        #expect(events.contains { $0["label"].text == "Film/p5 (Stalker)" })
        #expect(parts.count == 0)
        // A table of then does.
        _ = try visit.page("objects/Film", ["at": "3"])
        #expect(parts.count > 0)
    }

    @Test func namesAreThoseOfTheTransaction() throws {
        let films = try FilmStore()
        try Self.tool("update", films.path, "Film/p5", "title=The Zone")
        try Self.tool("delete", films.path, "Film/p5")
        try Self.restore("Film/p5", at: "6", films.path)
        let studio = try Studio(paths: [films.path])
        defer { studio.close() }
        let name = try #require(studio.names.first)
        let labels = try [3, 4, 6, 7, 8].map { number in
            let address = StudioAddress(path: [name, "transaction", "\(number)"])
            return try JSONNode(studio.answer(address).body)["events"].items.compactMap { $0["label"].text }
                .first { $0.hasPrefix("Film/p5") }
        }
        let (before, after) = ("Film/p5 (Stalker)", "Film/p5 (The Zone)")
        #expect(labels == [before, before, after, after, after])
    }

    private static let kinds = ["changed", "truncated", "migrated", "thinned", "erased"]

    @Test(arguments: kinds) func everyValueIsThatOfASnapshot(kind: String) throws {
        let films = kind == "migrated" ? nil : try FilmStore()
        let moved = kind == "migrated" ? try MovedStore() : nil
        let path = try #require(films?.path ?? moved?.path)
        if films != nil {
            try Self.tool("update", path, "Film/p5", "title=The Zone", "rating=7")
            try Self.tool("delete", path, "Studio/p2")
            try Self.tool("update", path, "Film/p6", "year=1976")
            try Self.restore("Film/p7", at: "6", path)
            try Self.tool("update", path, "Film/p5", "title=Roadside Picnic")
        }
        switch kind {
        case "truncated": try Self.tool("history", "trim", path, "--before", "t7", "--force")
        case "thinned": try Self.tool("history", "trim", path, "--before", "t7", "--entity", "Film", "--force")
        case "erased": try Self.tool("erase", path, "Film/p5", "--values-only", "rating")
        default: break
        }
        let store = try Store.open(.directory(URL(filePath: path)), model: nil, options: StoreOptions())
        defer { store.close() }
        let compared = try Self.compare(store)
        // A truncated history has no moment before its objects.
        #expect(compared.values > 20 && (compared.absent > 0 || kind == "truncated"), "\(compared)")
    }

    /// Compares each value of each object after each transaction with that of a snapshot.
    private static func compare(_ store: Store) throws -> (values: Int, absent: Int) {
        let first = try store.baseline()?.transaction.rawValue ?? 1
        let last = try store.lastTransaction(upTo: store.head()).rawValue
        var objects: Set<ObjectID> = []
        try store.events(from: try store.baseline()?.event.advanced(by: 1) ?? .zero, through: store.head()) { event in
            if let object = event.object { objects.insert(object) }
            return true
        }
        var count = (values: 0, absent: 0)
        for number in first...last {
            let moment = try StoreMoment("t\(number)", in: store)
            for id in objects {
                guard let entity = moment.schema.entity(id.entityID) else { continue }
                let shown: ShownObject?
                do {
                    shown = try ShownObject.read(id, at: moment, in: store)
                } catch let error as StrataError where error.code == .historyDropped {
                    continue
                }
                for property in entity.properties where property.storage != nil && property.storage != .position {
                    var most = 100
                    let said = try store.pastValue(of: property.id, id, at: moment.eventNumber, most: &most)
                    let wanted = shown?.values.first { $0.property == property.id }?.value
                    switch said {
                    case .unknown: continue
                    case .absent:
                        #expect(shown == nil, "\(id) at \(number)")
                        count.absent += 1
                    case .value(let value):
                        // The migration made a number of it and kept its number.
                        if property.name == "isTall" { continue }
                        let place = "\(id) \(property.name) at \(number): \(value)"
                        #expect(wanted?.isIdentical(to: value) ?? false, "\(place)")
                        count.values += 1
                    }
                    var none = 0
                    let bounded = try store.pastValue(of: property.id, id, at: moment.eventNumber, most: &none)
                    #expect(bounded == .unknown || said == .absent)
                }
            }
        }
        return count
    }
}
