// Transactions and events of the log as values.

public import Foundation
public import StrataModel
import StrataStore

/// One save, as the log records it: its author, its date, and which events belong to it.
public struct HistoryTransaction: Sendable, Hashable {
    /// The number of the transaction; they count up by one.
    public let number: TransactionNumber
    /// An id that no transaction of any other store has.
    public let id: UUID
    /// When it was saved.
    public let date: Date
    /// The context's `transactionAuthor`.
    public let author: String?
    /// The context's `name`.
    public let contextName: String?
    /// The name of the process that saved.
    public let processName: String?
    /// The context's `transactionReason`.
    public let reason: String?
    /// The context's `transactionCorrelationID`.
    public let correlationID: String?
    /// The context's `transactionMetadata`.
    public let metadata: [String: String]
    /// The number of its first event.
    public let firstEvent: EventNumber
    /// The number of its last event, which is the `eventNumber` of a context that shows the transaction.
    public let lastEvent: EventNumber
    /// The conflicts that a merge policy resolved in this save.
    public let conflicts: [ConflictRecord]
}

/// One event of the log: a change of one object, with the values before and after.
public struct HistoryEvent: Sendable, Hashable {
    /// The kind of an event.
    public enum Kind: String, Sendable, Hashable {
        /// An object was inserted.
        case inserted
        /// Properties of an object changed.
        case updated
        /// An object was deleted.
        case deleted
        /// A link of a many-to-many, or of a to-many without inverse, was made.
        case linked
        /// Such a link was cut.
        case unlinked
        /// A member of such a relationship moved to another position.
        case moved
        /// A version of the model was installed.
        case modelInstalled
        /// A tag was set or removed, the store's metadata changed, values were erased, entities were thinned, or
        /// a note was written.
        case maintenance
    }

    /// A property with its values before and after the event; `null` where there was none.
    public struct Change: Sendable, Hashable {
        /// The name of the property.
        public let key: String
        /// The value before the event.
        public let before: AttributeValue
        /// The value after the event.
        public let after: AttributeValue
        /// The entities of the objects that a to-one led to before and after.
        private let entityNames: [EntityID: String]

        /// - Parameter names: the names of entities; nil for values that are no objects.
        init(_ key: String, _ before: AttributeValue, _ after: AttributeValue, _ names: RecordedNames?) {
            self.key = key
            self.before = before
            self.after = after
            var entityNames: [EntityID: String] = [:]
            for value in [before, after] {
                guard case .objectID(let id) = value, !id.isNil else { continue }
                entityNames[id.entityID] = names?.name(of: id.entityID)
            }
            self.entityNames = entityNames
        }

        /// A value of the change, in which an object has its entity's name.
        func text(_ value: AttributeValue) -> String {
            guard case .objectID(let id) = value, let name = entityNames[id.entityID] else { return "\(value)" }
            return id.named(name)
        }
    }

    /// The number of the event in the log.
    public let eventNumber: EventNumber
    /// The kind of the event.
    public let kind: Kind
    /// The object that changed; nil for a model or for maintenance.
    public let objectID: ObjectID?
    /// The entity of the object, by the name that it has now.
    public let entityName: String?
    /// The properties that changed, in the model's order.
    ///
    /// Of a new object, and of a deleted one, these are the properties that have a value. The position of a member in an
    /// ordered one-to-many is recorded under the name of its to-one with `#position` appended.
    public let changes: [Change]
    /// Whether values were erased from the event (`PersistentContainer.erase`). In `changes` they are nil, or the
    /// default of their attribute.
    public let isErased: Bool
    /// Whether the event lost values that later events replace, because the history of its entity was thinned
    /// (`PersistentContainer.truncateHistory(ofEntities:before:)`). In `changes` they are nil, or the default of their
    /// attribute.
    public let isThinned: Bool
    /// The save that the event belongs to.
    public let transaction: HistoryTransaction

    /// When the event was saved.
    public var date: Date { transaction.date }
    /// The author of the save: the context's `transactionAuthor`.
    public var author: String? { transaction.author }
}

extension HistoryTransaction: CustomStringConvertible {
    /// The number, the author, the date, the number of events and the reason.
    public var description: String {
        let count = lastEvent.rawValue - firstEvent.rawValue + 1
        let by = author.map { " by \($0)" } ?? ""
        let why = reason.map { ": \($0)" } ?? ""
        return "transaction \(number)\(by), \(date), \(count) \(count == 1 ? "event" : "events")\(why)"
    }
}

extension HistoryEvent: CustomStringConvertible {
    /// The number, the object, the kind of event, its author, and the changes.
    public var description: String {
        let subject = objectID.map { $0.named(entityName ?? "\($0.entityID)") + " " } ?? ""
        let by = author.map { " by \($0)" } ?? ""
        let list = changes.map(\.description).joined(separator: ", ")
        let erased = (isErased ? " (erased)" : "") + (isThinned ? " (thinned)" : "")
        return "event \(eventNumber): \(subject)\(kind)\(by)\(erased)\(list.isEmpty ? "" : "; \(list)")"
    }
}

extension HistoryEvent.Change: CustomStringConvertible {
    /// The property with its values before and after: `rating: 8.1 -> 9.0`.
    public var description: String { "\(key): \(text(before)) -> \(text(after))" }
}
