public import StrataModel

/// What was shipped.
public struct ShippingReport: Sendable, Hashable {
    /// The last transaction that the target has.
    public internal(set) var transaction: TransactionNumber
    /// The last event of that transaction.
    public internal(set) var eventNumber: EventNumber
    /// How many transactions were shipped.
    public internal(set) var transactionCount = 0
    /// How many segments were written.
    public internal(set) var segmentCount = 0
    /// How many large values were written.
    public internal(set) var blobCount = 0
    /// How many bytes were written, with large values and snapshots.
    public internal(set) var byteCount = 0
    /// The transaction of the snapshot that was made; nil if none was due.
    public internal(set) var snapshot: TransactionNumber?
    /// How many files were removed, because nothing that is kept needs them or larger segments have their content.
    public internal(set) var removedCount = 0
    /// How many segments were written anew, without values that were erased from the store since.
    public internal(set) var rewrittenCount = 0
    /// How many large values the target lacks because the store has lost them. Each shipment counts them, until the
    /// store has them again or nothing names them any more. Everything else can be restored.
    public internal(set) var missingBlobCount = 0

    init(transaction: TransactionNumber, eventNumber: EventNumber) {
        self.transaction = transaction
        self.eventNumber = eventNumber
    }
}
