import Foundation
import Glibc
@testable import LMDB
import Locking
import Testing

/// Commits that fail in each of their steps, and damaged trees.
@Suite struct FailureTests {
    let store = TemporaryStore()

    /// Replaces LMDB's descriptors of the data file that match by one where writing fails, runs the body, and puts the
    /// old ones back.
    private func withFullDisk<Success>(
        where matches: (Int32) -> Bool, _ body: () throws -> Success
    ) throws -> Success {
        var status = stat()
        #expect(stat(store.dataPath, &status) == 0)
        let full = Glibc.open("/dev/full", O_WRONLY | O_CLOEXEC)
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(Int32.init)
        let descriptors = open.filter { descriptor in
            var other = stat()
            return fstat(descriptor, &other) == 0 && other.st_ino == status.st_ino && other.st_dev == status.st_dev
                && matches(fcntl(descriptor, F_GETFL))
        }
        #expect(descriptors.count == 1)
        let saved = descriptors.map { ($0, dup($0)) }
        for descriptor in descriptors { dup2(full, descriptor) }
        defer {
            for (descriptor, copy) in saved {
                dup2(copy, descriptor)
                close(copy)
            }
            close(full)
        }
        return try body()
    }

    private func isMetaDescriptor(_ flags: Int32) -> Bool { flags & O_DSYNC != 0 }

    @Test func aFullDiskFailsTheCommitAndNothingElse() throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try environment.write { try $0.put(table, 1, [1]) }
        let failure = try withFullDisk(where: { !isMetaDescriptor($0) }) {
            code { try environment.write { try $0.put(table, 2, [2]) } }
        }
        #expect(failure == .noSpaceOrIO)
        #expect(try environment.read { try $0.count(table) } == 1)
        try environment.write { try $0.put(table, 3, [3]) }
        #expect(try environment.read { try $0.count(table) } == 2)
        #expect(try environment.read { try $0.bytes(table, 2) } == nil)
    }

    @Test func aFailedMetaPageIsAnUnknownOutcomeUntilReopened() throws {
        let environment = try store.open()
        let tables = try environment.openTables(["a", "b"])
        try environment.write { try $0.put(tables[1], 1, [1]) }
        let failure = try withFullDisk(where: isMetaDescriptor) {
            code { try environment.write { try $0.put(tables[1], 2, [2]) } }
        }
        #expect(failure == .outcomeUnknown)
        #expect(code { try environment.write { try $0.put(tables[1], 3, [3]) } } == .panic)
        #expect(code { try environment.read { _ in } } == .panic)
        try environment.reopen()
        #expect(try environment.read { try $0.bytes(tables[1], 1) } == [1])
        try environment.write { try $0.put(tables[1], 3, [3]) }
        #expect(try environment.read { try $0.bytes(tables[1], 3) } == [3])
        #expect(try environment.openTables(["b"]) == [tables[1]])
        try environment.close()
    }

    @Test func reopeningWaitsForReadersButNotForEver() throws {
        let environment = try store.open { $0.drainTimeout = .milliseconds(30) }
        let table = try environment.openTables(["t"])[0]
        try environment.write { try $0.put(table, 1, [1]) }
        let reader = try environment.beginRead()
        #expect(code { try environment.reopen() } == .busy)
        #expect(try reader.bytes(table, 1) == [1])
        environment.end(reader)
        try environment.reopen()
        #expect(try environment.read { try $0.bytes(table, 1) } == [1])
    }

    @Test func readersInOtherThreadsSurviveReopening() throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try environment.write { try $0.put(table, 1, [1]) }
        let failures = Locked<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            do {
                for _ in 0..<(thread == 0 ? 20 : 2_000) {
                    if thread == 0 {
                        try environment.reopen()
                    } else if try environment.read({ try $0.bytes(table, 1) }) != [1] {
                        failures.withLock { $0.append("lost") }
                    }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
    }

    @Test func aFileThatChangedIntoSomethingElseIsNotReopened() throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try environment.write { try $0.put(table, 1, [1]) }
        rename(store.dataPath, store.path + "/away")
        try Data("something else".utf8).write(to: URL(fileURLWithPath: store.dataPath))
        #expect(code { try environment.reopen() } == .foreign)
        #expect(code { try environment.read { _ in } } == .closed)
        #expect(code { try environment.write { _ in } } != nil)
        // With the right file back in place it goes on.
        unlink(store.dataPath)
        rename(store.path + "/away", store.dataPath)
        try environment.reopen()
        #expect(try environment.read { try $0.count(table) } == 1)
        try environment.close()
        #expect(code { try environment.reopen() } == .closed)
    }

    /// The offset of the data in a file that stores the pattern once.
    private func offset(of pattern: [UInt8], in bytes: Data) throws -> Int {
        try #require(bytes.range(of: Data(pattern))).lowerBound
    }

    @Test func aValueThatLiesOutsideTheFileIsCorrupt() throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        let key = Array("a key that is easy to find".utf8)
        let value = [UInt8](repeating: 0xAB, count: 10_000)
        try environment.write { try $0.put(table, key, value) }
        try environment.close()
        var bytes = try store.dataBytes()
        // The node before the key: low and high half of the value's size, flags, size of the key.
        let node = try offset(of: key, in: bytes) - 8
        bytes[node + 2] = 0xFF
        try bytes.write(to: URL(fileURLWithPath: store.dataPath))
        chmod(store.dataPath, 0o600)
        let damaged = try store.open()
        let sameTable = try damaged.openTables(["t"])[0]
        #expect(code { try damaged.read { try $0.bytes(sameTable, key) } } == .corrupted)
        #expect(code { try damaged.read { try $0.withCursor(sameTable) { try $0.next() } } } == .corrupted)
    }

    @Test func aPageNumberOutsideTheFileIsCorrupt() throws {
        let environment = try store.open()
        let table = try environment.openTables(["a table that is easy to find"])[0]
        try environment.write { try $0.put(table, 1, [1]) }
        try environment.close()
        var bytes = try store.dataBytes()
        // The main table's value is the table's record, whose last eight bytes are its root. Older copies of the
        // page may be in the file as well; all are damaged.
        let name = Data("a table that is easy to find".utf8)
        var start = bytes.startIndex
        while let found = bytes.range(of: name, in: start..<bytes.endIndex) {
            bytes[found.upperBound + 40 + 4] = 0x7F
            start = found.upperBound
        }
        try bytes.write(to: URL(fileURLWithPath: store.dataPath))
        chmod(store.dataPath, 0o600)
        let damaged = try store.open()
        let damage = code {
            let sameTable = try damaged.openTables(["a table that is easy to find"])[0]
            _ = try damaged.read { try $0.bytes(sameTable, 1) }
        }
        #expect(damage == .corrupted)
    }

    @Test func tablesWithDuplicatesAreRefused() throws {
        // Such a table can only come from another program; its record says so in its flags.
        let environment = try store.open()
        let table = try environment.openTables(["a table that is easy to find"])[0]
        try environment.write { try $0.put(table, 1, [1]) }
        try environment.close()
        var bytes = try store.dataBytes()
        let name = Data("a table that is easy to find".utf8)
        var start = bytes.startIndex
        while let found = bytes.range(of: name, in: start..<bytes.endIndex) {
            bytes[found.upperBound + 4] = 0x04
            start = found.upperBound
        }
        try bytes.write(to: URL(fileURLWithPath: store.dataPath))
        // That program does not know the sums of pages.
        try FileManager.default.removeItem(atPath: store.path + "/pages.sums")
        chmod(store.dataPath, 0o600)
        let damaged = try store.open()
        #expect(code { try damaged.openTables(["a table that is easy to find"]) } == .incompatibleTable)
    }

    @Test func errorsSayWhatWhereAndWhy() throws {
        mkdir(store.path, 0o700)
        do {
            _ = try store.open { $0.access = .readOnly }
            Issue.record("opened")
        } catch {
            #expect(error.description == "Could not open the store at \(store.dataPath): there is no data file.")
        }
        let full = LMDBError(.noSpaceOrIO, operation: "commit", path: "/s", errno: ENOSPC, detail: "0 bytes are free")
        let text =
            "Could not commit at /s: the disk is full, a size limit was met or the device failed "
            + "(0 bytes are free) [No space left on device, errno 28]."
        #expect(full.description == text)
    }
}
