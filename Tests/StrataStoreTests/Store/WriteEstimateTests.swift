import Foundation
import LMDB
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// What a save will touch is told before it is made; here each is made too, and its pages are counted.
struct WriteEstimateTests {
    enum Work: CaseIterable {
        case neighboursGetAnotherIndexedValue, scatteredGetAnotherIndexedValue, scatteredGetAnUnindexedValue
        case scatteredGetAnotherOwner, neighboursGo, newOnes
    }

    private static let count = 12_000
    private static let changed = 600

    private func fill(_ fixture: StoreFixture, _ random: inout SeededGenerator) throws -> [ObjectID] {
        var ids: [ObjectID] = []
        var changes = try fixture.changes()
        var owners: [ObjectID] = []
        for number in 0..<Self.count {
            if number % 10 == 0 {
                owners.append(try fixture.insert("Owner", ["name": .string("owner \(number)")], into: &changes))
            }
            ids.append(try fixture.insert("Movie", movie(&random, owners[owners.count - 1]), into: &changes))
            guard (number + 1) % 3_000 == 0 else { continue }
            changes.insertions.sort { $0.id < $1.id }
            try fixture.save(changes)
            changes = try fixture.changes()
        }
        return ids
    }

    private func movie(_ random: inout SeededGenerator, _ owner: ObjectID?) -> [String: AttributeValue] {
        var values: [String: AttributeValue] = [
            "title": .string("title \(random.next() % 1_000_000)"), "rating": .double(Double(random.next() % 100_000)),
            "year": .integer(1990),
        ]
        if let owner { values["owner"] = .objectID(owner) }
        return values
    }

    private func changes(
        _ work: Work, _ fixture: StoreFixture, _ ids: [ObjectID], _ random: inout SeededGenerator
    ) throws -> ChangeSet {
        var changes = try fixture.changes()
        let neighbours = ids[4_000..<4_000 + Self.changed]
        let scattered = ids.shuffled(using: &random).prefix(Self.changed)
        switch work {
        case .neighboursGetAnotherIndexedValue:
            try rate(neighbours, fixture, &random, in: &changes)
        case .scatteredGetAnotherIndexedValue:
            try rate(scattered, fixture, &random, in: &changes)
        case .scatteredGetAnUnindexedValue:
            for id in scattered { try fixture.update(id, ["year": .integer(2020)], in: &changes) }
        case .scatteredGetAnotherOwner:
            let owner = try fixture.insert("Owner", ["name": .string("of all")], into: &changes)
            for id in scattered { try fixture.update(id, ["owner": .objectID(owner)], in: &changes) }
        case .neighboursGo:
            for id in neighbours {
                changes.deletions.append(.init(id: id, baseRevision: try fixture.revision(of: id)))
            }
        case .newOnes:
            for _ in 0..<Self.changed { _ = try fixture.insert("Movie", movie(&random, nil), into: &changes) }
        }
        return changes
    }

    private func rate(
        _ ids: ArraySlice<ObjectID>, _ fixture: StoreFixture, _ random: inout SeededGenerator,
        in changes: inout ChangeSet
    ) throws {
        for id in ids {
            try fixture.update(id, ["rating": .double(Double(random.next() % 9_999))], in: &changes)
        }
    }

    private func estimate(_ changes: ChangeSet, _ store: Store) throws -> Int {
        let file = store.file
        var pages: Int?
        try file.environment.write(timeout: .seconds(1)) { transaction in
            let head = try file.readHead(transaction)
            let histories = try file.histories(for: head, transaction)
            let snapshot = Snapshot(
                eventNumber: head.event, schema: try #require(histories.newest), transaction: transaction,
                tables: file.tables, histories: histories, layers: [])
            let check = SaveCheck(changes, snapshot: snapshot, head: head, blobs: store.blobs)
            switch try check.run(TransactionNumber(rawValue: head.transaction.rawValue + 1)) {
            case .stale: break
            case .events(let events, _, _): pages = try WriteEstimate(changes, events, snapshot).pages(above: 0)
            }
        }
        return try #require(pages)
    }

    @Test(arguments: Work.allCases) func theEstimateIsOfTheRightSize(work: Work) throws {
        try compare(work, try StoreFixture())
    }

    @Test(arguments: [Work.scatteredGetAnotherIndexedValue, .scatteredGetAnUnindexedValue, .newOnes])
    func theEstimateHasThePagesOfViews(work: Work) throws {
        let view = ViewDescription(
            name: "Titles", entityName: "Movie", keys: [ViewKey("title")],
            aggregates: [
                ViewAggregate("movies", .count), ViewAggregate("best", .max, "rating"),
                ViewAggregate("years", .countDistinct, "year"),
            ], orders: [ViewOrder("best")])
        try compare(work, try StoreFixture(model: try MovieModel.make().adding(views: [view])))
    }

    private func compare(_ work: Work, _ fixture: StoreFixture) throws {
        var random = SeededGenerator(seed: 3)
        // While this reads no page is used again, so that a save's pages are those the file grows by.
        try fixture.store.read(at: try fixture.store.head()) { _ in
            let ids = try fill(fixture, &random)
            let changes = try changes(work, fixture, ids, &random)
            let estimated = try estimate(changes, fixture.store)
            let before = try fixture.store.file.environment.info().lastPage
            try fixture.save(changes)
            let pages = try fixture.store.file.environment.info().lastPage - before
            #expect(estimated >= pages / 2 && estimated <= 2 * pages, "\(estimated) estimated, \(pages) written")
        }
    }

    @Test func aSmallSaveIsJudgedByItsNumberOfEventsAlone() throws {
        let fixture = try StoreFixture()
        var changes = try fixture.changes()
        _ = try fixture.insert("Movie", ["title": .string("one")], into: &changes)
        #expect(try estimate(changes, fixture.store) < 20)
    }
}
