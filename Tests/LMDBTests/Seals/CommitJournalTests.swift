import Foundation
import Glibc
import Locking
import Synchronization
import Testing

@testable import LMDB

/// The journal of commits that are not synced themselves.
@Suite struct CommitJournalTests {
    let store = TemporaryStore()
    private var journalPath: String { store.path + "/journal" }

    private func open() throws -> (Environment, Table) {
        let environment = try store.open { $0.durability = .journaled }
        return (environment, try environment.openTables(["t"])[0])
    }

    /// A commit with an entry.
    private func put(_ key: UInt64, _ entry: [UInt8]?, _ environment: Environment, _ table: Table) throws {
        try environment.write { transaction in
            try transaction.put(table, key, [1])
            if let entry { try transaction.journal(entry) }
        }
    }

    @Test func entriesAreThereInTheirOrder() throws {
        let (environment, table) = try open()
        defer { try? environment.close() }
        let entries: [[UInt8]] = [[1, 2, 3], [], [UInt8](repeating: 7, count: 10_000), [4]]
        for (key, entry) in entries.enumerated() { try put(UInt64(key), entry, environment, table) }
        #expect(environment.journalEntries == entries)
        // Another user of the file finds the same, and goes on behind it.
        let other = CommitJournal(Glibc.open(journalPath, O_RDWR))
        guard case .written = other.append([9], commit: 50, checkpoint: { 0 }) else {
            Issue.record("not written")
            return
        }
        try put(9, [10], environment, table)
        #expect(environment.journalEntries == entries + [[9], [10]])
    }

    @Test func aCommitWithoutAnEntryIsInACheckpoint() throws {
        let (environment, table) = try open()
        defer { try? environment.close() }
        try put(1, [1], environment, table)
        let before = try #require(CheckpointFile(Glibc.open(store.path + "/checkpoint", O_RDWR)).newest).commit
        #expect(environment.unsyncedCommits.load(ordering: .relaxed) > 0)
        try put(2, nil, environment, table)
        let after = try #require(CheckpointFile(Glibc.open(store.path + "/checkpoint", O_RDWR)).newest).commit
        #expect(after == before + 2 && environment.unsyncedCommits.load(ordering: .relaxed) == 0)
        // So is one that is too large for the journal.
        try put(3, [UInt8](repeating: 1, count: CommitJournal.largestEntry + 1), environment, table)
        #expect(environment.unsyncedCommits.load(ordering: .relaxed) == 0)
        #expect(environment.journalEntries == [[1]])
    }

    @Test func aRoundEndsAtACheckpointAndTheFileStaysSmall() throws {
        let (environment, table) = try open()
        defer { try? environment.close() }
        let entry = [UInt8](repeating: 3, count: 100_000)
        for key in 0..<200 as Range<UInt64> {
            try put(key, entry, environment, table)
            if key % 4 == 3 { try environment.keepCheckpoints() }
        }
        #expect(environment.journalEntries.count <= 8)
        let size = try #require(FileManager.default.attributesOfItem(atPath: journalPath)[.size] as? Int)
        #expect(size <= 2 << 20, "\(size)")
        // Without checkpoints nothing that only the journal has is overwritten.
        for key in 200..<230 as Range<UInt64> { try put(key, entry, environment, table) }
        #expect(environment.journalEntries.count == 30)
    }

    @Test func aHalfWrittenEntryEndsTheRound() throws {
        let (environment, table) = try open()
        defer { try? environment.close() }
        for key in 0..<5 as Range<UInt64> {
            try put(key, [UInt8](repeating: UInt8(key), count: 40), environment, table)
        }
        let bytes = try Data(contentsOf: URL(filePath: journalPath))
        let journal = CommitJournal(Glibc.open(journalPath, O_RDWR))
        // Each entry has 72 bytes.
        for offset in 4096..<4096 + 5 * 72 {
            var damaged = bytes
            damaged[offset] ^= 0x10
            try damaged.write(to: URL(filePath: journalPath))
            let read = CommitJournal(Glibc.open(journalPath, O_RDWR))
            let count = (offset - 4096) / 72
            #expect(read.contents.count == count, "byte \(offset)")
            #expect(read.contents.allSatisfy { content in content.allSatisfy { $0 == content[0] } })
        }
        withExtendedLifetime(journal) {}
    }

    @Test func anEntryOfAnEarlierRoundIsNotReadAgain() throws {
        let (environment, table) = try open()
        defer { try? environment.close() }
        for key in 0..<10 as Range<UInt64> {
            try put(key, [UInt8](repeating: 1, count: 100_000), environment, table)
        }
        try environment.keepCheckpoints()
        // The new round ends where an entry of the old one begins.
        try put(10, [UInt8](repeating: 2, count: 100_000), environment, table)
        #expect(environment.journalEntries.map { $0[0] } == [2])
    }

    @Test func anEntryThatIsTakenBackIsGone() throws {
        let (environment, table) = try open()
        defer { try? environment.close() }
        try put(1, [1], environment, table)
        let journal = try #require(environment.journal.withLock { $0 })
        guard case .written(let offset) = journal.append([2], commit: 9, checkpoint: { 0 }) else {
            Issue.record("not written")
            return
        }
        #expect(journal.retract(offset) == 0)
        try put(2, [3], environment, table)
        #expect(environment.journalEntries == [[1], [3]])
    }

    @Test func aTransactionThatIsGivenUpLeavesNoneOfItsEntries() throws {
        let (environment, table) = try open()
        defer { try? environment.close() }
        try put(1, [1], environment, table)
        struct GivenUp: Error {}
        #expect(throws: GivenUp.self) {
            try environment.write { transaction in
                for part in 2...4 as ClosedRange<UInt8> { try transaction.journal([part], isEarly: part == 2) }
                throw GivenUp()
            }
        }
        #expect(environment.journalEntries == [[1]])
        // The next entry is as long as the first that was given up, and ends where the second began.
        try put(2, [5], environment, table)
        #expect(environment.journalEntries == [[1], [5]])
    }

    @Test func aTransactionMayHaveSeveralEntriesOrTooLargeOnes() throws {
        let (environment, table) = try open()
        defer { try? environment.close() }
        try environment.write { transaction in
            try transaction.put(table, 1, [1])
            try transaction.journal([1], isEarly: true)
            try transaction.journal([2])
        }
        #expect(environment.journalEntries == [[1], [2]])
        #expect(environment.unsyncedCommits.load(ordering: .relaxed) > 0)
        try environment.write { transaction in
            try transaction.put(table, 2, [1])
            try transaction.journal([3], isEarly: true)
            try transaction.journal(nil)
            try transaction.journal([4])
        }
        #expect(environment.journalEntries == [[1], [2]])
        #expect(environment.unsyncedCommits.load(ordering: .relaxed) == 0)
    }

    @Test func whatIsNoJournalIsMadeAnewAndALinkIsRefused() throws {
        let (environment, table) = try open()
        try put(1, [1], environment, table)
        try environment.close()
        try Data([1, 2, 3]).write(to: URL(filePath: journalPath))
        chmod(journalPath, 0o600)
        let (again, _) = try open()
        #expect(again.journalEntries.isEmpty)
        try again.close()
        unlink(journalPath)
        symlink("/etc/passwd", journalPath)
        #expect(throws: LMDBError.self) { try open() }
    }
}
