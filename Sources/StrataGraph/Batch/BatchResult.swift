public import StrataModel
import StrataStore

/// The content of a batch request's result.
public enum BatchResultType: Sendable, Hashable, CaseIterable {
    /// Only the status; no ids are gathered in memory.
    case status
    /// The number of objects and their ids.
    case objectIDs
    /// The number of objects.
    case count
}

/// The result of a batch request.
public struct BatchResult: Sendable, Hashable {
    /// The number of objects that were inserted, updated or deleted, including those that a delete rule deleted.
    public internal(set) var count = 0
    /// The objects, in the order in which they were saved; empty unless the request asks for ids.
    public internal(set) var objectIDs: [ObjectID] = []
    /// The number of rows that an insert merged into an object that has their unique values.
    public internal(set) var mergedCount = 0
    /// The number of rows that an insert dropped because an object has their unique values.
    public internal(set) var keptCount = 0
    /// The number of transactions that it took.
    public internal(set) var transactionCount = 0

    /// A save without a change has no transaction.
    mutating func note(_ receipt: SaveReceipt) {
        if receipt.eventNumber != receipt.previousHead { transactionCount += 1 }
    }

    mutating func add(_ ids: some Collection<ObjectID>, _ type: BatchResultType) {
        count += ids.count
        if type == .objectIDs { objectIDs += ids }
    }
}
