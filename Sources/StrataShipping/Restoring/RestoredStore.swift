public import StrataModel

/// A summary of a store that was restored from a target.
public struct RestoredStore: Sendable, Hashable {
    /// The last transaction of the new store.
    public let transaction: TransactionNumber
    /// The last event of the new store.
    public let eventNumber: EventNumber
    /// The number of objects in the new store.
    public let objectCount: Int
    /// Damaged files at the target that others could replace, with the reasons.
    public let passedOver: [String]
    /// The number of large values that the target did not have. Reading one throws `missingBlob`; the rest of the store
    /// is whole.
    public let lostValueCount: Int
}
