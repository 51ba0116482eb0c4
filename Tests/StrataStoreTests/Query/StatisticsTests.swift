import Foundation
import StrataModel
@testable import StrataStore
import Testing

/// What planning knows of sizes, and that it chooses by it.
@Suite struct StatisticsTests {
    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Item",
                properties: [
                    .attribute(AttributeDescription(name: "kind", type: .integer32)),
                    .attribute(AttributeDescription(name: "code", type: .string)),
                    .attribute(AttributeDescription(name: "size", type: .double)),
                    .relationship(
                        RelationshipDescription(name: "owner", destinationEntityName: "Owner", inverseName: "items")),
                ],
                indexes: [
                    FetchIndexDescription(name: "kind", elements: [.init("kind")]),
                    FetchIndexDescription(name: "code", elements: [.init("code")]),
                    FetchIndexDescription(name: "size", elements: [.init("size")]),
                    FetchIndexDescription(name: "kindSize", elements: [.init("kind"), .init("size")]),
                ]),
            EntityDescription(
                name: "Owner",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "items", destinationEntityName: "Item", inverseName: "owner", isToMany: true)),
                ],
                uniquenessConstraints: [["name"]]),
        ])
    }

    /// 3000 items of three kinds, each with a code and a size of its own, of 30 owners.
    private func fill(_ fixture: StoreFixture) throws {
        var changes = try fixture.changes()
        let owners = try (0..<30).map { try fixture.insert("Owner", ["name": .string("owner \($0)")], into: &changes) }
        try fixture.save(changes)
        changes = try fixture.changes()
        for index in 0..<3000 {
            _ = try fixture.insert(
                "Item",
                [
                    "kind": .integer(Int64(index % 3)), "code": .string("code \(index)"),
                    "size": .double(Double(index * 7919 % 3000)), "owner": .objectID(owners[index % 30]),
                ], into: &changes)
        }
        try fixture.save(changes)
    }

    private func explain(
        _ fixture: StoreFixture, _ predicate: FetchPredicate?, _ sort: [SortDescription] = [], limit: Int = 0
    ) throws -> QueryExplanation {
        let request = StoreRequest(
            entityID: try fixture.entity("Item").id, predicate: predicate, sort: sort, limit: limit)
        return try fixture.store.read(at: try fixture.store.head()) { try $0.explain(request) }
    }

    @Test func estimatesComeNearWhatIsThere() throws {
        let fixture = try StoreFixture(model: try Self.model())
        try fill(fixture)
        for (predicate, rows) in [
            (FetchPredicate.equal("code", "code 77"), 1.0), (.between("size", 100, 1599), 1500),
            (.equal("kind", 1) && .lessThan("size", 300), 100), (.equal("owner.name", "owner 3"), 100),
        ] {
            let plan = try explain(fixture, predicate)
            #expect(plan.result.rows == Int(rows))
            #expect(plan.result.estimatedRows < rows * 3 + 5 && plan.result.estimatedRows > rows / 3 - 5, "\(plan)")
        }
    }

    @Test func thePlanIsChosenByWhatItCosts() throws {
        let fixture = try StoreFixture(model: try Self.model())
        try fill(fixture)
        func indexes(_ plan: QueryExplanation) -> [String] { plan.steps.compactMap(\.index) }
        // A third of all rows is sooner scanned; the selective index is enough beside it.
        #expect(try indexes(explain(fixture, .equal("kind", 1))) == ["kind"])
        #expect(try indexes(explain(fixture, .equal("kind", 1) && .endsWith("code", "7"))) == [])
        #expect(try indexes(explain(fixture, .equal("kind", 1) && .equal("code", "code 77"))) == ["code"])
        #expect(try indexes(explain(fixture, .equal("kind", 1) && .between("size", 100, 109))) == ["kindSize"])
        let far = try explain(fixture, .equal("owner.name", "owner 3"))
        #expect(far.steps.map(\.operation) == [.result, .links, .index], "\(far)")
        #expect(far.steps.map(\.rows) == [100, 100, 1])
        let best = try explain(fixture, nil, [SortDescription("size", isAscending: false)], limit: 5)
        #expect(best.steps.map(\.operation) == [.result, .index], "\(best)")
        #expect(best.steps.map(\.rows) == [5, 5])
        let either = try explain(fixture, .equal("code", "code 1") || .equal("code", "code 2"))
        #expect(either.steps.map(\.operation) == [.result, .union, .index, .index], "\(either)")
    }

    @Test func statisticsAreKeptWithTheNextSaveAndReadWhenTheStoreIsOpened() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "strata-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let fixture = try StoreFixture(.directory(url), model: try Self.model())
        try fill(fixture)
        _ = try explain(fixture, .equal("code", "code 77"))
        let records = { (store: Store) in
            try store.file.read { transaction, _, _ in try StatisticsRecord.all(transaction, store.file.tables) }
        }
        #expect(try records(fixture.store).isEmpty)
        _ = try fixture.insert("Owner", ["name": "another"])
        let kept = try records(fixture.store)
        #expect(kept.count == 1)
        #expect(try #require(kept.values.first).groupSizes == [1])
        #expect(try fixture.store.verify().isSound)
        fixture.store.close()
    }

    @Test func aRecordOfStatisticsReadsBackAndADamagedOneIsNone() throws {
        let statistics = IndexStatistics(rows: 1000, share: 0.5, groupSizes: [3, 1.25], sample: [[1, 2], [], [9]])
        let bytes = StatisticsRecord.encoded(statistics)
        #expect(bytes.withUnsafeBytes(StatisticsRecord.decoded) == statistics)
        for count in bytes.indices {
            #expect(bytes.prefix(count).withUnsafeBytes(StatisticsRecord.decoded) == nil)
        }
        var other = bytes
        other[0] = 2
        #expect(other.withUnsafeBytes(StatisticsRecord.decoded) == nil)
    }

    @Test func sortedIDsAreTheSameByBitsAndByComparing() {
        var random = SeededBits(state: 3)
        for span in [100, 5000, 1 << 30] {
            let ids = (0..<400).map { _ in ObjectID(entity: EntityID(rawValue: 3), row: random.next() % UInt64(span)) }
            var sorted = ids
            sorted.sortAndDropRepeated()
            #expect(sorted == Set(ids).sorted())
            var distinct = Array(Set(ids))
            distinct.sortIDs()
            #expect(distinct == sorted)
            var common = sorted
            common.formIntersection(Array(sorted.prefix(9)))
            #expect(common == Array(sorted.prefix(9)))
        }
    }

    private struct SeededBits {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 20
        }
    }
}
