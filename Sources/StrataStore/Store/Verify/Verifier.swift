import Foundation
import LMDB
import Locking
import StrataModel

/// Checks one store in one read transaction, and collects problems instead of stopping at the first.
///
/// Memory: 32 to 64 bytes for each object, to hold its newest event.
final class Verifier {
    let file: StoreFile
    /// The tables of the state that is checked.
    let tables: StoreTables
    let blobs: BlobStore
    let transaction: ReadTransaction
    let depth: VerificationDepth
    let progress: ProgressHandler?
    /// The contents of the log; filled by `checkLog`.
    var log = LogFindings()
    /// The models as the log installed them.
    var histories: SchemaHistory
    private(set) var names: RecordedNames
    private var problems = ProblemList()
    var objectCount = 0
    var goneLinkCount = 0
    var entityCounts: [EntityID: Int] = [:]
    /// Entries that rows and pairs require. The tables are walked only if they have more entries than were found.
    var expectedIndexes: ExpectedKeys
    var expectedLinks: ExpectedKeys
    var oneToOnes = OneToOneEnds(nil)
    var keyWriter = ByteWriter()
    private var volume = VerifiedVolume()
    private var digests: [TableDigest] = []
    private var uncheckedViews: [String] = []

    init(
        _ file: StoreFile, _ blobs: BlobStore, _ transaction: ReadTransaction, _ depth: VerificationDepth,
        _ progress: ProgressHandler?
    ) {
        self.file = file
        tables = file.tables.withFixedViews
        self.blobs = blobs
        self.transaction = transaction
        self.depth = depth
        self.progress = progress
        histories = file.histories
        names = RecordedNames(file.histories)
        expectedIndexes = ExpectedKeys(tables.indexes)
        expectedLinks = ExpectedKeys(tables.links)
    }

    /// - Parameter second: another read transaction of the same state, in which a thread of its own replays the log
    ///   while the views are checked; without it one follows the other.
    /// - Throws: `noSpace` if there is no room for the replay.
    func run(beside second: ReadTransaction?) throws -> VerificationReport {
        let clock = ContinuousClock()
        let start = clock.now
        if checkPages() { try checkContent(beside: second) }
        return report(clock.now - start)
    }

    /// Checks the pages of the file, before anything else is read from them.
    ///
    /// - Returns: whether the tables can be read.
    private func checkPages() -> Bool {
        do {
            let survey = try file.environment.surveyPages()
            volume.pageCount = survey.pageCount
            volume.sizeInBytes = survey.sizeInBytes
            for problem in survey.problems { note(.page, "page \(problem.page)", problem.sentence) }
            return survey.treesAreWhole
        } catch {
            problems.note(.page, "data.mdb", error)
            return false
        }
    }

    private func checkContent(beside second: ReadTransaction?) throws {
        attempt("data.mdb") {
            volume.recordCount = try tables.all.reduce(0) { $0 + (try transaction.count($1)) }
        }
        checkLog()
        if histories.newest == nil { histories = file.histories }
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
        if let comparison {
            problems.append(comparison.problems)
            digests = comparison.digests
            uncheckedViews = comparison.uncheckedViews
        }
    }

    private func report(_ duration: Duration) -> VerificationReport {
        VerificationReport(
            depth: depth, head: log.head?.event ?? .zero, transactionCount: log.transactionCount,
            eventCount: log.eventCount, objectCount: objectCount, problems: problems.described,
            problemCount: problems.count, erasedEventCount: log.erasedEventCount,
            erasures: log.erasures.map { VerifiedErasure(transaction: $0.transaction, record: $0.record) },
            hasUnfinishedErasure: log.hasErasureMark,
            thinnedEventCount: log.thinnedEventCount,
            thinnings: log.thinnings.map { thinning in
                VerifiedThinning(
                    transaction: thinning.transaction, entities: thinning.record.entities.map { names.name(of: $0) },
                    cut: thinning.record.cut)
            },
            hasUnfinishedThinning: log.hasUnfinishedThinning, goneLinkCount: goneLinkCount,
            digests: digests, uncheckedViews: uncheckedViews, read: volume, duration: duration)
    }

    private func makeComparison(_ transaction: ReadTransaction) -> ReplayComparison? {
        guard depth == .full, log.isReplayable, let head = log.head, head.event > .zero else { return nil }
        return ReplayComparison(file, tables, transaction, head, names, progress)
    }

    /// Checks the log without any view.
    func checkLogAlone() -> [VerificationProblem] {
        checkLog()
        return problems.described
    }

    private func checkViews() {
        if depth == .full {
            attempt("objects") { try checkRows() }
            attempt("objects") { try checkOneToOnes() }
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

    func note(_ kind: VerificationProblem.Kind, _ location: @autoclosure () -> String, _ message: String) {
        problems.note(kind, location(), message)
    }

    /// Runs one part. A table that LMDB itself cannot read ends the part, not the verification.
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
    /// Up to 32 bytes in hexadecimal, to name a record whose key cannot be decoded.
    var hexadecimal: String {
        prefix(32).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            + (count > 32 ? "…" : "")
    }
}
