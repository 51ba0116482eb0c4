import Foundation
import LMDB
import Logging
import Locking
import StrataModel

/// What every part of an open store shares: the environment, its tables, and the models known so far.
///
/// What is guarded by a mutex says so; everything else is constant.
final class StoreCore: Sendable {
    let environment: Environment
    let tables: StoreTables
    let options: StoreOptions
    let header: StoreHeader
    /// The store's directory, for messages.
    let path: String
    let statistics = StatisticsCache()
    let queries = QueryShapeCache()
    let verifiedPages = VerifiedPages()
    private let known: Locked<SchemaHistory>
    /// Where models were installed, as far as anybody asked.
    let installations = Locked<[ModelVersion: EventNumber]>([:])

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

    /// The last event and the model version, without the rest of the head.
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

    /// The head and models of the transaction's snapshot; read once for as long as the snapshot stays the newest. The
    /// transaction keeps them while it is read with.
    @inline(__always)
    private func snapshot(_ transaction: ReadTransaction) throws -> Unmanaged<KnownSnapshot> {
        if let kept = transaction.kept {
            // Nobody else keeps anything there.
            let known = Unmanaged<KnownSnapshot>.fromOpaque(kept.toOpaque())
            if known._withUnsafeGuaranteedRef({ $0.number }) == transaction.number { return known }
        }
        return try readSnapshot(transaction)
    }

    @inline(never)
    private func readSnapshot(_ transaction: ReadTransaction) throws -> Unmanaged<KnownSnapshot> {
        let (head, version) = try readHeadEvent(transaction)
        let fresh = KnownSnapshot(
            number: transaction.number, head: head, histories: try histories(upTo: version, transaction))
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

    /// Why a head cannot be used: the views are being rebuilt, or it is damaged.
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

    // MARK: Models

    /// The models as of `head`; reads those that another process has installed.
    func histories(for head: LogHead, _ transaction: ReadTransaction) throws -> SchemaHistory {
        try histories(upTo: head.modelVersion, transaction)
    }

    func histories(upTo version: ModelVersion, _ transaction: ReadTransaction) throws -> SchemaHistory {
        let now = histories
        guard version.rawValue > now.newest?.version.rawValue ?? 0 else { return now }
        let fresh = try Self.readModels(tables, transaction)
        known.withLock { if $0.newest?.version.rawValue ?? 0 < version.rawValue { $0 = fresh } }
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
            throw StrataError(.corrupt, "A model is kept under a key that is no version.")
        }
        return ModelVersion(rawValue: version)
    }

    // MARK: Transactions

    /// The transaction with this id, if it is in the log.
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

    /// Runs `body` with a read transaction whose head and models are known.
    func read<R>(_ body: (ReadTransaction, EventNumber, SchemaHistory) throws -> R) throws -> R {
        do {
            return try environment.read { try withSnapshot($0, body) }
        } catch let error as LMDBError where error.code == .panic {
            return try readAnew(body)
        } catch {
            throw publicError(error, during: "read")
        }
    }

    /// A commit failed half way: no transaction begins until the environment has been opened anew.
    private func readAnew<R>(_ body: (ReadTransaction, EventNumber, SchemaHistory) throws -> R) throws -> R {
        do {
            try environment.reopenIfBroken()
            return try environment.read { try withSnapshot($0, body) }
        } catch {
            throw publicError(error, during: "read")
        }
    }

    /// Runs a body that may run twice in a write transaction. When a commit failed half way, this one or an earlier
    /// one, the environment is opened anew and the body runs again, finding what there is.
    func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        do {
            return try environment.write(timeout: options.writerLockTimeout, body)
        } catch let error as LMDBError where error.code == .outcomeUnknown || error.code == .panic {
            StoreLog.logger.warning("a commit failed half way in \(path); opening the file anew")
            try environment.reopenIfBroken()
            return try environment.write(timeout: options.writerLockTimeout, body)
        }
    }

    // MARK: Errors

    /// What callers above the store see: our error, with LMDB's as its cause.
    func publicError(_ error: any Error, during work: String) -> any Error {
        Self.publicError(error, during: work, path: path)
    }

    /// The same for a store that is not open.
    static func publicError(_ error: any Error, during work: String, path: String) -> any Error {
        switch error {
        case let error as LMDBError: StrataError(error, during: work, path: path)
        case let error as BlobFile.Failure:
            StrataError(
                error.isOfDisk ? .noSpace : .persistentStoreOperation,
                error.isOfDisk
                    ? "The disk is full or failed during \(work); nothing was changed."
                    : "The store failed during \(work): \(error.reason).",
                context: .init(path: error.path), cause: error)
        case let error as CorruptRecord:
            StrataError(
                .corrupt, "A record is damaged: \(error.reason).", context: .init(path: path), cause: error)
        case let error as BackgroundThread.Unavailable:
            StrataError(
                .persistentStoreOperation, "The store failed during \(work): \(error).", context: .init(path: path),
                cause: error)
        case let error as UnstorableValue:
            StrataError(.wrongType, "A value does not fit its property: \(error.reason).", cause: error)
        default: error
        }
    }
}

extension StrataError {
    /// What is wrong with a file that cannot be opened.
    init(opening error: LMDBError, path: String) {
        let context = Context(path: path)
        let (code, message): (Code, String) =
            switch error.code {
            case .missing: (.persistentStoreOpen, "There is no store.")
            case .empty: (.persistentStoreOpen, "The store's file is empty.")
            case .foreign: (.persistentStoreOpen, "The file is no store.")
            case .newerFormat:
                (.persistentStoreOpen, "The store's file has a newer format than this version of Strata reads.")
            case .truncated: (.corrupt, "The store's file has been cut short.")
            case .invalid, .corrupted: (.corrupt, "The store's file is damaged.")
            case .permissionDenied where !FileManager.default.fileExists(atPath: path + "/data.mdb"):
                (.persistentStoreOpen, "The store cannot be made: its directory may not be written or entered.")
            case .permissionDenied:
                (
                    .persistentStoreOpen,
                    "The store's files may not be read or written; whoever reads writes to lock.mdb too."
                )
            case .outcomeUnknown, .panic: (.noSpace, "The disk is full or failed while the store was being made.")
            default: (.persistentStoreOpen, "")
            }
        if message.isEmpty {
            self.init(error, during: "opening", path: path)
        } else {
            self.init(code, message, context: context, cause: error)
        }
    }

    init(_ error: LMDBError, during work: String, path: String) {
        let context = Context(path: path)
        switch error.code {
        case .noSpaceOrIO, .mapFull:
            self.init(
                .noSpace, "The disk is full or failed during \(work); nothing was changed.", context: context,
                cause: error)
        case .busy:
            self.init(.persistentStoreTimeout, "The store stayed busy during \(work).", context: context, cause: error)
        // The tables of a store, their flags and the order of the log are what every store has.
        case .corrupted, .truncated, .invalid, .notFound, .incompatibleTable, .keyExists:
            self.init(.corrupt, "The store's file is damaged.", context: context, cause: error)
        case .outcomeUnknown, .panic:
            self.init(.inDoubt, "Whether the last commit is on disk is not known.", context: context, cause: error)
        case .readOnly:
            self.init(.readOnly, "The store is open for reading only.", context: context, cause: error)
        case .closed:
            self.init(.storeClosed, "The store is closed.", context: context, cause: error)
        case .missing, .empty, .foreign, .newerFormat, .versionMismatch, .permissionDenied, .symbolicLink,
            .insecurePermissions, .networkFileSystem, .conflictingOptions, .alreadyExists:
            self.init(.persistentStoreOpen, "The store cannot be opened: \(error)", context: context, cause: error)
        case .transactionTooLarge:
            self.init(.saveTooLarge, "The save touches more pages than one commit can.", context: context, cause: error)
        default:
            self.init(
                .persistentStoreOperation, "The store failed during \(work): \(error.code.sentence).", context: context,
                cause: error)
        }
    }
}

extension StrataError {
    /// Whether a file is none of a store's, as far as its first pages tell; damage may have made it so.
    package var isOfForeignFile: Bool { (cause as? LMDBError)?.code == .foreign }
}

/// What a snapshot's head says, kept by the read transactions that see the same snapshot.
private final class KnownSnapshot {
    /// LMDB's number of the snapshot: within one open environment it names one state of the file.
    let number: UInt64
    let head: EventNumber
    /// Kept until the end.
    let histories: Unmanaged<SchemaHistory>

    init(number: UInt64, head: EventNumber, histories: SchemaHistory) {
        self.number = number
        self.head = head
        self.histories = Unmanaged.passRetained(histories)
    }

    deinit { histories.release() }
}
