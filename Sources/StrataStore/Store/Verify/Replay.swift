import Locking
import LMDB
import StrataModel

/// Takes the log through the projector into empty view tables: of the store itself at a rebuild, of a scratch
/// environment when verifying. There is no other way in than `Projector.apply`, as in saving.
///
/// While one batch is written the next is begun on a thread of its own, as far as its events need no row that was
/// written: insertions, of which a log mostly consists. What was begun so at the end of one transaction is written in the
/// next: it is the log's alone.
final class Replay {
    /// The tables that are filled.
    private let tables: StoreTables
    /// Bytes collected before they are written in key order.
    private let flushLimit: Int
    /// The last event whose views were written.
    private(set) var applied: EventNumber
    /// The last event that was collected.
    private(set) var collected: EventNumber
    private var projector: Projector
    private var spare: WriteBatch
    /// The transaction of the event behind the last one collected; nil before the first.
    private var record: TransactionRecord?

    static let defaultFlushLimit = 32 << 20

    /// Where one step of a replay ended.
    struct Step {
        /// The last event that the views now hold.
        var applied: EventNumber
        var histories: SchemaHistory

        /// Before the first event.
        static var start: Step { Step(applied: .zero, histories: SchemaHistory([])) }
    }

    private enum Scope {
        case everything
        /// Only what the log alone tells.
        case insertions
    }

    /// - Parameter start: what the tables hold, and the models as of then.
    init(after start: Step, _ tables: StoreTables, flushLimit: Int = defaultFlushLimit) {
        self.tables = tables
        self.flushLimit = flushLimit
        applied = start.applied
        collected = start.applied
        projector = Projector(tables: tables, histories: start.histories, tracking: .overlapping)
        spare = WriteBatch(tables: tables)
    }

    /// Takes the replay of the step before, where the tables hold just what it has written: its transaction may have been
    /// given up, or another process may have gone on. Else a new one.
    static func resume(
        _ earlier: inout Replay?, after start: Step, _ tables: StoreTables, flushLimit: Int = defaultFlushLimit
    ) -> Replay {
        defer { earlier = nil }
        if let earlier, earlier.applied == start.applied { return earlier }
        return Replay(after: start, tables, flushLimit: flushLimit)
    }

    /// Applies the events after `applied` through `end`, or fewer once more than `limit` bytes have been written.
    ///
    /// One whose transaction is not committed afterwards, or that fails, is of no more use.
    /// - Parameters:
    ///   - log: read in another transaction than the one that fills the tables.
    ///   - limit: nil goes on to the end.
    func run(
        _ log: LogReader, through end: EventNumber, limit: Int? = nil, into transaction: WriteTransaction,
        _ progress: inout ProgressCounter
    ) throws -> Step {
        let size = min(flushLimit, limit ?? .max)
        var rest = limit ?? .max
        while rest > 0, applied < end {
            try collect(.everything, log, through: end, upTo: size, transaction, &progress)
            rest -= min(rest, projector.batch.sizeInBytes)
            let last = collected
            projector.handOver(&spare)
            if last < end {
                try BackgroundThread.run("strata.replay") {
                    try collect(.insertions, log, through: end, upTo: size, transaction, &progress)
                } beside: {
                    try spare.flush(into: transaction)
                }
            } else {
                try spare.flush(into: transaction)
            }
            applied = last
        }
        return Step(applied: applied, histories: projector.histories)
    }

    /// Applies events until the batch is as large as told, or one comes that is out of scope.
    private func collect(
        _ scope: Scope, _ log: LogReader, through end: EventNumber, upTo size: Int, _ transaction: WriteTransaction,
        _ progress: inout ProgressCounter
    ) throws {
        guard collected < end, projector.batch.sizeInBytes < size else { return }
        var record = try record ?? Self.record(containing: collected.advanced(by: 1), log)
        defer { self.record = record }
        try collect(scope, log, through: end, upTo: size, &projector, &collected, &record, transaction, &progress)
    }

    /// The same with everything at hand: what is a property of the class is checked at each use.
    private func collect(
        _ scope: Scope, _ log: LogReader, through end: EventNumber, upTo size: Int, _ projector: inout Projector,
        _ collected: inout EventNumber, _ record: inout TransactionRecord, _ transaction: WriteTransaction,
        _ progress: inout ProgressCounter
    ) throws {
        try log.events(from: collected.advanced(by: 1), through: end) { event, eventNumber in
            if scope == .insertions, event.header.kind != .inserted { return false }
            try projector.apply(event, eventNumber, transaction)
            if eventNumber == record.lastEvent {
                projector.enter(record)
                if eventNumber < end { record = try Self.record(record.number.rawValue + 1, log) }
            }
            collected = eventNumber
            progress.step()
            return projector.batch.sizeInBytes < size
        }
    }

    private static func record(_ number: UInt64, _ log: LogReader) throws -> TransactionRecord {
        guard let record = try log.transaction(TransactionNumber(rawValue: number)) else {
            throw StrataError(.corrupt, "A transaction of the log is missing: \(number).")
        }
        return record
    }

    private static func record(containing event: EventNumber, _ log: LogReader) throws -> TransactionRecord {
        try record(try log.event(event).header.transaction.rawValue, log)
    }
}
