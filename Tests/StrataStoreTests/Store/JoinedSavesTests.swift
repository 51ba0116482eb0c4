import LMDB
import StrataModel
@testable import StrataStore
import Testing

/// Saves that come while a commit is made and join it have the same fates as those it began with.
@Suite struct JoinedSavesTests {
    private func owner(_ name: String, _ fixture: StoreFixture) throws -> ChangeSet {
        var changes = try fixture.changes()
        _ = try fixture.insert("Owner", ["name": .string(name)], into: &changes)
        return changes
    }

    /// Commits saves that join one after another, in a list each.
    private func commit(_ saves: [[ChangeSet]], _ store: Store) -> [Submission.Answer] {
        let committer = Committer(store.file, store.blobs, store.snapshots.statistics)
        var later = saves.dropFirst()
        return committer.commit((saves.first ?? []).map { Submission(.save($0)) }) {
            (later.popFirst() ?? []).map { Submission(.save($0)) }
        }
    }

    private func isSaved(_ answer: Submission.Answer) -> Bool {
        if case .success(.saved) = answer { true } else { false }
    }

    private func transactions(_ store: Store) throws -> UInt64 {
        try store.file.read { transaction, _, _ in transaction.number }
    }

    @Test func allAreOneCommitAndEachHasItsOwnAnswer() throws {
        let fixture = try StoreFixture()
        let saves = [
            [try owner("Ann", fixture)], [try owner("Bob", fixture), try owner("Ann", fixture)],
            [try owner("Cy", fixture)],
        ]
        let before = try transactions(fixture.store)
        let answers = commit(saves, fixture.store)
        #expect(answers.map(isSaved) == [true, true, false, true])
        #expect(try transactions(fixture.store) == before + 1)
        let entities = try fixture.store.statistics().entities
        #expect(entities.first { $0.name == "Owner" }?.objectCount == 3)
    }

    /// What befalls the transaction as a whole befalls those alone whose fault it is.
    @Test func whoFailsTakesNobodyAlong() throws {
        let damaged = try DamagedStore()
        let fixture = damaged.fixture
        var broken = try fixture.changes()
        try fixture.update(damaged.heat, ["rating": .double(5)], in: &broken)
        let saves = [[try owner("Bob", fixture)], [broken, try owner("Cy", fixture)]]
        let row = try #require(try damaged.records("objects").first { $0.value.contains(Array("Heat".utf8)) })
        try damaged.put("objects", row.key, [1])
        let answers = commit(saves, fixture.store)
        #expect(answers.map(isSaved) == [true, false, true])
        #expect(throws: StrataError.self) { try answers[1].get() }
    }
}
