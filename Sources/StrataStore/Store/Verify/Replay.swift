import Locking
import LMDB
import StrataModel

/// Replays the log through the projector into empty view tables: those of the store in a rebuild, those of a scratch
/// environment in a verification. Like a save it uses only `Projector.apply`. Declared views are made of the objects at
/// the end (`Projector.refillAll`).
///
/// While one batch is written, the next is collected on a thread of its own, up to the first event that needs a row
/// already written. Insertions, which make up most of a log, need none. A batch collected at the end of one transaction
/// is written in the next, because it follows from the log alone.
final class Replay {
    /// The tables to fill.
    private let tables: StoreTables
    /// The number of bytes that are collected before they are written in key order.
    private let flushLimit: Int
    /// The last event whose views were written.
    private(set) var applied: EventNumber
    /// The last event that was collected.
    private(set) var collected: EventNumber
    private var projector: Projector
    private var spare: WriteBatch
    /// The transaction of the event after the last one collected; nil before the first, and up to the baseline, where
    /// transactions are no longer kept.
    private var record: TransactionRecord?

    static let defaultFlushLimit = 32 << 20

    /// The end of one step of a replay.
    struct Progress {
        /// The last event that the views hold.
        var applied: EventNumber
        var histories: SchemaHistory

        /// Before the first event.
        static var start: Progress { Progress(applied: .zero, histories: SchemaHistory([])) }
    }

    private enum Part {
        /// The events that are kept up to a baseline, without their transactions.
        case kept
        case whole
    }

    private enum Scope {
        case everything
        /// Events that need no row from the tables.
        case insertions
    }

    /// - Parameters:
    ///   - start: the state of the tables, and the models at that event.
    ///   - check: is called for each event with a before-image.
    init(
        after start: Progress, _ tables: StoreTables, flushLimit: Int = defaultFlushLimit,
        check: BeforeImageCheck? = nil
    ) {
        self.tables = tables
        self.flushLimit = flushLimit
        applied = start.applied
        collected = start.applied
        projector = Projector(tables: tables, histories: start.histories, tracking: .overlapping)
        projector.observer = check
        projector.declared.areKept = false
        spare = WriteBatch(tables: tables)
    }

    /// Continues the replay of the step before, if the tables hold exactly what it has written; its transaction may
    /// have been abandoned, or another process may have continued. Otherwise a new replay.
    static func resume(
        _ earlier: inout Replay?, after start: Progress, _ tables: StoreTables, flushLimit: Int = defaultFlushLimit,
        check: BeforeImageCheck? = nil
    ) -> Replay {
        defer { earlier = nil }
        if let earlier, earlier.applied == start.applied { return earlier }
        return Replay(after: start, tables, flushLimit: flushLimit, check: check)
    }

    /// Applies the events after `applied` through `end`, or fewer once more than `limit` bytes have been written.
    ///
    /// A replay that fails, or whose transaction is not committed afterwards, cannot be used again.
    /// - Parameters:
    ///   - log: a reader in another transaction than the one that fills the tables.
    ///   - limit: nil goes on to the end.
    func run(
        _ log: LogReader, through end: EventNumber, limit: Int? = nil, into transaction: WriteTransaction,
        _ progress: inout ProgressCounter
    ) throws -> Progress {
        let size = min(flushLimit, limit ?? .max)
        var rest = limit ?? .max
        if let cut = try log.baseline()?.event, applied < cut {
            try advance(.kept, log, to: min(cut, end), size, &rest, transaction, &progress)
            if applied == cut {
                let histories = projector.histories
                try ModelRemains(histories, at: histories.newest).clear(tables, transaction)
            }
        }
        try advance(.whole, log, to: end, size, &rest, transaction, &progress)
        return Progress(applied: applied, histories: projector.histories)
    }

    private func advance(
        _ part: Part, _ log: LogReader, to end: EventNumber, _ size: Int, _ rest: inout Int,
        _ transaction: WriteTransaction, _ progress: inout ProgressCounter
    ) throws {
        while rest > 0, applied < end {
            try collect(.everything, part, log, through: end, upTo: size, transaction, &progress)
            rest -= min(rest, projector.batch.sizeInBytes)
            let last = collected
            projector.handOver(&spare)
            if last < end {
                try BackgroundThread.run("strata.replay") {
                    try collect(.insertions, part, log, through: end, upTo: size, transaction, &progress)
                } beside: {
                    try spare.flush(into: transaction)
                }
            } else {
                try spare.flush(into: transaction)
            }
            applied = last
        }
    }

    /// Collects events until the batch is full, or one comes that is out of scope.
    private func collect(
        _ scope: Scope, _ part: Part, _ log: LogReader, through end: EventNumber, upTo size: Int,
        _ transaction: WriteTransaction, _ progress: inout ProgressCounter
    ) throws {
        guard collected < end, projector.batch.sizeInBytes < size else { return }
        var record = try part == .kept ? nil : record ?? Self.record(containing: collected.advanced(by: 1), log)
        defer { self.record = record }
        try collect(scope, log, through: end, upTo: size, &projector, &collected, &record, transaction, &progress)
    }

    /// The same with local copies, because access to a property of the class is checked at each use.
    private func collect(
        _ scope: Scope, _ log: LogReader, through end: EventNumber, upTo size: Int, _ projector: inout Projector,
        _ collected: inout EventNumber, _ record: inout TransactionRecord?, _ transaction: WriteTransaction,
        _ progress: inout ProgressCounter
    ) throws {
        var isStopped = false
        try log.events(from: collected.advanced(by: 1), through: end) { event, eventNumber in
            if scope == .insertions, event.header.kind != .inserted {
                isStopped = true
                return false
            }
            try projector.apply(event, eventNumber, transaction)
            if let whole = record, eventNumber == whole.lastEvent {
                projector.enter(whole)
                if eventNumber < end { record = try Self.record(whole.number.rawValue + 1, log) }
            }
            collected = eventNumber
            progress.step()
            isStopped = projector.batch.sizeInBytes >= size
            return !isStopped
        }
        // The last events before a cut may be gone.
        if !isStopped { collected = end }
    }

    private static func record(_ number: UInt64, _ log: LogReader) throws -> TransactionRecord {
        guard let record = try log.transaction(TransactionNumber(rawValue: number)) else {
            throw StrataError(.corrupt, "A transaction of the log is missing: \(number).")
        }
        return record
    }

    private static func record(containing event: EventNumber, _ log: LogReader) throws -> TransactionRecord {
        try record(try log.event(event) { $0.header.transaction.rawValue }, log)
    }
}
