import Logging
package import Foundation
import LMDB
import Locking
package import StrataModel
import Synchronization

/// An open store: the log, its views, and the one thread that writes them.
///
/// Safe to use from any thread. Reads run on the calling thread in short read transactions and never wait for a writer;
/// saves block the calling thread until they are committed, and those that wait share one commit.
package final class Store: Sendable {
    package let location: StoreLocation
    let core: StoreCore
    let blobs: BlobStore
    let lag = LagLayers()
    private let writer: WriterThread
    private let lease: RowLease
    let feed = HeadFeed()
    private let finished = Locked<RebuildReport?>(nil)
    private let isClosed = Atomic(false)

    /// - Throws: `BackgroundThread.Unavailable` when the system has no thread for the writer.
    init(location: StoreLocation, core: StoreCore, blobs: BlobStore) throws(BackgroundThread.Unavailable) {
        self.location = location
        self.core = core
        self.blobs = blobs
        let committer = CommitterBox(Committer(core, blobs))
        let writer = try WriterThread(
            name: "strata.writer",
            WriterThread.Duties(
                work: { committer.commit($0, joining: $1) }, isTidyingDue: { committer.isTidyingDue },
                tidy: { committer.tidy() },
                holdLock: { try core.environment.holdWriterLock(timeout: core.options.writerLockTimeout) },
                releaseLock: { core.environment.releaseWriterLock() }))
        self.writer = writer
        lease = RowLease(
            size: core.options.rowLeaseSize, lease: { try core.leaseRows($0, on: writer) },
            inBackground: { job in _ = writer.submit(Submission(.run(job))) })
    }

    deinit { close() }

    /// The store's id, part of every object's URI.
    package var identifier: UUID { core.header.identifier }
    /// Renewed when a backup is restored.
    package var lineage: UUID { core.header.lineage }
    package var isReadOnly: Bool { core.options.isReadOnly }
    package var durability: StoreDurability { core.options.durability }
    /// The directory of the store's files.
    package var path: String { core.path }
    /// Compiles and keeps the shapes of requests to this store.
    package var shapes: QueryShapeCache { core.queries }

    /// What opening the store did, where a rebuild had been cut short.
    package var finishedRebuild: RebuildReport? { finished.withLock { $0 } }
    func noteFinished(_ report: RebuildReport) { finished.withLock { $0 = report } }

    /// The newest model installed, as far as this process has seen; the same object until another is installed.
    package var schema: Schema {
        guard let newest = core.histories.newest else {
            preconditionFailure("A store is opened with a model or has one.")
        }
        return newest
    }

    /// Every model the store has had, as far as this process has seen, oldest first.
    ///
    /// - Throws: `corrupt` when the record of one makes no sense.
    package var schemas: [Schema] { get throws(StrataError) { try core.histories.schemas } }

    /// Lets waiting saves finish and closes the files. Using the store afterwards throws `storeClosed`.
    package func close() {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        feed.stop()
        writer.stopAndWait()
        blobs.close()
        do {
            try core.environment.close()
        } catch {
            // The data is safe whatever close says: every save was committed before it returned.
            StoreLog.logger.warning("closing the store failed: \(error)")
        }
    }

    package func checkOpen() throws {
        if isClosed.load(ordering: .acquiring) {
            throw closedError
        }
    }

    // MARK: Ids

    /// A new object's id, never given before and never again. No I/O but once in 2^20 ids.
    package func newObjectID(in entity: EntityID) throws -> ObjectID {
        if isReadOnly { throw StrataError(.readOnly, "The store is open for reading only.") }
        return ObjectID(entity: entity, row: try lease.next())
    }

    // MARK: Reading

    /// The end of the log.
    package func head() throws -> EventNumber {
        try checkOpen()
        return try core.read { _, head, _ in head }
    }

    /// Runs `body` over the state at `sequence`, with `layers` (bottom to top) above it.
    ///
    /// - Parameter schema: the model to read through; nil is the newest. Through an older one the state is as it was
    ///   under it, with the types of then.
    /// - Throws: `futureSequence`, `historyDropped`, `corrupt`, `modelChanged` when the state was written under a newer
    ///   model than `schema`, and what `body` throws.
    @inlinable
    package func read<R>(
        at eventNumber: EventNumber, layers: [Layer] = [], through schema: Schema? = nil,
        monitor: QueryMonitor? = nil, _ body: (Snapshot) throws -> R
    ) throws -> R {
        var result: R?
        try withSnapshot(at: eventNumber, layers: layers, through: schema, monitor: monitor) { result = try body($0) }
        guard let result else { preconditionFailure("A read ended without having run.") }
        return result
    }

    /// The part of `read` that is the same for all results.
    package func withSnapshot(
        at eventNumber: EventNumber, layers: [Layer], through schema: Schema?, monitor: QueryMonitor?,
        _ body: (Snapshot) throws -> Void
    ) throws {
        try checkOpen()
        try core.read { transaction, head, newest in
            let snapshot = try snapshot(at: eventNumber, layers: layers, through: schema, transaction, head, newest)
            if let monitor {
                try monitor.check()
                snapshot.monitor = monitor
            }
            try body(snapshot)
        }
    }

    /// The state at `sequence` with `layers` above it, in a read transaction whose head and models are known.
    @inline(__always)
    func snapshot(
        at eventNumber: EventNumber, layers: [Layer], through schema: Schema?, _ transaction: ReadTransaction,
        _ head: EventNumber, _ newest: SchemaHistory
    ) throws -> Snapshot {
        guard eventNumber <= head else {
            throw StrataError(.futureSequence, "The log ends at \(head).", context: .init(eventNumber: eventNumber))
        }
        let histories = try core.histories(newest, through: schema, at: eventNumber, transaction)
        guard let schema = histories.newest else {
            throw StrataError(.invalidModel, "The store has no model.", context: .init(path: path))
        }
        var stack = layers
        if eventNumber != head {
            stack.insert(contentsOf: try lag.layers(at: eventNumber, head: head, transaction, core, histories), at: 0)
        }
        return Snapshot(
            eventNumber: eventNumber, schema: schema, transaction: transaction, tables: core.tables,
            histories: histories,
            layers: stack, statistics: core.statistics, queries: core.queries, verifiedPages: core.verifiedPages)
    }

    // MARK: Saving

    /// Checks the changes at the head, appends them to the log and commits; blocks until that is done.
    ///
    /// - Returns: where the save stands in the log, or what must be merged first (then nothing was written).
    /// - Parameter turn: the caller's turn, if it has one; without it the save waits while somebody else has.
    /// - Throws: `constraintMerge`, `modelChanged`, `saveTooLarge`, `noSpace`, `persistentStoreTimeout`, `inDoubt`,
    ///   `readOnly`; nothing was written, except that with `inDoubt` it is not known.
    package func save(_ changes: ChangeSet, turn: SaveTurn? = nil) throws -> SaveOutcome {
        try submit(changes, turn, to: WriterThread.submitOrWrite).wait()
    }

    /// The same without waiting; whoever begins a save waits for it.
    package func beginSave(_ changes: ChangeSet, turn: SaveTurn? = nil) throws -> SaveInProgress {
        try submit(changes, turn, to: WriterThread.submit)
    }

    private func submit(
        _ changes: ChangeSet, _ turn: SaveTurn?, to way: (WriterThread) -> (Submission) -> Bool
    ) throws -> SaveInProgress {
        try checkOpen()
        if isReadOnly {
            throw StrataError(.readOnly, "The store is open for reading only.", context: .init(path: path))
        }
        let submission = Submission(.save(changes), turn: turn)
        guard way(writer)(submission) else { throw closedError }
        return SaveInProgress(store: self, submission: submission)
    }

    var closedError: StrataError {
        StrataError(.storeClosed, "The store is closed.", context: .init(path: path))
    }

    /// Waits for the caller's turn: from then on saves without it wait, of this process and of others, until the turn
    /// ends or `limit` (`StoreOptions.turnLimit`) has passed. Reads, leases and large values go on.
    ///
    /// - Throws: `persistentStoreTimeout` when writers of other processes do not finish, `readOnly`, `storeClosed`.
    package func takeTurn(limit: Duration? = nil) throws -> SaveTurn {
        try checkOpen()
        let turn = SaveTurn(limit: limit ?? core.options.turnLimit) { [weak writer] in writer?.wake() }
        let submission = Submission(.turn(turn))
        guard writer.submit(submission) else {
            throw closedError
        }
        do {
            _ = try submission.wait()
        } catch {
            throw core.publicError(error, during: "waiting for a turn to save")
        }
        return turn
    }

    /// Whether a transaction with this id is in the log.
    package func hasTransaction(_ id: UUID) throws -> Bool {
        try checkOpen()
        return try core.read { transaction, _, _ in try core.transaction(id: id, transaction) != nil }
    }

    /// Saves that wait for the writer.
    package var waitingSaveCount: Int { writer.waitingSaveCount }

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

    /// Keeps files of large values from being swept; to be held from the first `stageBlob` until the save is over.
    package func beginBlobLease() throws -> BlobLease { try blobs.lease() }

    /// Removes files of large values that no event names, such as a crash between writing and committing leaves.
    ///
    /// - Returns: how many went; 0 while anybody holds a lease.
    @discardableResult
    package func sweepBlobs() throws -> Int {
        try checkOpen()
        do {
            return try blobs.sweep()
        } catch {
            throw core.publicError(error, during: "sweeping large values")
        }
    }

    /// Sweeps soon, on the writer's thread; what fails is told to the log and tried again at the next opening.
    func sweepBlobsInBackground() {
        let job = Submission(
            .run { [self] in
                do {
                    let count = try sweepBlobs()
                    if count > 0 { StoreLog.logger.info("removed \(count) orphaned large values in \(path)") }
                } catch let error as StrataError where error.code == .storeClosed {
                    // Closed soon after it was opened; the next opening sweeps.
                } catch {
                    StoreLog.logger.warning("sweeping large values in \(path) failed: \(error)")
                }
            })
        _ = writer.submit(job)
    }

    /// Writes a large value beside the store, synced; the caller holds a lease.
    package func stageBlob(_ data: Data) throws -> BlobReference { try blobs.stage(data) }

    /// The bytes of a large value.
    ///
    /// - Throws: `missingBlob` when the file is gone or is not what its name says.
    package func blob(_ reference: BlobReference) throws -> Data { try blobs.read(reference) }
}

/// Carries the committer to those who write: one thread at a time, each after the one before (`WriterThread`).
private final class CommitterBox: @unchecked Sendable {
    private let committer: Committer

    init(_ committer: Committer) { self.committer = committer }

    func commit(_ group: [Submission], joining: () -> [Submission]) -> [Submission.Answer] {
        committer.commit(group, joining: joining)
    }
    var isTidyingDue: Bool { committer.isTidyingDue }
    func tidy() { committer.tidy() }
}
