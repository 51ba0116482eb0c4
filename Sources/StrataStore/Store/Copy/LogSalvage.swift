package import Foundation
import LMDB
import Logging
package import StrataModel

/// Reads the log of a damaged store without relying on anything else in it: header, head or views.
///
/// If a page of the file is lost, opening or reading may end the process. Use it in a child process.
package final class LogSalvage {
    /// The part of the log that is sound, and the first problem after it.
    package struct Finding: Sendable {
        /// The last transaction before the first damage; nil if there is none.
        package let end: TransactionRecord?
        /// The beginning of the kept history, if that is sound.
        package let baseline: LogBaseline?
        /// The first damage; nil if the whole log is sound.
        package let problem: String?
        /// The end of the log according to the head; nil if the head is unreadable.
        package let head: TransactionNumber?
        package let headEvent: EventNumber?
        /// Transactions after the sound part whose records can be read.
        package let lost: [TransactionRecord]

        /// The last sound transaction and event; zero for none.
        package var lastTransaction: TransactionNumber { end?.number ?? baseline?.transaction ?? .zero }
        package var lastEvent: EventNumber { end?.lastEvent ?? baseline?.event ?? .zero }

        fileprivate func with(problem: String, head other: LogHead? = nil) -> Finding {
            Finding(
                end: end, baseline: baseline, problem: problem, head: other?.transaction ?? head,
                headEvent: other?.event ?? headEvent,
                lost: lost)
        }
    }

    private let path: String
    /// The store's file; nil if it cannot be opened.
    private let file: LogSource?
    /// The log reassembled from the file's pages, if that reaches further than its trees.
    private var carved: LogSource?
    /// The reason why the file cannot be opened; nil if it can.
    private let refusal: StrataError?
    private static let mostLost = 100_000

    /// - Parameter opensFile: false if opening the file ends the process, so that only its pages are searched.
    /// - Throws: `persistentStoreOpen` if not even LMDB's own pages can be read, and no page has records of a log.
    package init(_ path: String, opensFile: Bool = true) throws {
        self.path = path
        do {
            guard opensFile else { throw LMDBError(.corrupted, operation: "open the store", path: path) }
            file = try LogSource.file(of: path)
            refusal = nil
        } catch {
            let refusal = Self.refusal(error, path)
            guard Self.isDamage(error), let carved = try LogSource.carved(from: path, .everything) else {
                throw refusal
            }
            self.carved = carved
            self.refusal = refusal
            file = nil
        }
    }

    package func close() throws {
        try file?.close()
        try carved?.close()
    }

    private static func refusal(_ error: any Error, _ path: String) -> StrataError {
        if let error = error as? LMDBError, error.code != .notFound { return StrataError(opening: error, path: path) }
        return StrataError(
            .persistentStoreOpen, "The tables of the store cannot be found.", context: .init(path: path), cause: error)
    }

    private static func isDamage(_ error: any Error) -> Bool {
        guard let error = error as? LMDBError else { return true }
        return [.truncated, .invalid, .corrupted, .foreign, .notFound].contains(error.code)
    }

    // MARK: Looking

    /// Reads the log from its beginning up to the first damage; then searches the pages of the file for more of it.
    ///
    /// - Parameters:
    ///   - limit: the last transaction to look at.
    ///   - note: called with each sound transaction, before the next is read.
    package func examine(
        through limit: TransactionNumber?, note: (TransactionNumber) -> Void, progress: ProgressHandler? = nil
    ) throws -> Finding {
        guard let file else {
            guard let carved else { throw StrataError(.corrupt, "Nothing of the file can be read.") }
            let found = try walk(carved, through: nil, until: nil, note: { _ in }, progress)
            let searched = "\(refusal?.message ?? "") The pages that are left were searched for its log"
            let rest = found.problem.map { "; \($0)" } ?? ", which may have gone on"
            return found.with(problem: searched + rest + Self.note(carved), head: carved.carving?.head)
        }
        let head = try file.environment.read { transaction in
            try? StoreFile.meta("head", file.tables, transaction).map { try LogHead($0) }
        }
        let found = try walk(file, through: limit, until: head, note: note, progress)
        guard let problem = found.problem, let carved = try LogSource.carved(from: path) else { return found }
        let further = try walk(carved, through: nil, until: head, note: { _ in }, progress)
        let (known, searched) = (found.lastTransaction, further.lastTransaction)
        guard searched >= known else {
            try carved.close()
            return found
        }
        // Reading it touches no lost page.
        self.carved = carved
        guard searched > known else { return found }
        return further.with(
            problem: "\(problem); the pages of the file were searched for the rest of the log"
                + (further.problem.map { "; \($0)" } ?? ""))
    }

    /// Returns the sentence about transactions whose records are lost; empty if none is.
    private static func note(_ source: LogSource) -> String {
        guard let lost = source.carving?.notes.madeUp, !lost.isEmpty else { return "" }
        if lost.count == 1 { return "; the record of a transaction is lost, so its author and time are not known" }
        return "; the records of \(lost.count) transactions are lost, so their authors and times are not known"
    }

    private func walk(
        _ source: LogSource, through limit: TransactionNumber?, until head: LogHead?,
        note: (TransactionNumber) -> Void, _ progress: ProgressHandler?
    ) throws -> Finding {
        try source.environment.read { transaction in
            var walk = SoundWalk(transaction: transaction, tables: source.tables)
            var counter = ProgressCounter("reading the log", total: Int(head?.transaction.rawValue ?? 0), progress)
            let last = min(limit ?? .init(rawValue: .max), head?.transaction ?? .init(rawValue: .max))
            var problem: String?
            do {
                try walk.begin()
            } catch {
                problem = "the baseline: \(Self.text(error))"
            }
            while problem == nil, walk.eventNumber < last {
                counter.step()
                do {
                    guard try walk.step() else {
                        if head != nil { problem = "transaction \(walk.eventNumber.rawValue + 1) is missing" }
                        break
                    }
                    note(walk.eventNumber)
                } catch {
                    problem = "transaction \(walk.eventNumber.rawValue + 1): \(Self.text(error))"
                    break
                }
            }
            if problem == nil, let limit, walk.eventNumber == limit, limit < head?.transaction ?? limit {
                problem = "reading transaction \(limit.rawValue + 1) ends the program: its pages are lost"
            }
            if problem == nil, head == nil, source === file {
                problem = "the head, which says where the log ends, cannot be read"
            }
            return Finding(
                end: walk.last, baseline: walk.baseline, problem: problem, head: head?.transaction,
                headEvent: head?.event,
                lost: limit == nil ? lost(after: walk.eventNumber, through: last, source.tables, transaction) : [])
        }
    }

    private static func text(_ error: any Error) -> String {
        switch error {
        case let error as CorruptRecord: "\(error.reason)"
        case let error as StrataError: error.message.droppingFullStop
        default: "\(error)".droppingFullStop
        }
    }

    /// The transactions after the sound part whose records can be read.
    private func lost(
        after start: TransactionNumber, through last: TransactionNumber, _ tables: StoreTables,
        _ transaction: ReadTransaction
    ) -> [TransactionRecord] {
        var records: [TransactionRecord] = []
        var number = start.rawValue + 1
        var misses = 0
        while number <= last.rawValue, records.count < Self.mostLost, misses < 1000 {
            let transactionNumber = TransactionNumber(rawValue: number)
            number += 1
            // Unreadable records are expected here.
            let bytes = try? transaction.get(tables.transactions, transactionNumber.rawValue)
            guard let bytes, let record = try? TransactionRecord(bytes, number: transactionNumber) else {
                misses += 1
                continue
            }
            records.append(record)
        }
        return records
    }

    // MARK: Saving the sound part

    /// Whether a store can be made even if no transaction is sound.
    package var holdsModel: Bool { !heldModels.isEmpty }

    /// Makes a store of the sound part of the log in a directory that does not exist yet. If no transaction is sound,
    /// the store has the newest model found in the views, and no objects.
    ///
    /// - Throws: as `Store.replay(through:to:)`; `invalidModel` if there is neither.
    package func write(
        through finding: Finding, to target: URL, progress: ProgressHandler? = nil
    ) throws -> LogCopyReport {
        do {
            return try make(target, through: finding, progress)
        } catch {
            throw StoreFile.publicError(error, during: "making the new store", making: target)
        }
    }

    private func make(
        _ target: URL, through finding: Finding, _ progress: ProgressHandler?
    ) throws -> LogCopyReport {
        try Store.refuseUsed(target)
        let (end, isEmpty) = (finding.end, finding.lastEvent == .zero)
        let model = isEmpty ? heldModels.last : nil
        guard let log = carved ?? file, !isEmpty || model != nil else {
            throw StrataError(
                .invalidModel, "Nothing of the log is sound, and no model of the store can be read.",
                context: .init(path: path))
        }
        let header =
            try file.flatMap { file in
                try file.environment.read { transaction in
                    try? StoreFile.meta("header", file.tables, transaction).map { try StoreHeader($0) }
                }
            } ?? carved?.carving?.header
        let fresh = StoreHeader(
            identifier: header?.identifier ?? UUID(), lineage: UUID(),
            createdMicroseconds: header?.createdMicroseconds ?? end?.microseconds
                ?? Int64(Date().timeIntervalSince1970 * 1_000_000))
        let copy = LogCopy(
            source: log.environment, tables: log.tables, baseline: finding.baseline, end: end, header: fresh,
            progress: progress)
        return try BackupFolder.filled(for: target) { folder in
            try copy.write(to: folder.path(percentEncoded: false))
            if isEmpty, let model { try Store.begin(in: folder, with: model) }
            let last = isEmpty ? TransactionNumber(rawValue: 1) : finding.lastTransaction
            return try Store.finishCopy(in: folder, last, progress) { [path] digest in
                BlobStore.contents(digest: digest, in: path)
            }
        }
    }

    /// Changes to rows and pairs that are sound in the views but missing in the log after an event, as changes of a
    /// store that ends there.
    ///
    /// The large values that they name are copied. A model that the views hold, and that is newer than the sound part
    /// of the log, becomes the store's first.
    ///
    /// - Parameters:
    ///   - end: the last sound event; zero for none.
    ///   - store: the store made of the sound part; the caller holds a blob lease of it.
    /// - Throws: what reading `store` throws. Damaged records of this store are skipped and counted.
    package func changes(
        after end: EventNumber, for store: Store
    ) throws -> (changes: NetChanges, passedOver: PassedOver) {
        let histories = try rowModels(end == .zero ? [] : try store.schemas, adoptedBy: store)
        return try store.read(at: try store.head()) { snapshot in
            let salvage = RowSalvage(
                histories: histories, schema: store.schema, end: end, snapshot: snapshot,
                bring: { try self.bring($0, to: store) })
            if let file {
                try file.environment.read { transaction in
                    try store.file.environment.read { target in
                        try salvage.readViews(
                            DamagedViews(transaction: transaction, tables: file.tables),
                            against: DamagedViews(transaction: target, tables: store.file.tables))
                    }
                }
            } else if let carving = carved?.carving {
                try salvage.readPages(carving)
            }
            return (salvage.changes, salvage.passedOver)
        }
    }

    /// Compares the views that can be read with those of a store that was made of this one; empty if the file cannot be
    /// opened.
    ///
    /// - Parameters:
    ///   - end: as in `changes(after:for:)`.
    ///   - store: the new store, with the changes.
    package func differences(after end: EventNumber, from store: Store) throws -> [ViewDifference] {
        guard let file else { return [] }
        let histories = try rowModels(end == .zero ? [] : try store.schemas, readThrough: store.schema)
        return try file.environment.read { transaction in
            var tables = file.tables
            let header = try? StoreFile.meta("header", tables, transaction).map { try StoreHeader($0) }
            if let header, !header.buffersCounts { tables.countsWait = false }
            return try store.file.read { target, _, newHistories in
                try ViewComparison(
                    damaged: DamagedViews(transaction: transaction, tables: tables),
                    made: DamagedViews(transaction: target, tables: store.file.tables), histories: histories,
                    newHistories: newHistories
                ).run()
            }
        }
    }
}

extension LogSalvage {
    /// The models in the views that can be decoded, oldest first.
    private var heldModels: [Schema] {
        guard let file else { return [] }
        var models: [Schema] = []
        // Unreadable records are expected here.
        try? file.environment.read { transaction in
            try transaction.withCursor(file.tables.models) { cursor in
                var found = try cursor.first()
                while found {
                    if let schema = try? SchemaRecord.schema(from: Data(cursor.value)) { models.append(schema) }
                    found = try cursor.next()
                }
            }
        }
        return models.sorted { $0.version < $1.version }
    }

    /// The models of the damaged store's rows, with the new store's newest as the one to read through.
    ///
    /// - Parameter sound: models in the sound part of the log.
    private func rowModels(_ sound: [Schema], adoptedBy store: Store) throws -> SchemaHistory {
        let newestSound = sound.map(\.version).max()
        let newest = heldModels.last { newestSound == nil || $0.version > newestSound ?? $0.version }
        if newestSound != nil, let newest {
            do {
                try store.adopt(recovered: newest)
            } catch let error as StrataError where error.code == .migration {
                // Rows of this model are reported as damaged; older ones are saved under the model they had.
                StoreLogger.shared.notice("model \(newest.version.rawValue) is left out: \(error.message)")
                return SchemaHistory(sound)
            }
        }
        return try rowModels(sound, readThrough: store.schema)
    }

    private func rowModels(_ sound: [Schema], readThrough schema: Schema) throws -> SchemaHistory {
        var known = Dictionary(sound.map { ($0.version, $0) }, uniquingKeysWith: { first, _ in first })
        for schema in heldModels where known[schema.version] == nil { known[schema.version] = schema }
        let last = known.keys.max() ?? ModelVersion(rawValue: 0)
        let target = try Schema(
            version: ModelVersion(rawValue: last.rawValue + 1), model: schema.model, assignment: schema.assignment)
        return SchemaHistory(known.values + [target])
    }

    /// Copies a large value to the new store.
    ///
    /// - Returns: false if its file is lost or damaged.
    private func bring(_ reference: BlobReference, to store: Store) throws -> Bool {
        if store.blobs.exists(reference) { return true }
        guard let data = BlobStore.contents(digest: reference.digest, in: path),
            BlobReference(of: data) == reference
        else { return false }
        _ = try store.blobs.stage(data)
        return true
    }
}

extension String {
    fileprivate var droppingFullStop: String { hasSuffix(".") ? String(dropLast()) : self }
}
