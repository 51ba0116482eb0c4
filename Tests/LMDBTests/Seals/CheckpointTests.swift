import Foundation
import Glibc
import Testing

@testable import LMDB

/// Commits that are not synced: what a power cut may leave of them goes back to the last checkpoint.
@Suite struct CheckpointTests {
    let store = TemporaryStore()

    private func open(_ store: TemporaryStore? = nil) throws -> (Environment, Table) {
        let environment = try (store ?? self.store).open { $0.durability = .checkpointed }
        return (environment, try environment.openTables(["t"])[0])
    }

    private func put(_ values: some Sequence<UInt64>, _ mark: UInt8, _ environment: Environment, _ table: Table) throws
    {
        try environment.write { transaction in
            for key in values { try transaction.put(table, key, [UInt8](repeating: mark, count: 100)) }
        }
    }

    /// The marks of the records, by key.
    private func marks(_ environment: Environment, _ table: Table) throws -> [UInt8] {
        try environment.read { transaction in
            var found: [UInt8] = []
            try transaction.withCursor(table) { cursor in
                while try cursor.next() { found.append(cursor.value[0]) }
            }
            return found
        }
    }

    private func file(_ name: String, of store: TemporaryStore) throws -> Data {
        try Data(contentsOf: URL(filePath: store.path + "/" + name))
    }

    /// Another directory with these files, as the next start of the system finds it.
    private func afterPowerCut(_ files: [String: Data]) throws -> TemporaryStore {
        let cut = TemporaryStore()
        try FileManager.default.createDirectory(
            atPath: cut.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for (name, bytes) in files {
            try bytes.write(to: URL(filePath: cut.path + "/" + name))
            chmod(cut.path + "/" + name, 0o600)
        }
        try pretendThatTheSystemStarted(cut)
        return cut
    }

    private func pretendThatTheSystemStarted(_ store: TemporaryStore) throws {
        let descriptor = Glibc.open(store.path + "/checkpoint", O_RDWR)
        let file = CheckpointFile(descriptor)
        var checkpoint = try #require(file.newest)
        checkpoint.session = FileSession(start: checkpoint.session.start &+ 1, mount: checkpoint.session.mount)
        for _ in 0..<2 {
            checkpoint.number += 1
            #expect(file.write(checkpoint) == 0)
        }
    }

    /// The number of the commit at which readers begin: in the lock file, behind two words of 32 bits and a mutex.
    private func setLastCommit(_ change: (UInt64) -> UInt64) throws {
        let place = UInt64(8 + MemoryLayout<pthread_mutex_t>.size)
        let lock = try #require(FileHandle(forUpdatingAtPath: store.path + "/lock.mdb"))
        defer { lock.closeFile() }
        try lock.seek(toOffset: place)
        let bytes = try #require(try lock.read(upToCount: 8))
        let number = change(bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) })
        try lock.seek(toOffset: place)
        try lock.write(contentsOf: withUnsafeBytes(of: number) { Data($0) })
    }

    /// Another process was killed after it wrote the meta page of a commit and before it made the commit known.
    @Test(.timeLimit(.minutes(1))) func aCheckpointDoesNotWaitWithoutEndForACommitThatIsHalfDone() throws {
        let environment = try store.open {
            $0.durability = .checkpointed
            $0.writerLockTimeout = .milliseconds(100)
        }
        let table = try environment.openTables(["t"])[0]
        try put(0..<10, 1, environment, table)
        try put(0..<10, 2, environment, table)
        try setLastCommit { $0 - 1 }
        let error = #expect(throws: LMDBError.self) { try environment.keepCheckpoints() }
        #expect(error?.code == .busy && error?.detail.contains("middle of a commit") == true)
        try setLastCommit { $0 + 1 }
        try environment.keepCheckpoints()
    }

    /// The other process is stopped while it makes a checkpoint.
    @Test(.timeLimit(.minutes(1))) func aCheckpointDoesNotWaitWithoutEndForThatOfAnotherProcess() throws {
        let environment = try store.open {
            $0.durability = .checkpointed
            $0.writerLockTimeout = .milliseconds(100)
        }
        let table = try environment.openTables(["t"])[0]
        try put(0..<10, 1, environment, table)
        func expectBusy(_ body: () throws -> Void) throws {
            let child = try ChildProcess("hold-checkpoint-lock", store)
            #expect(child.line() == "holding the lock of checkpoints")
            child.stop()
            let error = #expect(throws: LMDBError.self, performing: body)
            let text = "process \(child.processID) has the lock of the file of checkpoints"
            #expect(error?.code == .busy && error?.detail.hasPrefix(text) == true, "\(String(describing: error))")
            child.kill()
            try body()
        }
        try expectBusy { try environment.keepCheckpoints() }
        // The pin is given up, so the next commit begins with a checkpoint.
        try environment.keepCheckpoints()
        try expectBusy { try put(0..<20, 2, environment, table) }
        #expect(try marks(environment, table) == [UInt8](repeating: 2, count: 20))
        try environment.close()
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func whateverPagesTheDiskHasTheCheckpointIsWhole(seed: UInt64) throws {
        var random = Seeded(state: seed)
        let (environment, table) = try open()
        defer { try? environment.close() }
        try put(0..<500, 1, environment, table)
        try put((0..<500).filter { $0 % 3 == 0 }, 2, environment, table)
        try environment.keepCheckpoints()
        let expected = try marks(environment, table)
        let before = try file("data.mdb", of: store)
        for round in 0..<UInt8(8) {
            try put((0..<600).filter { _ in Bool.random(using: &random) }, 10 + round, environment, table)
        }
        let after = try file("data.mdb", of: store)
        var pages = Data()
        for start in stride(from: 0, to: after.count, by: 4096) {
            let isOld = Bool.random(using: &random)
            let source = isOld && start < before.count ? before : after
            pages += isOld && start >= before.count ? Data(count: 4096) : source[start..<start + 4096]
        }
        let cut = try afterPowerCut([
            "data.mdb": pages, "checkpoint": try file("checkpoint", of: store),
            "pages.sums": try file("pages.sums", of: store),
        ])
        let (found, foundTable) = try open(cut)
        defer { try? found.close() }
        #expect(try marks(found, foundTable) == expected)
        try put(0..<100, 99, found, foundTable)
        #expect(try found.checkPages().isSound)
    }

    @Test func aClosedStoreLosesNothing() throws {
        let (environment, table) = try open()
        for round in 0..<UInt8(5) { try put(0..<100, round, environment, table) }
        try environment.close()
        let cut = try afterPowerCut([
            "data.mdb": try file("data.mdb", of: store), "checkpoint": try file("checkpoint", of: store),
        ])
        let (found, foundTable) = try open(cut)
        defer { try? found.close() }
        #expect(try marks(found, foundTable) == [UInt8](repeating: 4, count: 100))
    }

    /// The pin of an idle process would keep the pages of old commits for ever.
    @Test func aProcessThatDoesNotWriteLetsOldPagesGo() throws {
        let (environment, table) = try open()
        defer { try? environment.close() }
        try put(0..<100, 1, environment, table)
        #expect(try environment.readers().compactMap(\.transaction).count == 1)
        try environment.keepCheckpoints()
        try environment.keepCheckpoints()
        #expect(try environment.readers().compactMap(\.transaction).isEmpty)
        var sizes: [Int] = []
        for round in 0..<400 {
            try put(0..<100, UInt8(round % 200), environment, table)
            if round % 5 == 0 { try environment.keepCheckpoints() }
            if round % 100 == 99 { sizes.append(try file("data.mdb", of: store).count) }
        }
        #expect(sizes[3] <= sizes[0] + sizes[0] / 10)
    }

    /// One commit after the checkpoint leaves the checkpoint's own meta page alone.
    @Test(arguments: [1, 2, 3]) func aReaderRefusesWhatAWriterHasToTakeBack(commits: Int) throws {
        let (environment, table) = try open()
        for number in 0..<commits { try put(0..<100, UInt8(number), environment, table) }
        let files = ["data.mdb": try file("data.mdb", of: store), "checkpoint": try file("checkpoint", of: store)]
        try environment.close()
        let cut = try afterPowerCut(files)
        // In a copy the number of the data file is another one; here it is the same.
        let descriptor = Glibc.open(cut.path + "/checkpoint", O_RDWR)
        let checkpoints = CheckpointFile(descriptor)
        var checkpoint = try #require(checkpoints.newest)
        var status = stat()
        #expect(stat(cut.dataPath, &status) == 0)
        (checkpoint.file, checkpoint.number) = (UInt64(status.st_ino), checkpoint.number + 1)
        #expect(checkpoints.write(checkpoint) == 0)
        #expect(code { try cut.open { $0.access = .readOnly } } == .unrestored)
        // Also where the last pages have not come to the disk.
        let data = try #require(files["data.mdb"])
        #expect(truncate(cut.dataPath, off_t(data.count - 4096)) == 0)
        #expect(code { try cut.open { $0.access = .readOnly } } == .unrestored)
        let (found, foundTable) = try open(cut)
        #expect(try marks(found, foundTable).isEmpty)
        try found.close()
        let reader = try cut.open { $0.access = .readOnly }
        try reader.close()
    }

    @Test func anotherDurabilityEndsTheCheckpoints() throws {
        let (environment, table) = try open()
        try put(0..<100, 1, environment, table)
        try environment.close()
        #expect(access(store.path + "/checkpoint", F_OK) == 0)
        try store.open().close()
        #expect(access(store.path + "/checkpoint", F_OK) != 0)
        let (again, sameTable) = try open()
        defer { try? again.close() }
        #expect(try marks(again, sameTable).count == 100)
    }

    @Test func aDataFileFromElsewhereStaysAsItIs() throws {
        let (environment, table) = try open()
        try put(0..<300, 1, environment, table)
        try environment.close()
        let other = TemporaryStore()
        try other.fill(700)
        let cut = try afterPowerCut([
            "data.mdb": try other.dataBytes(), "checkpoint": try file("checkpoint", of: store),
        ])
        let (found, foundTable) = try open(cut)
        defer { try? found.close() }
        #expect(try marks(found, foundTable).count == 700)
    }

    /// SplitMix64.
    private struct Seeded: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
            return word ^ word >> 31
        }
    }
}
