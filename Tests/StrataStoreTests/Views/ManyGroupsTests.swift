import Foundation
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// Saves that change so many groups of a view that their records are made on another thread (`GroupMaking`).
@Suite struct ManyGroupsTests {
    private static let view = ViewDescription(
        name: "ByYear", entityName: "Work", where: nil, keys: [ViewKey("year")],
        aggregates: [
            ViewAggregate("works", .count), ViewAggregate("gross", .sum, "gross"),
            ViewAggregate("cheapest", .min, "gross"), ViewAggregate("dearest", .max, "gross"),
            ViewAggregate("titles", .countDistinct, "title"),
        ], orders: [ViewOrder("gross", isAscending: false)])

    private static func values(_ generator: inout SeededGenerator) -> [String: AttributeValue] {
        // One group in four hundred has many values, so its record needs others besides it.
        let isCrowded = Int.random(in: 0..<8, using: &generator) == 0
        return [
            "year": isCrowded ? .integer(1) : .integer(Int64.random(in: 2..<900, using: &generator)),
            "gross": .decimal(Decimal(Int64.random(in: 0..<100_000, using: &generator))),
            "title": .string("t\(Int.random(in: 0..<500, using: &generator))"),
        ]
    }

    private func expected(_ objects: [ObjectID: [String: AttributeValue]]) throws -> [String] {
        try PlainView(Self.view, objects.map { $1.merging(["SELF": .objectID($0)]) { $1 } }).rows()
    }

    private func rows(_ store: Store) throws -> [String] {
        try store.read(at: try store.head()) { snapshot in
            try snapshot.rows(ViewRequest(Self.view.name)).map { ViewOracle.text(Array($0)) }.sorted()
        }
    }

    private func model() throws -> ManagedObjectModel { try FilmViews.model([Self.view, try FilmViews.byStudio()]) }

    /// Saves below and above the number of events with which the views are made beside the log.
    @Test(arguments: [400, 1_400], RandomTesting.seeds(unlessAsked: [3, 4]))
    func theyAreWhatTheirDefinitionSays(count: Int, seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let fixture = try StoreFixture(model: try model())
        var objects: [ObjectID: [String: AttributeValue]] = [:]
        for step in 0..<6 {
            var changes = try fixture.changes()
            let known = objects.keys.sorted().shuffled(using: &generator)
            let touched = step == 0 ? 0 : step == 5 ? known.count : count * 2 / 3
            for (index, id) in known.prefix(touched).enumerated() {
                if index.isMultiple(of: 3) || step == 5 {
                    changes.deletions.append(.init(id: id, baseRevision: try fixture.revision(of: id)))
                    objects[id] = nil
                } else {
                    let values = Self.values(&generator)
                    try fixture.update(id, values, in: &changes)
                    objects[id] = values
                }
            }
            for _ in 0..<count - min(touched, count) {
                let values = Self.values(&generator)
                objects[try fixture.insert("Film", values, into: &changes)] = values
            }
            changes.insertions.sort { $0.id < $1.id }
            changes.updates.sort { $0.id < $1.id }
            changes.deletions.sort { $0.id < $1.id }
            try fixture.save(changes)
            #expect(try rows(fixture.store) == expected(objects), "seed \(seed), step \(step)")
        }
        #expect(try rows(fixture.store).isEmpty == objects.isEmpty)
        #expect(try fixture.store.verify().isSound, "seed \(seed)")
        #expect(try fixture.store.rebuild().isUnchanged, "seed \(seed)")
    }

    /// A save that another store has overtaken ends while its groups are made, and is written again.
    @Test func anOvertakenSaveIsMadeAgain() throws {
        let log = MemoryLog()
        let model = try model()
        let fixtures = try (0..<2).map { _ in
            var options = StoreOptions()
            options.sharedLog = log.connection()
            return try StoreFixture(model: model, options: options)
        }
        var generator = SeededGenerator(seed: 8)
        var all: [[String: AttributeValue]] = []
        for step in 0..<6 {
            let fixture = fixtures[step % 2]
            // The changes are made before the store has received what the other one saved.
            var changes = try fixture.changes()
            for _ in 0..<500 {
                let values = Self.values(&generator)
                _ = try fixture.insert("Film", values, into: &changes)
                all.append(values)
            }
            try fixture.save(changes)
        }
        for fixture in fixtures {
            try fixture.store.catchUp()
            #expect(try fixture.store.verify().isSound)
        }
        #expect(try rows(fixtures[0].store) == rows(fixtures[1].store))
        let numbered = all.enumerated().map { index, values in
            values.merging(["SELF": .integer(Int64(index))]) { $1 }
        }
        #expect(try rows(fixtures[0].store) == PlainView(Self.view, numbered).rows())
    }
}
