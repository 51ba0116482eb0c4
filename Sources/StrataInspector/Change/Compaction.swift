import Foundation
import StrataModel
import StrataStore

/// Writes the file of a store again without its free pages.
///
/// The store stays locked from the exchange of the files until the new one is verified. So no commit is lost if the old
/// file is put back.
struct Compaction {
    let store: StoreArguments
    let keepsOld: Bool
    /// The longest copy during which other processes wait to open the store.
    var longestLockedCopy = Duration.seconds(5)
    /// Is called after each copy, with whether no process could open the store meanwhile.
    var whenCopied: (_ isLocked: Bool) throws -> Void = { _ in }
    /// Whether a signal ends the process while the copy is made.
    var endsBySignals = false
    /// Is called when the new file is in place and not yet verified there.
    var whenExchanged: () throws -> Void = {}

    init(store: StoreArguments, keepsOld: Bool) {
        self.store = store
        self.keepsOld = keepsOld
    }

    private var path: String { store.path.droppingTrailingSlash }
    private var file: String { path + "/data.mdb" }
    private var kept: String { file + LeftCopies.beforeCompaction }

    /// - Returns: the sizes of the file before and after, in bytes.
    func run() throws -> (before: UInt64, after: UInt64) {
        let before = try size()
        guard access(file, W_OK) == 0 else { throw failure("written") }
        try LeftCopies.remove(besides: path)
        let copy = path + LeftCopies.compacting + "\(getpid())"
        let url = URL(filePath: copy, directoryHint: .isDirectory)
        if endsBySignals {
            Interrupt.endAtOnce {
                Store.abandonCopies(to: url)
                Self.remove(copy)
                return "the store was left as it is."
            }
        }
        try replaceFile(by: copy)
        return (before, try size())
    }

    // MARK: The copy

    private static let mostFreeCopies = 3
    /// After this time no further copy is begun.
    private static let longestTrying = Duration.seconds(60)

    /// Copies the store while other processes may write, and again if one did. If the last such copy was made fast, it makes
    /// another one while no process can open the store.
    private func replaceFile(by copy: String) throws {
        let start = ContinuousClock.now
        var lastCopy = Duration.zero
        for _ in 0..<Self.mostFreeCopies where ContinuousClock.now - start < Self.longestTrying {
            let began = ContinuousClock.now
            if try isReplaced(byFree: copy) { return }
            lastCopy = ContinuousClock.now - began
        }
        guard lastCopy <= longestLockedCopy, ContinuousClock.now - start < Self.longestTrying else {
            throw StrataError(
                .persistentStoreTimeout, "Another process wrote to the store; nothing was changed. Try again.")
        }
        let guardian = try StoreGuard(path, patience: StoreGuard.usualPatience)
        defer { guardian.release() }
        defer { Self.remove(copy) }
        try store.readingAlone { try fill(copy, from: $0) }
        try whenCopied(true)
        try putInPlace(copy)
    }

    /// - Returns: false if another process wrote to the store while it was copied.
    private func isReplaced(byFree copy: String) throws -> Bool {
        defer { Self.remove(copy) }
        // The first two pages of the file when the copy began.
        let stamp = try store.reading { store in
            let stamp = try betweenCommits { try self.stamp() }
            try fill(copy, from: store)
            return stamp
        }
        try whenCopied(false)
        let guardian = try StoreGuard(path, patience: StoreGuard.usualPatience)
        defer { guardian.release() }
        guard try self.stamp() == stamp else { return false }
        try putInPlace(copy)
        return true
    }

    private func fill(_ copy: String, from store: Store) throws {
        let progress = ProgressLine()
        defer { progress.finish() }
        _ = try store.backup(to: URL(filePath: copy, directoryHint: .isDirectory), progress: progress.handler)
    }

    /// The caller has the store's guard.
    private func putInPlace(_ copy: String) throws {
        if endsBySignals { Interrupt.finish() }
        try exchange(with: copy + "/data.mdb")
        try exchangeSums(with: copy)
        try settle()
    }

    /// Calls `body` while no process can commit. A commit reaches the first pages before readers see it, so without the lock
    /// the copy could be older than those pages.
    private func betweenCommits<R>(_ body: () throws -> R) throws -> R {
        let lock = open(path + "/writer.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw failure("locked") }
        defer { close(lock) }
        let deadline = ContinuousClock.now + .seconds(30)
        while flock(lock, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure("locked") }
            guard ContinuousClock.now < deadline else {
                throw StrataError(
                    .persistentStoreTimeout, "Another process writes to the store; nothing was changed. Try again.",
                    context: .init(path: path))
            }
            usleep(1000)
        }
        return try body()
    }

    // MARK: The exchange

    private func exchange(with made: String) throws {
        var status = stat()
        guard stat(file, &status) == 0, chmod(made, status.st_mode & 0o777) == 0 else { throw failure("exchanged") }
        // From now on neither its checkpoint nor its journal keeps commits that are not synced.
        try sync(file, O_RDONLY)
        guard link(file, kept) == 0 || errno == EEXIST && unlink(kept) == 0 && link(file, kept) == 0 else {
            throw failure("kept")
        }
        // The sums of the old file's pages are none of the new one's.
        try removeSums()
        guard rename(made, file) == 0 else { throw failure("exchanged") }
        try syncDirectory()
    }

    private func syncDirectory() throws { try sync(path, O_RDONLY | O_DIRECTORY) }

    private func sync(_ path: String, _ flags: Int32) throws {
        let descriptor = open(path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("synced") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("synced") }
    }

    private static let sums = "/pages.sums"

    private func exchangeSums(with copy: String) throws {
        let made = copy + Self.sums
        // Without them the next writer makes new ones.
        guard access(made, F_OK) == 0 else { return }
        guard rename(made, path + Self.sums) == 0 else { throw failure("exchanged") }
    }

    private func removeSums() throws {
        guard unlink(path + Self.sums) == 0 || errno == ENOENT else { throw failure("exchanged") }
    }

    /// Verifies the new file under its final name, and puts the old one back if it is not sound.
    private func settle() throws {
        do {
            try whenExchanged()
            let report = try store.readingAlone { try $0.verify(.quick) }
            guard report.isSound else {
                throw StrataError(.corrupt, "The new file is damaged; the old one was put back.")
            }
        } catch {
            try removeSums()
            guard rename(kept, file) == 0 else { throw failure("put back") }
            try syncDirectory()
            throw error
        }
        try removeCheckpoint()
        if !keepsOld, unlink(kept) != 0 { throw failure("removed") }
    }

    /// Removes the checkpoint of the old file before that file's number can be given to another one.
    private func removeCheckpoint() throws {
        guard unlink(path + "/checkpoint") == 0 else {
            if errno == ENOENT { return }
            throw failure("exchanged")
        }
        try syncDirectory()
    }

    // MARK: Files

    /// The first two pages, which say which commit is the newest.
    private func stamp() throws -> Data {
        guard let handle = FileHandle(forReadingAtPath: file) else { throw failure("read") }
        defer { handle.closeFile() }
        return try handle.read(upToCount: 2 * Int(getpagesize())) ?? Data()
    }

    private func size() throws -> UInt64 {
        try store.checkIsThere()
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        return (attributes[.size] as? NSNumber)?.uint64Value ?? 0
    }

    private func failure(_ word: String) -> StrataError {
        StrataError(
            .persistentStoreOperation, "\(file) cannot be \(word): \(String(cString: strerror(errno))).")
    }

    private static func remove(_ path: String) {
        guard FileManager.default.fileExists(atPath: path) else { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            Output.printError("strata: \(path) could not be removed: \(error.systemReason)")
        }
    }
}
