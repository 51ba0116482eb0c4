import Foundation
import LMDB
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
    private(set) var problems: [VerificationProblem] = []
    private(set) var problemCount = 0
    var objectCount = 0
    var entityCounts: [EntityID: Int] = [:]
    /// Entries that rows and pairs call for; the tables are walked only when there are more than are found.
    var expectedIndexes: ExpectedKeys
    var expectedLinks: ExpectedKeys
    var keyWriter = ByteWriter()
    var digests: [TableDigest] = []

    /// Problems described in a report; more are only counted.
    static let mostDescribed = 1000

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

    /// - Throws: `noSpace` when there is no room to replay the log in.
    func run() throws -> VerificationReport {
        let clock = ContinuousClock()
        let start = clock.now
        checkLog()
        if histories.newest == nil { histories = core.histories }
        names = RecordedNames(histories)
        if depth == .full {
            checkViews()
        } else {
            attempt("objects") { try countObjects() }
        }
        attempt("counts") { try checkCounts() }
        if depth == .full, log.isReplayable { try replayAndCompare() }
        return VerificationReport(
            depth: depth, head: log.head?.event ?? .zero, transactionCount: log.transactionCount,
            eventCount: log.eventCount, objectCount: objectCount, problems: problems, problemCount: problemCount,
            digests: digests, duration: clock.now - start)
    }

    /// The log without any view.
    func checkLogAlone() -> [VerificationProblem] {
        checkLog()
        return problems
    }

    private func checkViews() {
        attempt("objects") { try checkRows() }
        attempt("pairs") { try checkPairs() }
        attempt("indexes") { try checkIndexEntries() }
        attempt("links") { try checkLinkEntries() }
        attempt("tombstones") { try checkTombstones() }
        attempt("transactionIDs") { try checkTransactionIDs() }
        attempt("models") { try checkModels() }
        attempt("blobs") { try checkBlobs() }
        attempt("state") { try checkRowCounter() }
    }

    /// That there is no room for the replay says nothing about the store.
    private func replayAndCompare() throws {
        var noRoom: LMDBError?
        attempt("replay") {
            do {
                try compareWithReplay()
            } catch let error as LMDBError where error.isOfScratch {
                noRoom = error
            }
        }
        guard let noRoom else { return }
        throw StrataError(
            .noSpace, "There is no room under the temporary directory to replay the log in.",
            context: .init(path: noRoom.path), cause: noRoom)
    }

    // MARK: Problems

    func note(_ kind: VerificationProblem.Kind, _ place: @autoclosure () -> String, _ message: String) {
        problemCount += 1
        guard problems.count < Self.mostDescribed else { return }
        problems.append(VerificationProblem(kind: kind, place: place(), message: message))
    }

    /// Runs one part; a table that LMDB itself cannot read ends the part, not the verification.
    func attempt(_ table: String, _ body: () throws -> Void) {
        do {
            try body()
        } catch let error as StrataError {
            note(table == "replay" ? .replay : .table, table, error.description)
        } catch {
            note(table == "replay" ? .replay : .table, table, "\(error)")
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

extension LMDBError {
    /// Whether it tells of writing, which only the scratch environment of a replay is for.
    fileprivate var isOfScratch: Bool {
        switch code {
        case .noSpaceOrIO, .mapFull, .outcomeUnknown, .panic: true
        default: false
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
