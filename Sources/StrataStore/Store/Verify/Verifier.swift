import Foundation
import LMDB
import Locking
import StrataModel

/// Checks one store as of one read transaction, and collects what is wrong instead of stopping at it.
///
/// Memory: 32 to 64 bytes an object, for the newest event of each.
final class Verifier {
    let core: StoreCore
    let blobs: BlobStore
    let transaction: ReadTransaction
    let depth: VerificationDepth
    let progress: ProgressHandler?
    /// What the log says, filled by `checkLog`.
    var log = LogFindings()
    /// The models as the log installed them.
    var histories: SchemaHistory
    private(set) var names: RecordedNames
    private var problems = ProblemList()
    var objectCount = 0
    var entityCounts: [EntityID: Int] = [:]
    /// Entries that rows and pairs call for; the tables are walked only when there are more than are found.
    var expectedIndexes: ExpectedKeys
    var expectedLinks: ExpectedKeys
    var keyWriter = ByteWriter()

    init(
        _ core: StoreCore, _ blobs: BlobStore, _ transaction: ReadTransaction, _ depth: VerificationDepth,
        _ progress: ProgressHandler?
    ) {
        self.core = core
        self.blobs = blobs
        self.transaction = transaction
        self.depth = depth
        self.progress = progress
        histories = core.histories
        names = RecordedNames(core.histories)
        expectedIndexes = ExpectedKeys(core.tables.indexes)
        expectedLinks = ExpectedKeys(core.tables.links)
    }

    var tables: StoreTables { core.tables }

    /// - Parameter second: another transaction of the same snapshot: the log is replayed in it on a thread of its own
    ///   while the views are checked. Without it one follows the other.
    /// - Throws: `noSpace` when there is no room to replay the log in.
    func run(beside second: ReadTransaction?) throws -> VerificationReport {
        let clock = ContinuousClock()
        let start = clock.now
        checkLog()
        if histories.newest == nil { histories = core.histories }
        names = RecordedNames(histories)
        let comparison = makeComparison(second ?? transaction)
        if let comparison, second != nil {
            try BackgroundThread.run("strata.verify", comparison.run) {
                checkViews()
                comparison.isAlone.withLock { $0 = true }
            }
        } else {
            checkViews()
            comparison?.isAlone.withLock { $0 = true }
            try comparison?.run()
        }
        if let comparison { problems.append(comparison.problems) }
        return VerificationReport(
            depth: depth, head: log.head?.event ?? .zero, transactionCount: log.transactionCount,
            eventCount: log.eventCount, objectCount: objectCount, problems: problems.described,
            problemCount: problems.count, digests: comparison?.digests ?? [], duration: clock.now - start)
    }

    private func makeComparison(_ transaction: ReadTransaction) -> ReplayComparison? {
        guard depth == .full, log.isReplayable, let head = log.head, head.event > .zero else { return nil }
        return ReplayComparison(core.tables, transaction, head, names, progress)
    }

    /// The log without any view.
    func checkLogAlone() -> [VerificationProblem] {
        checkLog()
        return problems.described
    }

    private func checkViews() {
        if depth == .full {
            attempt("objects") { try checkRows() }
            attempt("pairs") { try checkPairs() }
            attempt("indexes") { try checkIndexEntries() }
            attempt("links") { try checkLinkEntries() }
            attempt("tombstones") { try checkTombstones() }
            attempt("transactionIDs") { try checkTransactionIDs() }
            attempt("models") { try checkModels() }
            attempt("blobs") { try checkBlobs() }
            attempt("state") { try checkRowCounter() }
        } else {
            attempt("objects") { try countObjects() }
        }
        attempt("counts") { try checkCounts() }
    }

    // MARK: Problems

    func note(_ kind: VerificationProblem.Kind, _ place: @autoclosure () -> String, _ message: String) {
        problems.note(kind, place(), message)
    }

    /// Runs one part; a table that LMDB itself cannot read ends the part, not the verification.
    func attempt(_ table: String, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            problems.note(.table, table, error)
        }
    }

    func name(_ id: ObjectID) -> String { names.name(of: id) }

    /// Calls `body` with every record of a table.
    func scan(_ table: Table, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void) throws {
        try scan(BufferedTable(table), body)
    }

    func scan(
        _ table: BufferedTable, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try table.withCursor(transaction) { cursor in
            var found = try cursor.first()
            while found {
                try body(cursor.key, cursor.value)
                found = try cursor.advance()
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Up to 32 bytes in hexadecimal, for naming a record whose key makes no sense.
    var hexadecimal: String {
        prefix(32).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            + (count > 32 ? "…" : "")
    }
}
