public import Foundation
public import StrataModel

/// One save as the log keeps it: who, when, and which events are its own.
public struct HistoryTransaction: Sendable, Hashable {
    public let number: TransactionNumber
    /// Unique in all stores.
    public let id: UUID
    public let date: Date
    public let author: String?
    public let contextName: String?
    public let processName: String?
    /// The context's `transactionReason`.
    public let reason: String?
    /// The context's `transactionCorrelationID`.
    public let correlationID: String?
    /// What the context gave as `transactionMetadata`.
    public let metadata: [String: String]
    public let firstEvent: EventNumber
    public let lastEvent: EventNumber
    /// What a merge policy overruled in this save.
    public let conflicts: [ConflictRecord]
}

/// One stored fact: what changed on which object, with the values before and after.
public struct HistoryEvent: Sendable, Hashable {
    public enum Kind: String, Sendable, Hashable {
        case inserted, updated, deleted
        /// A many-to-many link was made, cut, or moved to another place.
        case linked, unlinked, moved
        case modelInstalled
        case maintenance
    }

    /// A property with its values around the event; `null` where there was none.
    public struct Change: Sendable, Hashable {
        public let key: String
        public let before: AttributeValue
        public let after: AttributeValue
    }

    public let eventNumber: EventNumber
    public let kind: Kind
    /// nil for events that speak of no object.
    public let objectID: ObjectID?
    public let entityName: String?
    /// In the model's order. What was nil in a new object, or in one that is deleted, is left out.
    ///
    /// Where a member stands in an ordered one-to-many is a number of its own, recorded under the name of its to-one with
    /// `#position` behind it.
    public let changes: [Change]
    public let transaction: HistoryTransaction

    /// When it was saved.
    public var date: Date { transaction.date }
    /// Who saved it: the context's `transactionAuthor`.
    public var author: String? { transaction.author }
}
