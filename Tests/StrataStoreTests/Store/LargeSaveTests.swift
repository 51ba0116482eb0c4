import Foundation
import Locking
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Saves so large that their views are made while the log is written, and their keys put in order while others are
/// written. What they made is held against the log at the end of each test.
@Suite struct LargeSaveTests {
    private static let count = 3_000

    private func insert(
        _ fixture: StoreFixture, owners: [ObjectID], _ random: inout SeededGenerator
    ) throws -> [ObjectID] {
        var changes = try fixture.changes()
        let ids = try (0..<Self.count).map { number in
            try fixture.insert(
                "Movie",
                [
                    "title": .string("Movie \(Int.random(in: 0...9999, using: &random))"),
                    "rating": .double(Double.random(in: 0...5, using: &random)),
                    "owner": .objectID(owners[number % owners.count]),
                ], into: &changes)
        }
        try fixture.save(changes)
        return ids
    }

    @Test(arguments: RandomTesting.seeds.prefix(2)) func changesOfAllKindsInOneSaveAreInTheViews(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let fixture = try StoreFixture()
        let owners = try (0..<10).map { try fixture.insert("Owner", ["name": .string("Owner \($0)")]) }
        let ids = try insert(fixture, owners: owners, &random)
        #expect(try fixture.members("Owner", "movies", of: owners[3]).count == Self.count / 10)
        var changes = try fixture.changes()
        for (place, id) in ids.enumerated() where place % 3 != 0 {
            try fixture.update(
                id,
                place % 3 == 1
                    ? ["rating": .double(Double(place)), "owner": .objectID(owners[0])]
                    : ["title": .string("A longer title than before, number \(place)")], in: &changes)
        }
        for (place, id) in ids.enumerated() where place % 3 == 0 {
            changes.deletions.append(.init(id: id, baseRevision: try fixture.revision(of: id)))
        }
        for number in 0..<100 {
            _ = try fixture.insert("Movie", ["title": .string("New \(number)")], into: &changes)
        }
        try fixture.save(changes)
        #expect(try fixture.values(ids[0]) == nil)
        #expect(try fixture.values(ids[1])?["rating"] == .double(1))
        #expect(try fixture.values(ids[2])?["title"] == .string("A longer title than before, number 2"))
        #expect(try fixture.members("Owner", "movies", of: owners[0]).count == 1_000 + 100)
    }

    @Test func savesThatShareACommitAreInTheViews() throws {
        let fixture = try StoreFixture()
        var sets: [ChangeSet] = []
        for round in 0..<4 {
            var changes = try fixture.changes()
            for number in 0..<1_500 {
                _ = try fixture.insert(
                    "Movie", ["title": .string("\(round)/\(number)"), "rating": .double(Double(number % 7))],
                    into: &changes)
            }
            sets.append(changes)
        }
        let (changes, store) = (sets, fixture.store)
        let failures = Locked<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { round in
            do {
                guard case .saved = try store.save(changes[round]) else {
                    return failures.withLock { $0.append("\(round) is stale") }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try fixture.values(changes[3].insertions[1_499].id)?["title"] == .string("3/1499"))
    }
}
