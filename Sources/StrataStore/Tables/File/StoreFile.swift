import Foundation
import LMDB
import Logging
import Locking
import StrataModel

/// One open store file: LMDB's environment, its tables, and the models recorded there.
///
/// **The layer Tables** holds what a store's files contain and how it is encoded: the tables and their keys, cursors
/// over entries that may wait in buffers, the header and the head of the log, events and transactions, the recorded
/// models, large values, options and errors. Layers above it use `StoreFile` for transactions, the head and the models;
/// `StoreTables` and `StoreKey` for records; `LogReader` for the log; `SchemaHistory` for the layout of a row of any
/// age. Nothing here knows of snapshots, queries, saves or `Store`.
///
/// State that changes is guarded by a mutex; everything else is constant.
final class StoreFile: Sendable {
    let environment: Environment
    let tables: StoreTables
    let options: StoreOptions
    let header: StoreHeader
    /// The store's directory, for messages.
    let path: String
    private let known: Locked<SchemaHistory>
    /// The last event of the transaction that installed a model, for the models that were looked up.
    /// The keys of encrypted attributes.
    let keyRing = KeyRing()
    let installations = Locked<[ModelVersion: EventNumber]>([:])
    /// Gets the damage that reads and saves meet.
    let damageHandler = Locked<(@Sendable (StrataError) -> Void)?>(nil)
    /// Is called when another process has installed a model, within a transaction.
    let modelHandler = Locked<(@Sendable () -> Void)?>(nil)
    /// The gate of the shared log that commits pass; nil for a store with a log of its own, and after closing.
    let gate = Locked<(any LogGate)?>(nil)

    init(
        environment: Environment, tables: StoreTables, options: StoreOptions, header: StoreHeader, path: String,
        histories: SchemaHistory
    ) {
        self.environment = environment
        self.tables = tables
        self.options = options
        self.header = header
        self.path = path
        known = Locked(histories)
        attachKeys(to: histories)
    }

    var histories: SchemaHistory { known.withLock { $0 } }

    // MARK: Head

    func readHead(_ transaction: ReadTransaction) throws -> LogHead {
        guard let bytes = try Self.meta("head", tables, transaction) else {
            throw StrataError(.corrupt, "The store has no head.", context: .init(path: path))
        }
        do {
            return try LogHead(bytes)
        } catch {
            throw unreadableHead(bytes, error)
        }
    }

    /// Only the last event and the model version of the head.
    func readHeadEvent(_ transaction: ReadTransaction) throws -> (event: EventNumber, model: ModelVersion) {
        guard let bytes = try Self.meta("head", tables, transaction) else {
            throw StrataError(.corrupt, "The store has no head.", context: .init(path: path))
        }
        do {
            return try LogHead.lastEvent(bytes)
        } catch {
            throw unreadableHead(bytes, error)
        }
    }

    /// The head and models that the transaction sees. They are read once and kept with the pooled transaction until a
    /// newer state is committed.
    @inline(__always)
    private func snapshot(_ transaction: ReadTransaction) throws -> Unmanaged<KnownSnapshot> {
        if let kept = transaction.kept {
            // No other code keeps an object with the transaction.
            let known = Unmanaged<KnownSnapshot>.fromOpaque(kept.toOpaque())
            if known._withUnsafeGuaranteedRef({ $0.number }) == transaction.number { return known }
        }
        return try readSnapshot(transaction)
    }

    @inline(never)
    private func readSnapshot(_ transaction: ReadTransaction) throws -> Unmanaged<KnownSnapshot> {
        let (head, version) = try readHeadEvent(transaction)
        let histories = try histories(upTo: version, transaction)
        if let model = histories.newest?.model, !tables.areOpen(for: model) { try checkViewTables(transaction) }
        let fresh = KnownSnapshot(number: transaction.number, head: head, histories: histories)
        transaction.keep(fresh)
        return Unmanaged.passUnretained(fresh)
    }

    @inline(__always)
    private func withSnapshot<R>(
        _ transaction: ReadTransaction, _ body: (ReadTransaction, EventNumber, SchemaHistory) throws -> R
    ) throws -> R {
        try snapshot(transaction)._withUnsafeGuaranteedRef { known in
            try known.histories._withUnsafeGuaranteedRef { try body(transaction, known.head, $0) }
        }
    }

    /// Returns the error for a head that cannot be used: a rebuild or a migration is under way, or the head is damaged.
    private func unreadableHead(_ bytes: UnsafeRawBufferPointer, _ cause: CorruptRecord) -> any Error {
        do {
            if let mark = try RebuildMark(bytes) { return mark.refusal(path: path) }
            if let mark = try MigrationMark(bytes) { return mark.refusal(path: path) }
        } catch {
            return StrataError.corrupt(error, "meta")
        }
        return StrataError.corrupt(cause, "meta")
    }

    func writeHead(_ head: LogHead, _ transaction: WriteTransaction) throws {
        try head.encoded().withUnsafeBytes { value in
            try Self.withKey("head") { try transaction.put(tables.meta, $0, value) }
        }
    }

    static func meta(
        _ key: StaticString, _ tables: StoreTables, _ transaction: ReadTransaction
    ) throws -> UnsafeRawBufferPointer? {
        try withKey(key) { try transaction.get(tables.meta, $0) }
    }

    static func withKey<R>(_ key: StaticString, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(UnsafeRawBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
    }

    /// Notes in the header which views the store has, so that versions that would not keep them do not write.
    func noteViews(of model: ManagedObjectModel, _ transaction: WriteTransaction) throws {
        guard model.needsViewTables else { return }
        try noteViewTables(hasTexts: model.hasFullText, transaction)
    }

    /// Notes in the header that the store has the tables of views, perhaps also that of full texts.
    func noteViewTables(hasTexts: Bool, _ transaction: WriteTransaction) throws {
        guard let bytes = try Self.meta("header", tables, transaction) else { return }
        var header = try StoreHeader(bytes)
        let known = header.readCompatibleFlags
        header.hasViews = true
        if hasTexts { header.hasTexts = true }
        guard header.readCompatibleFlags != known else { return }
        try header.encoded().withUnsafeBytes { value in
            try Self.withKey("header") { try transaction.put(tables.meta, $0, value) }
        }
    }

    /// Notes in the header that the store has encrypted attributes, which older versions cannot read.
    func noteEncryption(_ transaction: WriteTransaction) throws {
        try Self.changeHeader(tables, transaction) { $0.isEncrypted = true }
    }

    /// Changes the header if it is not so already.
    static func changeHeader(
        _ tables: StoreTables, _ transaction: WriteTransaction, _ change: (inout StoreHeader) -> Void
    ) throws {
        guard let bytes = try meta("header", tables, transaction) else { return }
        let known = try StoreHeader(bytes)
        var header = known
        change(&header)
        guard header != known else { return }
        try header.encoded().withUnsafeBytes { value in
            try withKey("header") { try transaction.put(tables.meta, $0, value) }
        }
    }

    // MARK: Models

    private func attachKeys(to histories: SchemaHistory) {
        if let newest = histories.newest, newest.hasEncryption { SchemaKeys.of(newest).attach(keyRing) }
    }

    /// The models as of `head`; reads those that another process has installed.
    func histories(for head: LogHead, _ transaction: ReadTransaction) throws -> SchemaHistory {
        try histories(upTo: head.modelVersion, transaction)
    }

    func histories(upTo version: ModelVersion, _ transaction: ReadTransaction) throws -> SchemaHistory {
        let now = histories
        guard version.rawValue > now.newest?.version.rawValue ?? 0 else { return now }
        let fresh = try Self.readModels(tables, transaction)
        attachKeys(to: fresh)
        known.withLock { if $0.newest?.version.rawValue ?? 0 < version.rawValue { $0 = fresh } }
        modelHandler.withLock { $0 }?()
        return fresh
    }

    static func readModels(_ tables: StoreTables, _ transaction: ReadTransaction) throws -> SchemaHistory {
        var models: [RecordedModel] = []
        try transaction.withCursor(tables.models) { cursor in
            var found = try cursor.first()
            while found {
                models.append(RecordedModel(try version(cursor.key), record: Data(cursor.value)))
                found = try cursor.next()
            }
        }
        return try SchemaHistory(recorded: models)
    }

    private static func version(_ key: UnsafeRawBufferPointer) throws(StrataError) -> ModelVersion {
        guard key.count == 8, let version = UInt32(exactly: StoreKey.objectID(key, at: 0).rawValue) else {
            throw StrataError(.corrupt, "The key of a model is not a version.")
        }
        return ModelVersion(rawValue: version)
    }

    // MARK: Transactions

    /// The transaction with this id; nil if the log has none.
    func transaction(id: UUID, _ transaction: ReadTransaction) throws -> TransactionRecord? {
        let eventNumber = try withUnsafeBytes(of: id.uuid) { key in
            try transaction.get(tables.transactionIDs, key).map { value in
                guard value.count == 8 else {
                    throw StrataError.corrupt(CorruptRecord("entry of another length", at: 0), "transactionIDs")
                }
                return TransactionNumber(rawValue: UInt64(littleEndian: value.loadUnaligned(as: UInt64.self)))
            }
        }
        return try eventNumber.flatMap { try LogReader(transaction, tables, histories).transaction($0) }
    }

    // MARK: Reading

    /// Runs `body` in a read transaction, with the end of the log and the models that it sees.
    func read<R>(_ body: (ReadTransaction, EventNumber, SchemaHistory) throws -> R) throws -> R {
        do {
            return try environment.read { try withSnapshot($0, body) }
        } catch let error as LMDBError where error.code == .panic {
            return try readAnew(body)
        } catch is MissingViewTables {
            return try readAnew(body)
        } catch {
            throw publicError(error, during: "read")
        }
    }

    /// Reads again after a commit that failed half way, for which the environment is reopened, and after another process
    /// has declared the first view or full text.
    private func readAnew<R>(_ body: (ReadTransaction, EventNumber, SchemaHistory) throws -> R) throws -> R {
        do {
            try environment.reopenIfBroken()
            return try openingViewTables { try environment.read { try withSnapshot($0, body) } }
        } catch {
            throw publicError(error, during: "read")
        }
    }

    /// Runs a body in a write transaction, behind the gate of a shared log if there is one. If this commit or an
    /// earlier one failed half way, reopens the environment and runs the body once more; it must allow for that.
    func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        try goingOn { try writeThroughGate(body) }
    }

    /// The same past the gate.
    func writeDirectly<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        try goingOn { try openingViewTables { try environment.write(timeout: options.writerLockTimeout, body) } }
    }

    /// Checks that a transaction can use the tables of views that the store has.
    ///
    /// - Throws: `MissingViewTables`, as where another process has made them since the store was opened.
    func checkViewTables(_ transaction: ReadTransaction) throws {
        let header = try Self.meta("header", tables, transaction).map { try StoreHeader($0) }
        guard let header, header.hasViews else { return }
        try tables.checkViews(hasTexts: header.hasTexts, transaction)
    }

    /// Runs the work in a new transaction whenever it lacks tables of views that another process has made since.
    func openingViewTables<R>(_ work: () throws -> R) throws -> R {
        try MissingViewTables.opened(environment, for: tables, work)
    }

    private func goingOn<R>(_ work: () throws -> R) throws -> R {
        do {
            return try work()
        } catch let error as LMDBError where error.code == .outcomeUnknown || error.code == .panic {
            StoreLogger.shared.warning("a commit failed half way in \(path); opening the file anew")
            try environment.reopenIfBroken()
            return try work()
        }
    }
}

/// The head of one state of the file, kept by the read transactions that see this state.
private final class KnownSnapshot {
    /// LMDB's number of the state, unique within one opening of the environment.
    let number: UInt64
    let head: EventNumber
    /// Retained until `deinit`.
    let histories: Unmanaged<SchemaHistory>

    init(number: UInt64, head: EventNumber, histories: SchemaHistory) {
        self.number = number
        self.head = head
        self.histories = Unmanaged.passRetained(histories)
    }

    deinit { histories.release() }
}
