import Foundation
import Glibc
@testable import LMDB
import Synchronization
import Testing

/// Several processes on one store, and what their deaths leave behind.
@Suite struct ProcessTests {
    let store = TemporaryStore()

    @Test func theSlotOfAKilledReaderIsSwept() throws {
        try store.fill()
        let child = try ChildProcess("hold-read", store, 3)
        #expect(child.line() == "holding 3")
        let environment = try store.open()
        #expect(try environment.readers().filter { $0.processID == child.processID }.count == 3)
        #expect(try environment.sweepStaleReaders() == 0)
        child.kill()
        #expect(try environment.sweepStaleReaders() == 3)
        #expect(try environment.readers().isEmpty)
    }

    @Test func openingSweepsTheSlotsOfKilledReaders() throws {
        let child = try ChildProcess("hold-read", store, 2)
        #expect(child.line() == "holding 2")
        // A live reader keeps the lock table from being made anew.
        let other = try ChildProcess("hold-read", store, 1)
        #expect(other.line() == "holding 1")
        child.kill()
        let environment = try store.open()
        #expect(try environment.readers().map(\.processID) == [other.processID])
    }

    @Test func fullReaderSlotsAreAnErrorUntilOneIsFree() throws {
        let environment = try store.open { $0.maximumReaders = 4 }
        let table = try environment.openTables(["t"])[0]
        try environment.write { try $0.put(table, 1, [1]) }
        let readers = try (0..<4).map { _ in try environment.beginRead() }
        #expect(code { try environment.read { _ in } } == .readersFull)
        environment.end(readers[0])
        #expect(try environment.read { try $0.bytes(table, 1) } == [1])
        for reader in readers[1...] { environment.end(reader) }
    }

    @Test func fullReaderSlotsOfADeadProcessAreSweptAtOnce() throws {
        let environment = try store.open { $0.maximumReaders = 4 }
        let table = try environment.openTables(["t"])[0]
        try environment.write { try $0.put(table, 1, [1]) }
        let own = try environment.beginRead()
        let child = try ChildProcess("hold-read", store, 3)
        #expect(child.line() == "holding 3")
        #expect(code { try environment.read { _ in } } == .readersFull)
        child.kill()
        #expect(try environment.read { try $0.bytes(table, 1) } == [1])
        environment.end(own)
    }

    /// Processes of two containers may have the same id. LMDB locks the byte of the lock file at a reader's process id;
    /// here a lock of an open file description stands for the other process.
    @Test func aReaderWithTheIDOfAnotherProcessIsNamed() throws {
        try store.fill()
        let file = Glibc.open(store.path + "/lock.mdb", O_RDWR)
        defer { close(file) }
        var lock = flock(
            l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: off_t(getpid()), l_len: 1, l_pid: 0)
        let setOpenFileLock: Int32 = 37  // F_OFD_SETLK
        #expect(fcntl(file, setOpenFileLock, &lock) == 0)
        let environment = try store.open()
        #expect(code { try environment.read { _ in } } == .processIDInUse)
        lock.l_type = Int16(F_UNLCK)
        #expect(fcntl(file, setOpenFileLock, &lock) == 0)
        #expect(throws: Never.self) { try environment.read { _ in } }
    }

    @Test func aWriterInAnotherProcessIsBusyUntilItDies() throws {
        let child = try ChildProcess("hold-write", store)
        #expect(child.line() == "holding a write")
        let environment = try store.open { $0.access = .readWrite(create: false) }
        let table = try environment.openTables(["t"])[0]
        let start = ContinuousClock.now
        #expect(code { try environment.write(timeout: .milliseconds(100)) { try $0.put(table, 1, [1]) } } == .busy)
        #expect(ContinuousClock.now - start < .seconds(5))
        // Readers do not care.
        #expect(try environment.read { try $0.count(table) } == 0)
        child.stop()
        #expect(code { try environment.write(timeout: .milliseconds(50)) { try $0.put(table, 1, [1]) } } == .busy)
        child.kill()
        try environment.write { try $0.put(table, 1, [1]) }
        #expect(try environment.read { try $0.count(table) } == 1)
    }

    @Test func aKilledWriterLosesNoneOfItsCommits() throws {
        var acknowledged = -1
        for _ in 0..<6 {
            let child = try ChildProcess("append-forever", store)
            for _ in 0..<Int.random(in: 1...40) { acknowledged = Int(child.line() ?? "") ?? acknowledged }
            child.kill()
            // Lines that were written before the kill count as well.
            while let line = child.line() { acknowledged = Int(line) ?? acknowledged }
            let environment = try store.open()
            let table = try environment.openTables(["t"])[0]
            let count = try environment.read { try $0.count(table) }
            #expect(count == acknowledged + 1 || count == acknowledged + 2)
            try environment.read { transaction in
                for key in 0..<UInt64(count) {
                    let found = try transaction.bytes(table, key)
                    #expect(found == [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: 100))
                }
            }
            try environment.close()
        }
    }

    @Test func theGrowthOfAnotherProcessIsFollowed() throws {
        let environment = try store.open { $0.mapSizeInBytes = 256 << 10 }
        let table = try environment.openTables(["t"])[0]
        try environment.write { _ in }
        let idle = try environment.beginRead()
        environment.end(idle)
        #expect(try ChildProcess("append", store, 1_000).lines() == ["appended to 1000"])
        // First a renewed reader meets the growth.
        #expect(try environment.read { try $0.count(table) } == 1_000)
        #expect(try environment.read { try $0.bytes(table, 999)?.count } == 1_000)
        #expect(environment.mapSizeInBytes > 1 << 20)
        // Then a writer.
        #expect(try ChildProcess("append", store, 5_000).lines() == ["appended to 6000"])
        try environment.write { try $0.append(table, 6_000, [1]) }
        #expect(try environment.read { try $0.count(table) } == 6_001)
    }

    @Test func readersInOtherProcessesSeeWholeCommitsWhileTheFileGrows() throws {
        let environment = try store.open {
            $0.mapSizeInBytes = 256 << 10
            $0.durability = .disposable
        }
        let table = try environment.openTables(["t"])[0]
        let readers = try (0..<2).map { _ in try ChildProcess("read-forever", store, 4_000) }
        for reader in readers { #expect(reader.line() == "reading") }
        for round in 0..<200 as Range<UInt64> {
            try environment.write { transaction in
                for key in 0..<20 as Range<UInt64> {
                    try transaction.append(table, round * 20 + key, [UInt8](repeating: 1, count: 1_000))
                }
            }
        }
        for reader in readers { #expect(reader.lines() == ["read 4000"]) }
    }

    @Test func severalProcessesWriteInTurns() throws {
        let children = try (0..<3).map { _ in try ChildProcess("append", store, 200) }
        for child in children { #expect(child.lines().first?.hasPrefix("appended") == true) }
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        #expect(try environment.read { try $0.count(table) } == 600)
    }

    /// The first opening of two processes: the slower one has found no data file, and makes one when the faster one has
    /// written already.
    @Test func aFileThatIsMadeSecondLeavesTheFirstAndItsSums() throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try environment.write { try $0.put(table, 1, [1]) }
        let directory = environment.directory
        let before = try ["data.mdb", "pages.sums"].map { try directory.status(of: $0).map(FileIdentity.init) }
        #expect(!before.contains(nil))
        try Environment.createDataFile(in: directory, EnvironmentOptions())
        #expect(try ["data.mdb", "pages.sums"].map { try directory.status(of: $0).map(FileIdentity.init) } == before)
        #expect(directory.names.filter { $0.hasPrefix(".new-") } == [])
    }

    @Test func aForkedChildIsToldAndMayOpenTheStoreItself() throws {
        #expect(
            try ChildProcess("fork", store).lines() == [
                "error usedAfterFork", "error usedAfterFork", "child appended", "records 1",
            ])
    }

    @Test func aKilledInMemoryStoreLeavesNothing() throws {
        let child = try ChildProcess("in-memory", store)
        #expect(child.line() == "holding 10")
        child.kill()
        #expect(!FileManager.default.fileExists(atPath: store.path))
    }

    @Test func aFileSizeLimitIsAnErrorAndTheStoreGoesOn() throws {
        #expect(
            try ChildProcess("file-size-limit", store, 200_000).lines() == [
                "error noSpaceOrIO", "records 0", "records 1000",
            ])
        #expect(try ChildProcess("open", store).lines() == ["records 1000"])
    }

    @Test func littleAddressSpaceGivesASmallerMap() throws {
        #expect(try ChildProcess("address-space-limit", store, 4 << 30).lines() == ["smaller"])
        #expect(try ChildProcess("open", store).lines() == ["records 10"])
    }

    @Test func manyStoresLeaveAddressSpaceForTheRest() throws {
        try FileManager.default.createDirectory(
            atPath: store.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        #expect(try ChildProcess("many-stores", store, 600).lines() == ["room", "whole"])
    }

    @Test func misuseByCodeIsTrapped() throws {
        for command in ["use-after-end", "nested-write"] {
            let store = TemporaryStore()
            // The store's directory goes with it, and the child may be slow to start.
            try withExtendedLifetime(store) {
                let child = try ChildProcess(command, store)
                #expect(child.lines().isEmpty)
                #expect(child.wasSignalled)
            }
        }
    }

    @Test func truncationUnderClosedStoresIsNeverASignal() throws {
        try store.fill(2_000)
        let bytes = try store.dataBytes()
        var random = SplitMix(state: 7)
        for _ in 0..<20 {
            let length = Int.random(in: 1..<bytes.count, using: &random)
            try bytes.prefix(length).write(to: URL(fileURLWithPath: store.dataPath))
            chmod(store.dataPath, 0o600)
            let child = try ChildProcess("open", store)
            let lines = child.lines()
            #expect(!child.wasSignalled)
            #expect(lines == ["error truncated"] || lines == ["error foreign"])
        }
    }
}
