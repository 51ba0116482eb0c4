import Locking
import LMDB
import StrataModel

/// Takes the log through the projector into empty view tables: of the store itself at a rebuild, of a scratch
/// environment when verifying. There is no other way in than `Projector.apply`, as in saving.
///
/// While one batch is written the next is begun on a thread of its own, as far as its events need no row that was
/// written: insertions, of which a log mostly consists.
struct Replay {
    /// The log, read in another transaction than the one that fills the tables.
    let log: LogReader
    /// The tables that are filled.
    let tables: StoreTables
    var flushLimit = Self.defaultFlushLimit

    /// Bytes collected before they are written in key order.
    static let defaultFlushLimit = 32 << 20

    /// Where one step of a replay ended.
    struct Step {
        /// The last event that the views now hold.
        var applied: EventSequence
        var histories: SchemaHistory
    }

    /// What has been collected.
    private struct Position {
        /// The last event.
        var collected: EventSequence
        /// The transaction of the next one.
        var record: TransactionRecord
    }

    private enum Scope {
        case everything
        /// Only what the log alone tells.
        case insertions
    }

    /// Applies the events after `start` through `end`, or fewer once more than `limit` bytes have been written.
    ///
    /// - Parameters:
    ///   - histories: the models as of `start`.
    ///   - limit: nil goes on to the end.
    func run(
        after start: EventSequence, through end: EventSequence, histories: SchemaHistory, limit: Int? = nil,
        into transaction: WriteTransaction, _ progress: inout ProgressCounter
    ) throws -> Step {
        var projector = Projector(tables: tables, histories: histories, tracking: .overlapping)
        var position = Position(
            collected: start, record: try transactionRecord(containing: start.advanced(by: 1)))
        var spare = WriteBatch(tables: tables)
        var rest = limit ?? .max
        while rest > 0, position.collected < end || !projector.batch.isEmpty {
            try collect(
                .everything, through: end, upTo: min(flushLimit, rest), &projector, &position, transaction,
                &progress)
            let size = projector.batch.sizeInBytes
            rest = size < rest ? rest - size : 0
            guard rest > 0, position.collected < end else {
                try projector.flush(transaction)
                continue
            }
            projector.handOver(&spare)
            try BackgroundThread.run("strata.replay") {
                try collect(
                    .insertions, through: end, upTo: min(flushLimit, rest), &projector, &position, transaction,
                    &progress)
            } beside: {
                try spare.flush(into: transaction)
            }
        }
        return Step(applied: position.collected, histories: projector.histories)
    }

    /// Applies events until the batch is as large as told, or one comes that is out of scope.
    private func collect(
        _ scope: Scope, through end: EventSequence, upTo size: Int, _ projector: inout Projector,
        _ position: inout Position, _ transaction: WriteTransaction, _ progress: inout ProgressCounter
    ) throws {
        guard position.collected < end, projector.batch.sizeInBytes < size else { return }
        try log.events(from: position.collected.advanced(by: 1), through: end) { event, sequence in
            if scope == .insertions, event.header.kind != .inserted { return false }
            try projector.apply(event, sequence, transaction)
            if sequence == position.record.lastEvent {
                projector.enter(position.record)
                if sequence < end { position.record = try transactionRecord(position.record.sequence.rawValue + 1) }
            }
            position.collected = sequence
            progress.step()
            return projector.batch.sizeInBytes < size
        }
    }

    private func transactionRecord(_ number: UInt64) throws -> TransactionRecord {
        guard let record = try log.transaction(TransactionSequence(rawValue: number)) else {
            throw StrataError(.corrupt, "A transaction of the log is missing: \(number).")
        }
        return record
    }

    private func transactionRecord(containing event: EventSequence) throws -> TransactionRecord {
        try transactionRecord(try log.event(event).header.transaction.rawValue)
    }
}
