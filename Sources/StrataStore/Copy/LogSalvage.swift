package import Foundation
import LMDB
import Logging
package import StrataModel

/// A damaged store's log, read without believing anything else of the store: no header, no head, no view.
///
/// Opening and reading may end the process where a page of the file is lost; whoever uses it does so in a child.
package final class LogSalvage {
    /// How far the log is sound.
    package struct Finding: Sendable {
        /// The last transaction up to which everything is sound; nil when there is none.
        package let end: TransactionRecord?
        /// What is wrong behind it; nil at the end of the log.
        package let problem: String?
        /// The end of the log as the head says it; nil when the head is unreadable.
        package let head: TransactionSequence?
        package let headEvent: EventSequence?
        /// Transactions behind the sound ones whose records can be read.
        package let lost: [TransactionRecord]
    }

    private let path: String
    private let environment: Environment
    private let tables: StoreTables
    private static let mostLost = 100_000

    /// A directory with a log that was put together from the pages of the file; nil where the file can be opened.
    private let carved: (folder: String, reason: String)?

    /// - Throws: `persistentStoreOpen` when not even LMDB's own pages can be read, and no page has records of a log.
    package init(_ path: String) throws {
        self.path = path
        var options = EnvironmentOptions()
        options.access = .readOnly
        if !FileManager.default.fileExists(atPath: path + "/lock.mdb") { options.locking = .none }
        do {
            environment = try Environment.open(at: path, options: options)
            carved = nil
        } catch {
            let refusal = StrataError(opening: error, path: path)
            guard Self.lostPages.contains(error.code), let folder = try Self.carve(path) else { throw refusal }
            carved = (folder, refusal.message)
            options.locking = .none
            do {
                environment = try Environment.open(at: folder, options: options)
            } catch {
                Self.remove(folder)
                throw refusal
            }
        }
        do {
            tables = try StoreTables(opening: environment)
        } catch {
            try environment.close()
            if let carved { Self.remove(carved.folder) }
            throw StrataError(
                .persistentStoreOpen, "The tables of the store cannot be found.", context: .init(path: path),
                cause: error)
        }
    }

    deinit { if let carved { Self.remove(carved.folder) } }

    package func close() throws { try environment.close() }

    private static let lostPages: [LMDBError.Code] = [.truncated, .invalid, .corrupted, .foreign]

    /// A directory with the log that the file's pages hold; nil where they hold none.
    private static func carve(_ path: String) throws -> String? {
        let carving = try LogCarving(file: path + "/data.mdb")
        guard !carving.isEmpty else { return nil }
        let folder = FileManager.default.temporaryDirectory.appending(component: "strata-carved-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let made = folder.path(percentEncoded: false)
        do {
            try carving.write(to: made)
        } catch {
            remove(made)
            throw error
        }
        return made
    }

    private static func remove(_ folder: String) {
        do {
            try FileManager.default.removeItem(atPath: folder)
        } catch {
            StoreLog.logger.notice("a temporary directory stays: \(folder)")
        }
    }

    // MARK: Looking

    /// Walks the log from its beginning until something is wrong.
    ///
    /// - Parameters:
    ///   - limit: the last transaction to look at.
    ///   - note: hears of each transaction that is sound, before the next is looked at.
    package func examine(
        through limit: TransactionSequence?, note: (TransactionSequence) -> Void, progress: ProgressHandler? = nil
    ) throws -> Finding {
        try environment.read { transaction in
            let head = Result { try StoreCore.meta("head", tables, transaction).map { try LogHead($0) } }
            let known = try? head.get()
            var walk = SoundWalk(transaction: transaction, tables: tables)
            var counter = ProgressCounter("reading the log", total: Int(known?.transaction.rawValue ?? 0), progress)
            let last = min(limit ?? .init(rawValue: .max), known?.transaction ?? .init(rawValue: .max))
            var problem: String?
            while walk.sequence < last {
                counter.step()
                do {
                    guard try walk.step() else {
                        if known != nil { problem = "transaction \(walk.sequence.rawValue + 1) is missing" }
                        break
                    }
                    note(walk.sequence)
                } catch {
                    problem = "transaction \(walk.sequence.rawValue + 1): \(Self.text(error))"
                    break
                }
            }
            if problem == nil, let limit, walk.sequence == limit, limit < known?.transaction ?? limit {
                problem = "reading transaction \(limit.rawValue + 1) ends the program: its pages are lost"
            }
            if let carved {
                problem =
                    "\(carved.reason) The pages that are left were searched for its log"
                    + (problem.map { "; \($0)" } ?? ", which may have gone on")
            } else if problem == nil, known == nil {
                problem = "the head, which says where the log ends, cannot be read"
            }
            return Finding(
                end: walk.last, problem: problem, head: known?.transaction, headEvent: known?.event,
                lost: limit == nil ? lost(after: walk.sequence, through: last, transaction) : [])
        }
    }

    private static func text(_ error: any Error) -> String {
        switch error {
        case let error as CorruptRecord: "\(error.reason)"
        case let error as StrataError: error.message
        default: "\(error)"
        }
    }

    /// Records of transactions that are readable themselves, behind what is sound.
    private func lost(
        after start: TransactionSequence, through last: TransactionSequence, _ transaction: ReadTransaction
    ) -> [TransactionRecord] {
        var records: [TransactionRecord] = []
        var number = start.rawValue + 1
        var misses = 0
        while number <= last.rawValue, records.count < Self.mostLost, misses < 1000 {
            let sequence = TransactionSequence(rawValue: number)
            number += 1
            // What cannot be read is what this is about.
            let bytes = try? transaction.get(tables.transactions, sequence.rawValue)
            guard let bytes, let record = try? TransactionRecord(bytes, sequence: sequence) else {
                misses += 1
                continue
            }
            records.append(record)
        }
        return records
    }

    // MARK: Saving what is sound

    /// Whether something can be saved where nothing of the log is sound.
    package var holdsModel: Bool { !heldModels.isEmpty }

    /// Makes a store of the sound part of the log in a directory that does not exist yet; where nothing is sound, one that
    /// has the newest model that the views hold, and no objects.
    ///
    /// - Throws: as `Store.replay(through:to:)`; `invalidModel` where there is neither.
    package func write(
        through end: TransactionRecord?, to target: URL, progress: ProgressHandler? = nil
    ) throws -> LogCopyReport {
        try Store.refuseUsed(target)
        let model = heldModels.last
        guard end != nil || model != nil else {
            throw StrataError(
                .invalidModel, "Nothing of the log is sound, and no model of the store can be read.",
                context: .init(path: path))
        }
        let header = try environment.read { transaction in
            try? StoreCore.meta("header", tables, transaction).map { try StoreHeader($0) }
        }
        let fresh = StoreHeader(
            identifier: header?.identifier ?? UUID(), lineage: UUID(),
            createdMicroseconds: header?.createdMicroseconds ?? end?.microseconds
                ?? Int64(Date().timeIntervalSince1970 * 1_000_000))
        let copy = LogCopy(source: environment, tables: tables, end: end, header: fresh, progress: progress)
        return try BackupFolder.filled(for: target) { folder in
            try copy.write(to: folder.path(percentEncoded: false))
            if end == nil, let model { try Store.begin(in: folder, with: model) }
            let last = end?.sequence ?? TransactionSequence(rawValue: 1)
            return try Store.finishCopy(in: folder, last, progress) { [path] digest in
                BlobStore.contents(digest: digest, in: path)
            }
        }
    }

    /// What sound rows and pairs say that was changed behind a place in the log, as changes of a store that ends there.
    ///
    /// Large values that they name come with them. A model that the views hold, and that is newer than what is sound of the
    /// log, becomes the store's first.
    ///
    /// - Parameters:
    ///   - end: the last sound event; zero for none.
    ///   - store: the store that was made of the sound part; the caller holds a blob lease of it.
    /// - Throws: what reading `store` throws; what is damaged in this one is passed over and counted.
    package func changes(
        after end: EventSequence, for store: Store
    ) throws -> (changes: NetChanges, passedOver: PassedOver) {
        let histories = try rowModels(end == .zero ? [] : try store.schemas, adoptedBy: store)
        return try environment.read { transaction in
            try store.read(at: try store.head()) { view in
                let salvage = RowSalvage(
                    transaction: transaction, tables: tables, histories: histories, schema: store.schema, end: end,
                    view: view, bring: { try self.bring($0, to: store) })
                try salvage.run()
                return (salvage.changes, salvage.passedOver)
            }
        }
    }
}

extension LogSalvage {
    /// The models that the views hold, oldest first: those that can be read and make sense.
    private var heldModels: [Schema] {
        var models: [Schema] = []
        // What cannot be read is what this is about.
        try? environment.read { transaction in
            try transaction.withCursor(tables.models) { cursor in
                var found = try cursor.first()
                while found {
                    if let schema = try? SchemaRecord.schema(from: Data(cursor.value)) { models.append(schema) }
                    found = try cursor.next()
                }
            }
        }
        return models.sorted { $0.version < $1.version }
    }

    /// The models of the damaged store's rows, and the new store's as the one that they are read as.
    ///
    /// - Parameter sound: models of the part of the log that is sound.
    private func rowModels(_ sound: [Schema], adoptedBy store: Store) throws -> SchemaHistory {
        let held = heldModels
        var known = Dictionary(sound.map { ($0.version, $0) }, uniquingKeysWith: { first, _ in first })
        let newestSound = sound.map(\.version).max()
        let newest = held.last { newestSound == nil || $0.version > newestSound ?? $0.version }
        if newestSound != nil, let newest {
            do {
                try store.adopt(recovered: newest)
            } catch let error as StrataError where error.code == .migration {
                // Rows of it are told as damaged, and those before it saved as what they were.
                StoreLog.logger.notice("model \(newest.version.rawValue) is left out: \(error.message)")
                return SchemaHistory(sound)
            }
        }
        for schema in held where known[schema.version] == nil { known[schema.version] = schema }
        let last = known.keys.max() ?? ModelVersion(rawValue: 0)
        let schema = store.schema
        let target = try Schema(
            version: ModelVersion(rawValue: last.rawValue + 1), model: schema.model, assignment: schema.assignment)
        return SchemaHistory(known.values + [target])
    }

    /// Copies a large value to the new store.
    ///
    /// - Returns: false when its file is lost or damaged.
    private func bring(_ reference: BlobReference, to store: Store) throws -> Bool {
        if store.blobs.exists(reference) { return true }
        guard let data = BlobStore.contents(digest: reference.digest, in: path),
            BlobReference(of: data) == reference
        else { return false }
        _ = try store.blobs.stage(data)
        return true
    }
}

/// Walks the log and believes only what follows from what came before.
private struct SoundWalk {
    let transaction: ReadTransaction
    let tables: StoreTables
    private(set) var sequence = TransactionSequence.zero
    private(set) var last: TransactionRecord?
    private var digest = LogHead.start.digest

    init(transaction: ReadTransaction, tables: StoreTables) {
        self.transaction = transaction
        self.tables = tables
    }

    /// - Returns: false when there is no transaction any more.
    mutating func step() throws -> Bool {
        let next = TransactionSequence(rawValue: sequence.rawValue + 1)
        guard let bytes = try transaction.get(tables.transactions, next.rawValue) else { return false }
        let record = try TransactionRecord(bytes, sequence: next)
        guard record.eventCount > 0, record.firstEvent.rawValue == (last?.lastEvent.rawValue ?? 0) + 1 else {
            throw CorruptRecord("its events do not follow those before", at: 56)
        }
        var chain = EventDigest.Chain(previous: digest, record: bytes)
        for number in record.firstEvent.rawValue...record.lastEvent.rawValue {
            guard let event = try transaction.get(tables.events, number) else {
                throw StrataError(.corrupt, "event \(number) is missing")
            }
            do {
                try check(event, of: record)
            } catch {
                throw StrataError(.corrupt, "event \(number): \(Self.reason(error))")
            }
            chain.add(event)
        }
        guard chain.finish() == record.digest else {
            throw CorruptRecord("its digest does not follow from its events and the digest before", at: 8)
        }
        digest = record.digest
        last = record
        sequence = next
        return true
    }

    private static func reason(_ error: any Error) -> String {
        (error as? CorruptRecord).map { "\($0.reason)" } ?? "\(error)"
    }

    private func check(_ bytes: UnsafeRawBufferPointer, of record: TransactionRecord) throws {
        let event = try EventView(bytes)
        guard event.header.transaction == record.sequence else {
            throw CorruptRecord("it says another transaction", at: 0)
        }
        guard EventDigest.matches(event) else { throw CorruptRecord("its payload does not match its digest", at: 0) }
        if event.header.kind == .modelInstalled { _ = try SchemaRecord.schema(from: event.installedModel().record) }
    }
}
