#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB
import Locking
import Synchronization

// Begins write transactions under the writer's lock, and lets the next ones in after a commit or abort.

extension Environment {
    /// Runs the body in a write transaction on the calling thread and commits it, or aborts it if the body throws.
    ///
    /// When the map is full the transaction is aborted, the map grows, and the body is run again; so it must not
    /// change anything outside the transaction that it cannot change twice.
    /// - Throws: what the body throws; `busy` when other writers do not finish before the timeout; what
    ///   `WriteTransaction.commit()` throws.
    package func write<Success>(
        timeout: Duration? = nil, _ body: (WriteTransaction) throws -> Success
    ) throws -> Success {
        while true {
            let transaction = try beginWrite(timeout: timeout)
            let mapSize = mapSizeInBytes
            do {
                try transaction.gatherFreePages()
                let result = try body(transaction)
                try transaction.commit()
                return result
            } catch {
                if transaction.isOpen, let unknown = transaction.abort() { throw unknown }
                guard transaction.metMapFull else { throw error }
                try growMap(from: mapSize)
            }
        }
    }

    /// Begins a write transaction on the calling thread, which must also commit or abort it.
    ///
    /// For a caller that decides itself when to commit. If an operation throws `mapFull`: abort, `growMap()`, and begin
    /// again.
    /// - Throws: `busy` when other writers do not finish before the timeout, `readOnly`, `fileReplaced`, `panic`.
    package func beginWrite(timeout: Duration? = nil) throws(LMDBError) -> WriteTransaction {
        try checkProcess()
        if options.isReadOnly { throw failure(.readOnly, "begin a write transaction") }
        try writerLock.acquire(timeout: timeout ?? options.writerLockTimeout)
        do {
            try checkFilesInPlace()
            try forgetWipedPages()
            return try beginLocked()
        } catch {
            writerLock.release()
            throw error
        }
    }

    /// Keeps other writers, of this process and of others, from beginning until `releaseWriterLock()`. Write
    /// transactions of this thread begin at once. No transaction is open meanwhile, so readers are not affected.
    /// - Throws: `busy` when other writers do not finish before the timeout, `readOnly`, `usedAfterFork`.
    package func holdWriterLock(timeout: Duration? = nil) throws(LMDBError) {
        try checkProcess()
        if options.isReadOnly { throw failure(.readOnly, "hold the writer lock") }
        try writerLock.keep(timeout: timeout ?? options.writerLockTimeout)
    }

    /// Lets other writers in again; called on the thread that holds the lock.
    package func releaseWriterLock() { writerLock.giveUp() }

    /// Opens LMDB's environment again after another process has overwritten unused bytes: LMDB writes pages from memory
    /// that still holds earlier ones. Where transactions of this process are open, a later write does it.
    private func forgetWipedPages() throws(LMDBError) {
        guard sums.isUsed, sums.wipeCount != knownWipeCount.load(ordering: .relaxed) else { return }
        do throws(LMDBError) {
            try reopen(timeout: .milliseconds(50))
        } catch {
            guard error.code == .busy else { throw error }
        }
    }

    private func beginLocked() throws(LMDBError) -> WriteTransaction {
        var result: Int32 = 0
        for _ in 0..<8 {
            guard gate.enter() else { throw failure(.closed, "begin a write transaction") }
            guard let handle else {
                gate.leave()
                throw failure(.closed, "begin a write transaction")
            }
            sweepReadersEveryFewWrites(handle)
            var begun: OpaquePointer?
            result = mdb_txn_begin(handle, nil, 0, &begun)
            if result == 0, let begun { return try noted(WriteTransaction(environment: self, handle: begun)) }
            gate.leave()
            guard result == MDB_MAP_RESIZED else { break }
            try followMapSize()
        }
        throw failure(result, "begin a write transaction")
    }

    /// A transaction that has begun, once the commit before it is sealed and the trees of LMDB itself are looked at.
    private func noted(_ transaction: WriteTransaction) throws(LMDBError) -> WriteTransaction {
        // Another build of LMDB: a transaction that an assertion has left could not be ended.
        if clmdb_can_abandon(transaction.active, UInt32(options.maximumTables)) == 0 { clmdb_unwatch(handle) }
        do throws(LMDBError) {
            try pageGuard.checkLength()
            try sealBeforeWriting()
            if !isCheckpointKept { try makeCheckpoint() }
            guard transaction.noteCommit() else {
                let commit = transaction.number - 1
                throw failure(
                    .corrupted, "begin a write transaction",
                    detail: "meta page \(commit & 1) is not that of commit \(commit)")
            }
            try transaction.admission?.admitTreesOfLMDB()
        } catch {
            transaction.drop()
            gate.leave()
            throw error
        }
        return transaction
    }

    /// Begins to send pages to the disk early, for the commit of a transaction that took `duration`. Nil also where the
    /// commit does not wait for the pages.
    func beginEarlyWriting(after duration: Duration) -> EarlyWriting? {
        guard options.durability != .disposable, !options.durability.hasCheckpoints else { return nil }
        let early = EarlyWriting(descriptor, after: duration)
        if early != nil { earlyWritingCount.add(1, ordering: .relaxed) }
        return early
    }

    /// Counts a commit that succeeded; comes before `writeEnded`.
    func noteCommit() {
        unsyncedCommits.add(1, ordering: .relaxed)
        freePages.committed()
        guard folioSplitter.isOfUse, let handle else { return }
        folioSplitter.committed(size: Self.fileSize(of: handle), mapAddress: bounds.lower.load(ordering: .relaxed))
    }

    /// Lets the next transactions in after a commit or abort.
    func writeEnded() {
        gate.leave()
        writerLock.release()
    }

    /// Refuses to write when a file has lost its name: without a common lock file two processes would write at once,
    /// and a data file without a name is lost with its last user.
    private func checkFilesInPlace() throws(LMDBError) {
        let lost = guardedFiles.withLock { files in
            files.first { !directory.holds($0.name, as: $0.identity) }?.name
        }
        if let lost { throw failure(.fileReplaced, "begin a write transaction", detail: lost) }
    }

    /// Distinguishes a commit that did not happen from one that may have happened.
    ///
    /// LMDB marks its environment as broken if and only if the write of the meta page failed: then every later
    /// transaction fails with PANIC. A failure before that write leaves the previous commit in force. This asks with a
    /// write transaction, which needs no reader slot; the writer lock is still held.
    func classifyFailedCommit(_ result: Int32) -> LMDBError {
        guard result > 0, let handle else { return failure(result, "commit") }
        var probe: OpaquePointer?
        let isBroken = mdb_txn_begin(handle, nil, 0, &probe) == MDB_PANIC
        if let probe { mdb_txn_abort(probe) }
        if isBroken { return LMDBError(.outcomeUnknown, operation: "commit", path: path, errno: result) }
        return SystemError.lmdb(result, "commit", path, detail: freeSpace)
    }

    /// The free space on the disk, in words: LMDB reports a short write as an I/O error even when the disk is full.
    private var freeSpace: String { freeSpaceInBytes.map { "\($0) bytes are free on the disk" } ?? "" }

    /// The free space on the disk for users other than root; nil when the system does not say.
    package final var freeSpaceInBytes: UInt64? {
        var status = statvfs()
        guard fstatvfs(directory.descriptor, &status) == 0 else { return nil }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }

    /// Frees the slots of dead readers, every 256th transaction: each of them keeps pages from being reused.
    private func sweepReadersEveryFewWrites(_ handle: OpaquePointer) {
        let count = writeCount.add(1, ordering: .relaxed).oldValue
        if options.locking == .shared, count % 256 == 255 { _ = mdb_reader_check(handle, nil) }
    }
}
