import Foundation
import StrataModel
import StrataTestSupport
import Testing

@testable import LMDB
@testable import StrataStore

/// Groups with more values than their records have, which grow and shrink.
@Suite struct SpreadValueTests {
    private static let view = ViewDescription(
        name: "Spread", entityName: "Work", keys: [ViewKey("released")],
        aggregates: [
            ViewAggregate("works", .count), ViewAggregate("cheapest", .min, "gross"),
            ViewAggregate("dearest", .max, "gross"), ViewAggregate("prices", .countDistinct, "gross"),
            ViewAggregate("oldest", .min, "year"), ViewAggregate("newest", .max, "year"),
            ViewAggregate("titles", .countDistinct, "title"), ViewAggregate("rating", .sum, "rating"),
            ViewAggregate("first", .first, "title", by: "year", limit: 20), ViewAggregate("last", .last, by: "gross"),
        ], orders: [ViewOrder("prices"), ViewOrder("dearest", isAscending: false)])

    @Test(arguments: RandomTesting.seeds(unlessAsked: [2, 5, 7]))
    func theyAreWhatTheirDefinitionSays(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var options = StoreOptions.gathering(seed)
        options.viewKeeping = .byHand
        let fixture = try StoreFixture(model: try FilmViews.model([Self.view]), options: options)
        var objects: [ObjectID: [String: AttributeValue]] = [:]
        var history: [(EventNumber, [ObjectID: [String: AttributeValue]])] = []
        var mostOutside = 0
        for step in 0..<24 {
            var changes = try fixture.changes()
            var touched: Set<ObjectID> = []
            for _ in 0..<40 {
                let known = objects.keys.filter { !touched.contains($0) }.sorted()
                let isGrowing = step < 12
                switch Int.random(in: 0..<10, using: &generator) {
                case 0..<(isGrowing ? 6 : 1):
                    let values = Self.values(&generator, all: true)
                    let id = try fixture.insert("Film", values, into: &changes)
                    (objects[id], _) = (values, touched.insert(id))
                case 0..<(isGrowing ? 9 : 3):
                    guard let id = known.randomElement(using: &generator) else { continue }
                    let values = Self.values(&generator, all: false)
                    try fixture.update(id, values, in: &changes)
                    objects[id]?.merge(values) { $1 }
                    touched.insert(id)
                default:
                    guard let id = known.randomElement(using: &generator) else { continue }
                    changes.deletions.append(.init(id: id, baseRevision: try fixture.revision(of: id)))
                    (objects[id], _) = (nil, touched.insert(id))
                }
            }
            changes.insertions.sort { $0.id < $1.id }
            history.append((try fixture.save(changes).eventNumber, objects))
            #expect(try rows(fixture) == expected(objects), "seed \(seed), step \(step)")
            mostOutside = max(mostOutside, try countOutside(fixture))
            if step % 6 == 0 { #expect(try fixture.store.verify().isSound, "seed \(seed), step \(step)") }
        }
        #expect(mostOutside > 100)
        for (eventNumber, objects) in history {
            #expect(try rows(fixture, at: eventNumber) == expected(objects), "seed \(seed), event \(eventNumber)")
        }
        #expect(try fixture.store.verify().isSound, "seed \(seed)")
        #expect(try fixture.store.rebuild().isUnchanged, "seed \(seed)")
        var changes = try fixture.changes()
        for id in objects.keys.sorted() {
            changes.deletions.append(.init(id: id, baseRevision: try fixture.revision(of: id)))
        }
        try fixture.save(changes)
        #expect(try rows(fixture).isEmpty && countOutside(fixture) == 0)
    }

    /// A small group has its values in its record alone.
    @Test func fewValuesNeedNoOtherRecords() throws {
        let fixture = try StoreFixture(model: try FilmViews.model([Self.view]))
        for year in 0..<8 {
            _ = try fixture.insert(
                "Film", ["year": .integer(Int64(year)), "gross": .decimal(Decimal(year)), "title": .string("t\(year)")])
        }
        #expect(try countOutside(fixture) == 0)
        #expect(try rows(fixture).count == 1)
    }

    /// What an update does not change leaves the record as it is.
    @Test func anUpdateOfSomethingElseTouchesNoGroup() throws {
        let fixture = try StoreFixture(model: try FilmViews.model([Self.view]))
        let id = try fixture.insert("Film", ["year": .integer(1979), "rating": .double(5), "released": .boolean(true)])
        let before = try rows(fixture)
        try fixture.update(id, ["weight": .float(2), "shown": .date(Date(timeIntervalSinceReferenceDate: 0))])
        #expect(try rows(fixture) == before)
        try fixture.update(id, ["rating": .double(4)])
        #expect(try rows(fixture) == before.map { $0.replacing("| 5.0 |", with: "| 4.0 |") } && rows(fixture) != before)
    }

    /// Decimals of many sizes, and some values that several objects have.
    private static func values(_ generator: inout SeededGenerator, all: Bool) -> [String: AttributeValue] {
        var values: [String: AttributeValue] = [:]
        func chooses() -> Bool { all || Bool.random(using: &generator) }
        if chooses() {
            let digits = Int64.random(
                in: 0...(Bool.random(using: &generator) ? 30 : 900_000_000_000), using: &generator)
            values["gross"] = .decimal(Decimal(digits) / pow(10, Int.random(in: 0...4, using: &generator)))
        }
        if chooses() { values["year"] = .integer(Int64.random(in: 1900...2300, using: &generator)) }
        if chooses() {
            let length = [1, 3, 40, 300].randomElement(using: &generator) ?? 1
            values["title"] = .string(String(repeating: "é\(Int.random(in: 0..<20, using: &generator))", count: length))
        }
        if chooses() { values["rating"] = .double(Double(Int.random(in: -9...9, using: &generator)) / 8) }
        if all || Int.random(in: 0..<6, using: &generator) == 0 {
            values["released"] = .boolean(Int.random(in: 0..<5, using: &generator) > 0)
        }
        return values.isEmpty ? ["year": .null] : values
    }

    private func expected(_ objects: [ObjectID: [String: AttributeValue]]) throws -> [String] {
        try PlainView(Self.view, objects.map { $1.merging(["SELF": .objectID($0)]) { $1 } }).rows()
    }

    private func rows(_ fixture: StoreFixture, at eventNumber: EventNumber? = nil) throws -> [String] {
        try fixture.store.read(at: try eventNumber ?? fixture.store.head()) { snapshot in
            try snapshot.rows(ViewRequest(Self.view.name)).map { ViewOracle.text(Array($0)) }.sorted()
        }
    }

    private func countOutside(_ fixture: StoreFixture) throws -> Int {
        let table = try #require(fixture.store.file.tables.views?.values)
        return try fixture.store.file.environment.read { try $0.count(table) }
    }
}
