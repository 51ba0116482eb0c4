#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB
import Locking
import Synchronization

// Makes checkpoints, keeps their pages, and goes back to the last one after a power cut.

/// Keeps the checkpoint of a `checkpointed` environment as it is, by a read transaction at its commit or before.
///
/// LMDB overwrites no page that a reader may need. So while each process that writes has such a transaction, its *pin*,
/// the pages of the checkpoint stay as they were synced. The lock of the state guards `pin`.
struct CheckpointState: @unchecked Sendable {
    /// Nil for durabilities without checkpoints.
    var file: CheckpointFile?
    var pin: OpaquePointer?
}

extension Environment {
    // MARK: After a power cut

    /// Takes a store back to its last checkpoint if the system or the disk has stopped since the last commit. Before
    /// any of its files is read. Does nothing for stores without checkpoints, and while a process uses the store.
    ///
    /// - Throws: `noSpaceOrIO`, `permissionDenied`; `corrupted` if the file does not have the checkpoint any more.
    /// - Complexity: a read of every page in use, if it goes back.
    package static func restoreCheckpoint(
        at directoryPath: String, ownership: FileOwnership
    ) throws(LMDBError) {
        let directory: EnvironmentDirectory
        do {
            directory = try EnvironmentDirectory(path: directoryPath, createIfMissing: false)
            guard try directory.status(of: CheckpointFile.name) != nil else { return }
        } catch {
            // Opening the store reports the problem.
            return
        }
        let file = CheckpointFile(
            try directory.openFile(CheckpointFile.name, O_RDWR, ownership: ownership).descriptor)
        guard file.exclude() else { return }
        guard var checkpoint = file.newest else {
            guard file.isDamaged else { return }
            throw LMDBError(
                .corrupted, operation: "go back to the last checkpoint", path: directoryPath,
                detail: "the file of checkpoints is damaged")
        }
        let data = try directory.openFile(EnvironmentDirectory.dataName, O_RDWR, ownership: ownership)
        defer { EnvironmentDirectory.closeFile(data.descriptor) }
        let session = FileSession(of: data.descriptor)
        guard checkpoint.session != session else { return }
        guard checkpoint.isWhole(in: data.descriptor) else {
            // A data file from elsewhere stays as it is.
            guard checkpoint.file == data.identity.number else { return }
            throw LMDBError(
                .corrupted, operation: "go back to the last checkpoint", path: directoryPath,
                detail: "the system has stopped since the store was written, and pages of the checkpoint are damaged")
        }
        checkpoint.file = data.identity.number
        // They belong to pages that are gone.
        directory.remove(EnvironmentDirectory.sumsName)
        for slot in 0..<UInt64(2) {
            let words = checkpoint.metaPage(slot: slot)
            let offset = off_t(slot) * off_t(checkpoint.pageSize)
            guard pwrite(data.descriptor, words, 8 * words.count, offset) == 8 * words.count else {
                throw SystemError.current("go back to the last checkpoint", directoryPath)
            }
        }
        guard CheckpointFile.sync(data.descriptor) == 0 else {
            throw SystemError.current("go back to the last checkpoint", directoryPath)
        }
        checkpoint.number += 1
        // While the journal has more, this is done again, so that no reader takes the checkpoint for the newest state.
        let isDone = try !hasJournal(in: directory, after: checkpoint, ownership)
        if isDone { checkpoint.session = session }
        let result = file.write(checkpoint)
        guard result == 0 else { throw SystemError.lmdb(result, "go back to the last checkpoint", directoryPath) }
    }

    /// Whether the journal has commits that a checkpoint has not.
    private static func hasJournal(
        in directory: EnvironmentDirectory, after checkpoint: Checkpoint, _ ownership: FileOwnership
    ) throws(LMDBError) -> Bool {
        guard try directory.status(of: CommitJournal.name) != nil else { return false }
        let journal = CommitJournal(
            try directory.openFile(CommitJournal.name, O_RDONLY, ownership: ownership).descriptor)
        return journal.isMade && journal.hasEntries(after: checkpoint.commit)
    }

    /// Refuses to open a store for reading only if it has to go back to its checkpoint, or has a journal to replay, first.
    func refuseUnrestored() throws(LMDBError) {
        guard options.isReadOnly, options.refusesUnrestored, try directory.status(of: CheckpointFile.name) != nil else {
            return
        }
        let file = CheckpointFile(try directory.openFile(CheckpointFile.name, O_RDONLY))
        guard let checkpoint = file.newest, checkpoint.file == identity.number,
            checkpoint.session.start != FileSession(of: descriptor).start
        else { return }
        // A newer commit may have come to the disk in part.
        if head(of: checkpoint.commit) == checkpoint.head, !hasHead(after: checkpoint.commit) {
            guard try Self.hasJournal(in: directory, after: checkpoint, options.ownership) else { return }
        }
        throw failure(.unrestored, "open the environment", detail: Self.unrestoredDetail)
    }

    /// Whether the file has the meta page of a later commit, or may have.
    private func hasHead(after commit: UInt64) -> Bool {
        guard let handle else { return true }
        let pageSize = Self.shape(of: handle).pageSize
        return (0..<2).contains { slot in
            guard let bytes = [UInt8](descriptor, at: slot * pageSize, count: MetaPage.size) else { return true }
            return bytes.withUnsafeBytes { MetaPage($0).transaction > commit }
        }
    }

    static let unrestoredDetail = "the system has stopped since it was written"

    /// Whether a data file has a checkpoint, and the system has been started since that was made.
    static func isUnrestored(_ directory: EnvironmentDirectory) throws(LMDBError) -> Bool {
        guard try directory.status(of: CheckpointFile.name) != nil else { return false }
        let file = CheckpointFile(try directory.openFile(CheckpointFile.name, O_RDONLY))
        let data = try directory.openFile(EnvironmentDirectory.dataName, O_RDONLY, ownership: .unchecked)
        defer { EnvironmentDirectory.closeFile(data.descriptor) }
        guard let checkpoint = file.newest, checkpoint.file == data.identity.number else { return false }
        return checkpoint.session.start != FileSession(of: data.descriptor).start
    }

    // MARK: Making checkpoints

    /// Opens the file of checkpoints, or removes it if the durability has no checkpoints.
    func openCheckpoints() throws(LMDBError) {
        try refuseUnrestored()
        guard !options.isReadOnly, options.residence == .named else { return }
        guard options.durability.hasCheckpoints else { return try endCheckpoints() }
        let file = CheckpointFile(
            try directory.openFile(CheckpointFile.name, O_RDWR | O_CREAT, ownership: options.ownership).descriptor)
        switch file.share(until: .now + options.openingTimeout) {
        case 0: break
        case EWOULDBLOCK:
            throw failure(
                .busy, "open the environment",
                detail: "another process takes the store back to its checkpoint, or moves its files")
        case let number: throw SystemError.lmdb(number, "lock the checkpoint", path)
        }
        checkpoints.withLock { $0.file = file }
    }

    private func endCheckpoints() throws(LMDBError) {
        guard try directory.status(of: CheckpointFile.name) != nil else { return }
        let file = CheckpointFile(try directory.openFile(CheckpointFile.name, O_RDWR))
        guard file.exclude() else {
            throw failure(
                .conflictingOptions, "open the environment", detail: "another process has it with checkpoints")
        }
        // From now on no checkpoint keeps commits that are not synced yet.
        try sync()
        directory.remove(CheckpointFile.name)
        try directory.synchronize()
    }

    /// Whether a write transaction needs no checkpoint before it.
    var isCheckpointKept: Bool { !options.durability.hasCheckpoints || isPinned.load(ordering: .relaxed) }

    /// Makes the newest commit the checkpoint, and pins it.
    ///
    /// Inside the gate. Under the writer's lock if there is no pin, so that the newest commit stays the newest.
    /// - Throws: `busy` if another process makes one until `EnvironmentOptions.writerLockTimeout`; `noSpaceOrIO`,
    ///   `readersFull`, `panic`; the checkpoint before stays then.
    /// - Complexity: a sync of the file; none where the newest commit is the checkpoint already.
    func makeCheckpoint() throws(LMDBError) {
        try checkpoints.withLock { state throws(LMDBError) in
            guard let file = state.file, let handle else { return }
            let held = heldPages.count.load(ordering: .relaxed)
            let pin = try file.alone(timeout: options.writerLockTimeout, path: path) { () throws(LMDBError) in
                let count = unsyncedCommits.load(ordering: .relaxed)
                let (pin, head) = try newPin(handle)
                do throws(LMDBError) {
                    try write(head, file, handle)
                } catch {
                    mdb_txn_abort(pin)
                    throw error
                }
                unsyncedCommits.subtract(count, ordering: .relaxed)
                return pin
            }
            if let old = state.pin { mdb_txn_abort(old) }
            state.pin = pin
            isPinned.store(true, ordering: .relaxed)
            heldPages.release(held)
        }
    }

    private func write(_ head: [UInt64], _ file: CheckpointFile, _ handle: OpaquePointer) throws(LMDBError) {
        let newest = file.newest
        var next = Checkpoint(
            number: (newest?.number ?? 0) + 1, session: FileSession(of: descriptor), file: identity.number, head: head)
        if let newest {
            next.number = newest.number
            if next == newest { return }
            next.number += 1
        }
        let result = mdb_env_sync(handle, 1)
        guard result == 0 else { throw failure(result, "make a checkpoint") }
        let written = file.write(next)
        guard written == 0 else { throw SystemError.lmdb(written, "make a checkpoint", path) }
        // The file's name must survive a power cut too.
        if newest == nil { try directory.synchronize() }
    }

    /// A read transaction of LMDB at the newest commit, and the commit's meta page.
    ///
    /// - Throws: `busy` if a process stays between the two writes of a commit, the meta page and the number in the lock
    ///   file, because it was halted or killed there. The next writer mends that.
    private func newPin(_ handle: OpaquePointer) throws(LMDBError) -> (OpaquePointer, [UInt64]) {
        let deadline = ContinuousClock.now + options.writerLockTimeout
        while true {
            var begun: OpaquePointer?
            let result = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &begun)
            guard result == 0, let pin = begun else { throw failure(result, "make a checkpoint") }
            let commit = UInt64(mdb_txn_id(pin))
            // Its meta page is written on by the second commit after it, which begins when the first has ended.
            if let head = head(of: commit), UInt64(Self.shape(of: handle).info.me_last_txnid) == commit {
                return (pin, head)
            }
            mdb_txn_abort(pin)
            guard ContinuousClock.now < deadline else {
                throw failure(
                    .busy, "make a checkpoint", detail: "another process has stopped in the middle of a commit")
            }
        }
    }

    /// The meta page of a commit as the file has it now; nil if it is that of another one.
    private func head(of commit: UInt64) -> [UInt64]? {
        guard let handle else { return nil }
        let offset = Int(commit & 1) * Self.shape(of: handle).pageSize
        guard let bytes = [UInt8](descriptor, at: offset, count: MetaPage.size) else { return nil }
        return bytes.withUnsafeBytes { bytes in
            guard MetaPage(bytes).transaction == commit else { return nil }
            var words = (0..<Checkpoint.headWordCount).map {
                bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self)
            }
            words[0] = 0
            return words
        }
    }

    /// Does the regular work, about once a second: a checkpoint after commits, and releasing the pin where this process
    /// does not write any more, so that the pages of old commits can be used again.
    ///
    /// - Throws: `noSpaceOrIO`, `closed`.
    package func keepCheckpoints() throws(LMDBError) {
        guard options.durability.hasCheckpoints, isPinned.load(ordering: .relaxed) else { return }
        try withHandle("make a checkpoint") { _ throws(LMDBError) in
            if unsyncedCommits.load(ordering: .relaxed) > 0 { return try makeCheckpoint() }
            do throws(LMDBError) {
                try writerLock.acquire(timeout: .zero)
            } catch {
                return
            }
            defer { writerLock.release() }
            // A writer may have come in between.
            if unsyncedCommits.load(ordering: .relaxed) == 0 { dropPin() }
        }
    }

    private func dropPin() {
        checkpoints.withLock { state in
            isPinned.store(false, ordering: .relaxed)
            if let pin = state.pin { mdb_txn_abort(pin) }
            state.pin = nil
        }
    }

    /// Makes the last checkpoint before LMDB's environment is closed. Without it the store goes back to an earlier one
    /// at the next power cut.
    func endPin() {
        guard isPinned.load(ordering: .relaxed) else { return }
        if unsyncedCommits.load(ordering: .relaxed) > 0 {
            do throws(LMDBError) { try makeCheckpoint() } catch { checkpointFailures.add(1, ordering: .relaxed) }
        }
        dropPin()
    }
}

extension FileSession {
    /// The present one of an open file.
    init(of descriptor: Int32) {
        self.init(start: PageSums.systemStart ?? PageSums.processSession, mount: PageSums.mount(of: descriptor))
    }
}
