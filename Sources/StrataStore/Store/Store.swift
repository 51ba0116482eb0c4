import Logging
package import Foundation
import LMDB
import Locking
package import StrataModel
import Synchronization

/// An open store, as the modules above see it: the log, its views, and the one thread that writes them.
///
/// **The layer Store** offers what contexts, containers and the command line need: opening and models, snapshots to
/// read, saves, large values and observation here; `History` reads the log, `Migration` changes the model, `Verify`
/// checks the store, `Rebuild` rebuilds its views, and `Copy` makes backups and rescues damaged stores. The layers
/// below know nothing of `Store`.
///
/// Safe to use from any thread. Reads run on the calling thread in short read transactions and never wait for a writer.
/// Saves block the calling thread until they are committed; those that wait share one commit.
package final class Store: Sendable {
    package let location: StoreLocation
    let file: StoreFile
    let blobs: BlobStore
    let snapshots: SnapshotSource
    let conversions = ConvertedStates()
    private let writer: WriterThread
    private let lease: RowLease
    let feed = HeadFeed()
    let pins: StatePins
    private let finished = Locked<RebuildReport?>(nil)
    let mending = ViewMending()
    let scrubber = Locked<RepeatedWork?>(nil)
    let keeper = Locked<RepeatedWork?>(nil)
    private let checkpoints: RepeatedWork?
    let viewKeeper = Locked<ViewKeeper?>(nil)
    /// The store's side of a shared log.
    let node = Locked<LogNode?>(nil)
    private let isClosed = Atomic(false)

    /// - Throws: `BackgroundThread.Unavailable` if the system has no thread for the writer.
    init(location: StoreLocation, file: StoreFile, blobs: BlobStore) throws(BackgroundThread.Unavailable) {
        self.location = location
        self.file = file
        self.blobs = blobs
        snapshots = SnapshotSource(file)
        pins = .of(file.environment)
        let committer = CommitterBox(Committer(file, blobs, snapshots.statistics))
        let writer = try WriterThread(
            name: "strata.writer",
            WriterThread.Duties(
                work: { committer.commit($0, joining: $1) }, isTidyingDue: { committer.isTidyingDue },
                tidy: { committer.tidy() },
                holdLock: { try file.environment.holdWriterLock(timeout: file.options.writerLockTimeout) },
                releaseLock: { file.environment.releaseWriterLock() }))
        self.writer = writer
        checkpoints = try RepeatedWork.checkpoints(of: file)
        lease = RowLease(
            size: file.options.rowLeaseSize, lease: { try file.leaseRows($0, on: writer) },
            inBackground: { job in _ = writer.submit(Submission(.run(job))) })
    }

    deinit { close() }

    /// The store's id, part of every object's URI.
    package var identifier: UUID { file.header.identifier }
    /// Renewed when a backup is restored.
    package var lineage: UUID { file.header.lineage }
    package var isReadOnly: Bool { file.options.isReadOnly }
    /// Whether the store takes over transactions of another one, and is otherwise only read.
    package var isStandby: Bool { file.header.isStandby }
    package var durability: StoreDurability { file.options.durability }
    /// The directory of the store's files.
    package var path: String { file.path }
    /// Compiles and keeps the shapes of requests to this store.
    package var shapes: QueryShapeCache { snapshots.shapes }

    /// The report of a rebuild that was interrupted, and that opening the store has finished.
    package var finishedRebuild: RebuildReport? { finished.withLock { $0 } }
    func noteFinished(_ report: RebuildReport) { finished.withLock { $0 = report } }

    /// The newest installed model that this process has seen; the same object until another is installed.
    package var schema: Schema {
        guard let newest = file.histories.newest else {
            preconditionFailure("A store is opened with a model or has one.")
        }
        return newest
    }

    /// Every model of the store that this process has seen, oldest first.
    ///
    /// - Throws: `corrupt` if the record of one cannot be decoded.
    package var schemas: [Schema] { get throws(StrataError) { try file.histories.schemas } }

    /// Lets waiting saves finish and closes the files. Using the store afterwards throws `storeClosed`.
    package func close() {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        feed.stop()
        scrubber.withLock { $0?.stop() }
        keeper.withLock { $0?.stop() }
        checkpoints?.stop()
        viewKeeper.withLock { $0 }?.stopAndWait()
        let node = node.withLock { $0 }
        node?.stopReceiving()
        let unused = lease.takeUnused()
        if !unused.isEmpty, node == nil, case .directory = location {
            _ = writer.submit(Submission(.run { [file] in file.giveBackRows(unused) }))
        }
        writer.stopAndWait()
        node?.close()
        file.gate.withLock { $0 = nil }
        blobs.close()
        do {
            try file.environment.close()
        } catch {
            // The data is safe in any case: every save was committed before it returned.
            StoreLogger.shared.warning("closing the store failed: \(error)")
        }
    }

    package func checkOpen() throws {
        if isClosed.load(ordering: .acquiring) {
            throw closedError
        }
    }

    // MARK: Ids

    /// A new object's id, never given before. Needs I/O once in 2^20 ids.
    package func newObjectID(in entity: EntityID) throws -> ObjectID {
        if isReadOnly { throw StrataError(.readOnly, "The store is open for reading only.") }
        return ObjectID(entity: entity, row: try lease.next())
    }

    /// Row numbers that were never given before, without a gap between them, in a commit of their own.
    package func newRows(count: UInt64) throws -> Range<UInt64> {
        if isReadOnly { throw StrataError(.readOnly, "The store is open for reading only.") }
        return try file.leaseRows(count, on: writer)
    }

    // MARK: Saving

    /// Checks the changes at the head, appends them to the log and commits; blocks until that is done.
    ///
    /// - Parameter turn: the exclusive turn that the caller holds, if any; without one the save waits while another
    ///   caller holds it.
    /// - Returns: the save's position in the log, or the changes that must be merged first; then nothing was written.
    /// - Throws: `constraintMerge`, `modelChanged`, `saveTooLarge`, `noSpace`, `persistentStoreTimeout`, `inDoubt`,
    ///   `readOnly`. Nothing was written, except that this is unknown with `inDoubt`.
    package func save(_ changes: ChangeSet, turn: SaveTurn? = nil) throws -> SaveOutcome {
        try submit(changes, turn, to: WriterThread.submitOrWrite).wait()
    }

    /// Submits a save without waiting for it; the caller waits for the returned value later.
    package func beginSave(_ changes: ChangeSet, turn: SaveTurn? = nil) throws -> SaveInProgress {
        try submit(changes, turn, to: WriterThread.submit)
    }

    private func submit(
        _ changes: ChangeSet, _ turn: SaveTurn?, to way: (WriterThread) -> (Submission) -> Bool
    ) throws -> SaveInProgress {
        try checkOpen()
        if isReadOnly || file.options.receivesOnly {
            throw StrataError(.readOnly, "The store is open for reading only.", context: .init(path: path))
        }
        let submission = Submission(.save(changes), turn: turn)
        guard way(writer)(submission) else { throw closedError }
        return SaveInProgress(store: self, submission: submission)
    }

    var closedError: StrataError {
        StrataError(.storeClosed, "The store is closed.", context: .init(path: path))
    }

    /// Waits for an exclusive turn. Saves without it, of this process and others, then wait until the turn ends or
    /// `limit` (`StoreOptions.turnLimit`) has passed. Reads, leases and large values go on.
    ///
    /// - Throws: `persistentStoreTimeout` if writers of other processes do not finish, `readOnly`, `storeClosed`.
    package func takeTurn(limit: Duration? = nil) throws -> SaveTurn {
        try checkOpen()
        let turn = SaveTurn(limit: limit ?? file.options.turnLimit) { [weak writer] in writer?.wake() }
        let submission = Submission(.turn(turn))
        guard writer.submit(submission) else {
            throw closedError
        }
        do {
            _ = try submission.wait()
        } catch {
            throw file.publicError(error, during: "waiting for a turn to save")
        }
        return turn
    }

    /// Whether a transaction with this id is in the log.
    package func hasTransaction(_ id: UUID) throws -> Bool {
        try checkOpen()
        return try file.read { transaction, _, _ in try file.transaction(id: id, transaction) != nil }
    }

    /// The number of saves that wait for the writer.
    package var waitingSaveCount: Int { writer.waitingSaveCount }

    /// `onWriter` without the store, for a thread that must not keep it alive.
    func jobsOnWriter() -> @Sendable (@escaping @Sendable () throws -> Void) throws -> Void {
        { [writer, closedError] job in
            let submission = Submission(.run(job))
            guard writer.submit(submission) else { throw closedError }
            _ = try submission.wait()
        }
    }

    /// Begins to receive transactions that others append to the shared log, if there is one.
    func startReceiving() throws {
        guard let node = node.withLock({ $0 }) else { return }
        do {
            try node.startReceiving()
        } catch {
            throw file.publicError(error, during: "beginning to receive transactions")
        }
    }

    /// Begins to keep the views that another process declares while the store is open.
    func watchForModels() {
        file.modelHandler.withLock {
            $0 = { [weak self] in
                // A transaction may be open here.
                _ = self?.writer.submit(Submission(.run { [weak self] in self?.beginKeepingViews() }))
            }
        }
    }

    /// Runs a job on the writer's thread, after the saves that wait now.
    func onWriter(_ job: @escaping @Sendable () throws -> Void) throws {
        try checkOpen()
        let submission = Submission(.run(job))
        guard writer.submit(submission) else {
            throw closedError
        }
        _ = try submission.wait()
    }

    // MARK: Blobs

    /// Keeps files of large values from being swept. Hold it from the first `stageBlob` until the save is over.
    package func beginBlobLease() throws -> BlobLease { try blobs.lease() }

    /// Removes files of large values that no event names, as a crash between writing and committing leaves them.
    ///
    /// - Returns: how many were removed; 0 while a lease is held.
    @discardableResult
    package func sweepBlobs() throws -> Int {
        try checkOpen()
        do {
            return try blobs.sweep()
        } catch {
            throw file.publicError(error, during: "sweeping large values")
        }
    }

    /// Sweeps soon, on the writer's thread. A failure is logged, and the next opening tries again.
    func sweepBlobsInBackground() {
        let job = Submission(
            .run { [self] in
                do {
                    let count = try sweepBlobs()
                    if count > 0 { StoreLogger.shared.info("removed \(count) orphaned large values in \(path)") }
                } catch let error as StrataError where error.code == .storeClosed {
                    // The store was closed soon after it was opened; the next opening sweeps.
                } catch {
                    StoreLogger.shared.warning("sweeping large values in \(path) failed: \(error)")
                }
            })
        _ = writer.submit(job)
    }

    /// Writes a large value beside the store, synced; the caller holds a lease.
    package func stageBlob(_ data: Data) throws -> BlobReference {
        let reference = try blobs.stage(data)
        if let node = node.withLock({ $0 }) { try node.publish(blob: data, digest: reference.digest) }
        return reference
    }

    /// Writes a large value that is read in pieces, twice; otherwise as `stageBlob(_:)`.
    package func stageBlob(_ bytes: BytesInPieces) throws -> BlobReference {
        // A shared log takes a value as a whole.
        try node.withLock({ $0 }) == nil ? blobs.stage(bytes) : stageBlob(try bytes.data())
    }

    /// Compares the bytes of a large value with its digest, in pieces.
    ///
    /// - Throws: `missingBlob` if the file is gone or its bytes do not match.
    package func checkBlob(_ reference: BlobReference) throws { try blobs.check(reference) }

    /// The bytes of a large value.
    ///
    /// - Throws: `missingBlob` if the file is gone or its bytes do not match.
    package func blob(_ reference: BlobReference) throws -> Data { try blobs.read(reference) }
}

/// Passes the committer to the threads that write, one at a time, as `WriterThread` ensures.
private final class CommitterBox: @unchecked Sendable {
    private let committer: Committer

    init(_ committer: Committer) { self.committer = committer }

    func commit(_ group: [Submission], joining: () -> [Submission]) -> [Submission.Answer] {
        committer.commit(group, joining: joining)
    }
    var isTidyingDue: Bool { committer.isTidyingDue }
    func tidy() { committer.tidy() }
}
