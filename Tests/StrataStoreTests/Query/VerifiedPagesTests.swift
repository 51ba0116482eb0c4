import LMDB
import StrataModel
import Testing

@testable import StrataStore

/// Rows are hashed once in each snapshot of the file.
@Suite struct VerifiedPagesTests {
    private func count(_ fixture: StoreFixture) throws -> Int {
        let request = StoreRequest(
            entityID: try fixture.entity("Movie").id, predicate: .contains("title", "7"))
        return try fixture.store.read(at: try fixture.store.head()) { try $0.count(request) }
    }

    /// How many rows of a walk over all records would be hashed.
    private func unverified(_ fixture: StoreFixture) throws -> Int {
        let file = fixture.store.file
        return try file.read { transaction, _, _ in
            var walk = PageWalk(fixture.store.snapshots.verifiedPages, transaction)
            var count = 0
            try transaction.withCursor(file.tables.objects) { cursor in
                var isThere = try cursor.first()
                while isThere {
                    let records = cursor.pageRecords()
                    let isVerified = walk.turn(to: records)
                    for index in 0..<records.count where try !isVerified || !records.record(index).isInPage {
                        count += 1
                    }
                    isThere = try cursor.move(behind: records)
                }
            }
            return count
        }
    }

    @Test func aSecondScanOfTheSameSnapshotHashesOnlyWhatTheFirstDidNotSeeWhole() throws {
        let fixture = try StoreFixture()
        var changes = try fixture.changes()
        for index in 0..<2000 {
            // Some rows are too long for a page and have pages of their own.
            let title = "movie \(index)" + (index % 500 == 0 ? String(repeating: " long", count: 2000) : "")
            _ = try fixture.insert("Movie", ["title": .string(title)], into: &changes)
        }
        try fixture.save(changes)
        #expect(try unverified(fixture) == 2000)
        let found = try count(fixture)
        #expect(found == (0..<2000).count { "\($0)".contains("7") })
        let rest = try unverified(fixture)
        #expect(rest >= 4 && rest < 200)
        #expect(try count(fixture) == found)
        // Another commit is another snapshot.
        _ = try fixture.insert("Movie", ["title": "movie 7"])
        #expect(try unverified(fixture) == 2001)
        #expect(try count(fixture) == found + 1)
        #expect(try unverified(fixture) < 200)
    }

    /// A scan ends at the first row of the next entity.
    @Test(arguments: [("Owner", "name"), ("Movie", "title"), ("Tag", "label")])
    func aScanBetweenOtherEntitiesIsRemembered(name: String, property: String) throws {
        let fixture = try StoreFixture()
        var changes = try fixture.changes()
        for entity in ["Owner", "Movie", "Tag"] {
            for _ in 0..<(entity == name ? 2000 : 1) { _ = try fixture.insert(entity, [:], into: &changes) }
        }
        try fixture.save(changes)
        let request = StoreRequest(entityID: try fixture.entity(name).id, predicate: .contains(property, "7"))
        #expect(try fixture.store.read(at: try fixture.store.head()) { try $0.count(request) } == 0)
        #expect(try unverified(fixture) < 200)
    }
}
