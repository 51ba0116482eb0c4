import Foundation
import Glibc
@testable import LMDB
import Testing

/// Openings beside processes that make, lock or replace the files.
@Suite struct OpeningRaceTests {
    let store = TemporaryStore()
    let other = TemporaryStore()

    /// An exclusive lock of an open file on the lock file's first byte, as `StoreGuard` has it.
    private final class Guard {
        private let file: Int32

        init(_ store: TemporaryStore) throws {
            file = open(store.path + "/lock.mdb", O_RDWR | O_CLOEXEC)
            var lock = flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 1, l_pid: 0)
            let setOpenFileLock: Int32 = 37  // F_OFD_SETLK
            while fcntl(file, setOpenFileLock, &lock) != 0 { try #require(errno == EAGAIN) }
        }

        func release() { close(file) }
    }

    private static func hasOpen(_ process: Int32, _ ending: String) -> Bool {
        let folder = "/proc/\(process)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.contains { name in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + name))?.hasSuffix(ending) == true
        }
    }

    /// A process that has opened the directory waits for the lock, while another one puts a store in its place.
    @Test func anOpeningFindsTheStoreThatHasTakenTheDirectorysPlace() throws {
        try store.fill(10)
        try other.fill(20)
        let lock = try Guard(store)
        let child = try ChildProcess("open", store)
        while !Self.hasOpen(child.processID, "/lock.mdb") { sched_yield() }
        #expect(PathExchange.exchange(store.path, other.path) == 0)
        lock.release()
        #expect(child.lines() == ["records 20"])
    }

    @Test func openingsBesideExchangesFindOneOfTheStores() throws {
        try store.fill(10)
        try other.fill(20)
        let children = try (0..<2).map { _ in try ChildProcess("open-often", store, 60) }
        var isEnded = false
        while !isEnded {
            let locks = try [Guard(store), Guard(other)]
            #expect(PathExchange.exchange(store.path, other.path) == 0)
            for lock in locks { lock.release() }
            isEnded = children.allSatisfy { $0.hasEnded }
        }
        for child in children { #expect(child.lines() == ["opened 60"]) }
    }

    private func openingFailure() -> LMDBError? {
        do throws(LMDBError) {
            _ = try store.open { $0.openingTimeout = .milliseconds(100) }
            return nil
        } catch {
            return error
        }
    }

    /// The process is stopped while it makes the data file.
    @Test func aFirstOpeningDoesNotWaitWithoutEndForAStoppedOne() throws {
        let child = try ChildProcess("hold-directory", store)
        #expect(child.line() == "holding the directory")
        child.stop()
        let error = try #require(openingFailure())
        #expect(error.code == .busy && error.detail.contains("makes the store"), "\(error)")
        #expect(!FileManager.default.fileExists(atPath: store.dataPath))
        child.kill()
        #expect(openingFailure() == nil)
    }

    /// The process is stopped while it replaces the files, or opens the store as the first.
    @Test func anOpeningDoesNotWaitWithoutEndForTheLockFile() throws {
        try store.fill()
        let child = try ChildProcess("hold-lock-file", store)
        #expect(child.line() == "holding the lock file")
        child.stop()
        let error = try #require(openingFailure())
        #expect(error.code == .busy && error.detail.contains("process \(child.processID)"), "\(error)")
        child.kill()
        #expect(openingFailure() == nil)
    }

    /// The process is stopped while it takes the store back to its checkpoint.
    @Test func anOpeningDoesNotWaitWithoutEndForTheCheckpoint() throws {
        try store.open { $0.durability = .checkpointed }.close()
        let child = try ChildProcess("hold-checkpoint", store)
        #expect(child.line() == "holding the checkpoint")
        child.stop()
        #expect(
            code {
                _ = try store.open {
                    $0.durability = .checkpointed
                    $0.openingTimeout = .milliseconds(100)
                }
            } == .busy)
        child.kill()
        try store.open { $0.durability = .checkpointed }.close()
    }
}
