public import StrataModel
import StrataStore

/// What a batch request tells of the objects it touched.
public enum BatchResultType: Sendable, Hashable, CaseIterable {
    /// That it is done; nothing is counted up in memory.
    case status
    case objectIDs
    case count
}

/// What a batch request did.
public struct BatchResult: Sendable, Hashable {
    /// How many objects were inserted, updated or deleted, those included that a delete rule took along.
    public internal(set) var count = 0
    /// The objects, in the order in which they were saved; empty unless they were asked for.
    public internal(set) var objectIDs: [ObjectID] = []
    /// Of an insert: rows that changed an object which has their unique values.
    public internal(set) var mergedCount = 0
    /// Of an insert: rows that were passed over because an object has their unique values.
    public internal(set) var keptCount = 0
    /// How many transactions it took.
    public internal(set) var transactionCount = 0

    /// A save that came out as no change has no transaction.
    mutating func note(_ receipt: SaveReceipt) {
        if receipt.eventNumber != receipt.previousHead { transactionCount += 1 }
    }

    mutating func add(_ ids: some Collection<ObjectID>, _ type: BatchResultType) {
        count += ids.count
        if type == .objectIDs { objectIDs += ids }
    }
}
