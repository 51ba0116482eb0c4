import LMDB
import StrataModel

/// Takes the log through the projector into empty view tables: of the store itself at a rebuild, of a scratch
/// environment when verifying. There is no other way in than `Projector.apply`, as in saving.
struct Replay {
    /// The log, which may be in another environment than the tables that are filled.
    let log: LogReader
    /// The tables that are filled.
    let tables: StoreTables

    /// Bytes collected before they are written in key order.
    static let flushLimit = 32 << 20

    /// Where one step of a replay ended.
    struct Step {
        /// The last event that the views now hold.
        var applied: EventSequence
        var histories: SchemaHistory
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
        var record = try transactionRecord(containing: start.advanced(by: 1))
        var step = Step(applied: start, histories: histories)
        var written = 0
        let limit = limit ?? .max
        while step.applied < end, written < limit {
            try log.events(from: step.applied.advanced(by: 1), through: end) { event, sequence in
                try projector.apply(event, sequence, transaction)
                if sequence == record.lastEvent {
                    projector.enter(record)
                    if sequence < end { record = try transactionRecord(record.sequence.rawValue + 1) }
                }
                step.applied = sequence
                progress.step()
                return projector.batch.sizeInBytes < min(Self.flushLimit, limit - written)
            }
            written += projector.batch.sizeInBytes
            try projector.flush(transaction)
        }
        step.histories = projector.histories
        return step
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
