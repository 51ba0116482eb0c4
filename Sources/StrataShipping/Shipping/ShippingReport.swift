public import StrataModel

/// The result of a shipment.
public struct ShippingReport: Sendable, Hashable {
    /// The last transaction that the target has.
    public internal(set) var transaction: TransactionNumber
    /// The last event of that transaction.
    public internal(set) var eventNumber: EventNumber
    /// The number of transactions that were shipped.
    public internal(set) var transactionCount = 0
    /// The number of segments that were written.
    public internal(set) var segmentCount = 0
    /// The number of large values that were written.
    public internal(set) var blobCount = 0
    /// The number of bytes that were written, with large values and snapshots.
    public internal(set) var byteCount = 0
    /// The transaction of the snapshot that was made; nil if none was due.
    public internal(set) var snapshot: TransactionNumber?
    /// The number of files that were removed, because nothing that is kept needs them or larger segments have their
    /// content.
    public internal(set) var removedCount = 0
    /// The number of segments that were rewritten without values that were erased from the store since.
    public internal(set) var rewrittenCount = 0
    /// The number of large values that the target lacks because the store has lost them. Each shipment counts them,
    /// until the store has them again or no event names them any more. Everything else can be restored.
    public internal(set) var missingBlobCount = 0

    init(transaction: TransactionNumber, eventNumber: EventNumber) {
        self.transaction = transaction
        self.eventNumber = eventNumber
    }
}

extension ShippingReport: CustomStringConvertible {
    /// `up to transaction 12; 3 transactions, 2048 bytes`, and what else was done.
    public var description: String {
        var parts = [CountText.of(transactionCount, "transaction"), CountText.of(byteCount, "byte")]
        if let snapshot { parts.append("snapshot of transaction \(snapshot)") }
        if removedCount > 0 { parts.append("\(CountText.of(removedCount, "file")) removed") }
        if rewrittenCount > 0 { parts.append("\(CountText.of(rewrittenCount, "segment")) written again") }
        if missingBlobCount > 0 { parts.append("\(CountText.of(missingBlobCount, "large value")) missing") }
        return "up to transaction \(transaction); \(parts.joined(separator: ", "))"
    }
}
