#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB
import Locking
import Synchronization

/// One LMDB store: a directory with `data.mdb`, `lock.mdb` and `writer.lock`, open in this process.
///
///     let environment = try Environment.open(at: path)
///     let tables = try environment.openTables(["events", "objects"])
///     try environment.write { transaction in try transaction.append(tables[0], 1, bytes) }
///     let count = try environment.read { transaction in try transaction.count(tables[0]) }
///
/// The interface in short:
/// - `Environment.open(at:options:)`, `close()`, `reopen()`. A store is opened once a process: opening it again
///   returns the same environment, and the last `close()` (or the last reference) closes it.
/// - `openTables(_:)` returns the `Table` handles; it is called once, at the start.
/// - `read { }`, or `beginRead()` and `end(_:)`: a `ReadTransaction` with `get`, `count`, `statistics`, `cursor`,
///   `withCursor`. Idle ones are kept and renewed, so a short read costs tens of nanoseconds. Any thread.
/// - `write(timeout:) { }`, or `beginWrite(timeout:)` with `commit()` and `abort()`: a `WriteTransaction`, which adds
///   `put`, `insert`, `append`, `reserve`, `delete`, `clear` and `withWriteCursor`. It begins and ends on one thread.
///   `write` runs its body again when the map was full, so a body must be able to run twice.
/// - `sync()`, `copy(to:_:)`, `sweepStaleReaders()`, `readers()`, `info()`.
///
/// Every failure is an `LMDBError`; a transaction or cursor used after its end traps.
///
/// `handle` changes only while the gate keeps every transaction out, and each use of it is inside the gate. All other
/// state is constant or guards itself. That is why the class is `Sendable`.
package final class Environment: @unchecked Sendable {
    /// The store's directory, absolute.
    package let path: String
    /// The options it was opened with.
    package let options: EnvironmentOptions

    let directory: EnvironmentDirectory
    /// The data file's identity, under which the process knows the environment.
    let identity: FileIdentity
    let forkGuard: ForkGuard
    let gate = TransactionGate()
    let pool = ReaderPool()
    let bounds = MapBounds()
    let writerLock: WriterLock
    let folioSplitter: FolioSplitter
    let freePages = FreePages()
    let pageGuard: PageGuard
    let sums: PageSums
    /// The files that must keep their names while the environment is open.
    let guardedFiles: Locked<[(name: String, identity: FileIdentity)]>
    /// The tables in the order in which they were opened.
    let tableNames = Locked<[String]>([])
    /// How often tables were opened; held while they are, before any other lock.
    let tableOpenings = Locked(0)
    /// Whether the registry knows the environment; set once, before another thread can see it.
    @exclusivity(unchecked) var isRegistered = false
    /// Write transactions begun so far.
    let writeCount = Atomic<Int>(0)
    /// `PageSums.wipeCount` when LMDB's environment was opened.
    let knownWipeCount = Atomic<UInt64>(0)
    /// The number of commits that were sent to the disk early (`EarlyWriting`).
    let earlyWritingCount = Atomic<Int>(0)
    /// The number of further values that are read from copies of pages (`ReadTransaction.find`).
    let sparingReadsLeft: Atomic<Int>
    let checkpoints = Locked(CheckpointState())
    /// Nil for other durabilities than `journaled`, unless there is one from an earlier opening.
    let journal = Locked<CommitJournal?>(nil)
    /// Whether the process keeps the last checkpoint from being written on.
    let isPinned = Atomic<Bool>(false)
    /// Commits of this process since its last checkpoint.
    let unsyncedCommits = Atomic<Int>(0)
    package let heldPages = HeldPages()
    /// The number of failures to make the last checkpoint before closing.
    let checkpointFailures = Atomic<Int>(0)
    /// LMDB's environment; nil once closed.
    @exclusivity(unchecked) var handle: OpaquePointer?

    init(
        directory: EnvironmentDirectory, identity: FileIdentity, options: EnvironmentOptions
    ) throws(LMDBError) {
        self.directory = directory
        self.identity = identity
        self.options = options
        path = directory.path
        sparingReadsLeft = Atomic(options.sparingReads)
        forkGuard = try ForkGuard(path: path)
        guardedFiles = Locked([])
        sums = PageSums(isUsed: options.hasSums, isWritable: !options.isReadOnly, file: identity.number)
        pageGuard = PageGuard(path: path, sums: sums)
        folioSplitter = FolioSplitter(
            directory, isSynced: !options.isReadOnly && options.durability != .disposable)
        let usesWriterLock = !options.isReadOnly && options.residence == .named
        let descriptor =
            usesWriterLock
            ? try directory.openFile(
                EnvironmentDirectory.writerLockName, O_RDWR | O_CREAT, ownership: options.ownership
            )
            .descriptor : -1
        writerLock = WriterLock(descriptor: descriptor, path: path)
        handle = try openHandle()
        try openSums()
        try openCheckpoints()
        try openJournal()
    }

    deinit {
        guard !forkGuard.isInChild else { return }
        precondition(gate.count == 0, "An environment was released while transactions were open.")
        // One that failed to open is released by the registry itself, with its lock held.
        guard isRegistered else { return closeHandle() }
        EnvironmentRegistry.shared.forget(identity, ObjectIdentifier(self)) { closeHandle() }
    }

    /// Throws in a forked child, which has neither the locks nor the reader slots of its parent.
    @inline(__always)
    func checkProcess() throws(LMDBError) {
        if forkGuard.isInChild { throw failure(.usedAfterFork, "use an environment") }
    }

    @inline(never)
    func failure(_ code: LMDBError.Code, _ operation: String, detail: String = "") -> LMDBError {
        LMDBError(code, operation: operation, path: path, detail: detail)
    }

    @inline(never)
    func failure(_ result: Int32, _ operation: String) -> LMDBError {
        result == EAGAIN ? failure(.processIDInUse, operation) : SystemError.lmdb(result, operation, path)
    }

    /// LMDB's environment; only inside the gate.
    func activeHandle(_ operation: String) throws(LMDBError) -> OpaquePointer {
        guard let handle else { throw failure(.closed, operation) }
        return handle
    }

    /// Runs the body inside the gate with LMDB's environment.
    func withHandle<Success>(
        _ operation: String, _ body: (OpaquePointer) throws(LMDBError) -> Success
    ) throws(LMDBError) -> Success {
        try checkProcess()
        guard gate.enter() else { throw failure(.closed, operation) }
        defer { gate.leave() }
        return try body(try activeHandle(operation))
    }
}
