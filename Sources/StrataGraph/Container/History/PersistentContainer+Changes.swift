public import StrataModel
import StrataStore

/// A deleted object, as it was when it was deleted.
public struct DeletedObject: Sendable, Hashable {
    /// The id, which no other object gets.
    public let objectID: ObjectID
    /// The entity of the object.
    public let entityName: String
    /// The values that were not nil, by name.
    public let values: [String: AttributeValue]
    /// The event that deleted the object.
    public let event: HistoryEvent
}

extension PersistentContainer {
    // MARK: Between two moments

    /// The differences between the states at two moments, object by object, sorted by id.
    ///
    /// With the later moment first, they lead back to the earlier state.
    ///
    /// - Throws: as `eventNumber(at:)`; `corrupt`.
    /// - Complexity: O(events between the moments).
    public func changes(from first: HistoryMoment, to last: HistoryMoment) throws -> [ObjectChange] {
        let (start, end) = (try eventNumber(at: first), try eventNumber(at: last))
        let changes = try binding.store.netChanges(
            from: min(start, end).advanced(by: 1), through: max(start, end))
        return try described(start <= end ? changes : changes.inverted)
    }

    /// The difference of one object between two moments; nil when it is the same.
    ///
    /// - Throws: as `eventNumber(at:)`; `corrupt`.
    /// - Complexity: O(events between the moments).
    public func changes(
        of id: ObjectID, from first: HistoryMoment, to last: HistoryMoment
    ) throws -> ObjectChange? {
        try changes(from: first, to: last).first { $0.objectID == id }
    }

    /// The changes of one transaction, one value an object, sorted by id.
    ///
    /// - Throws: `futureEvent` when there is no such transaction, `historyDropped` when it is no longer kept.
    public func changes(in transaction: TransactionNumber) throws -> [ObjectChange] {
        try described(try netChanges(in: transaction))
    }

    func netChanges(in transaction: TransactionNumber) throws -> NetChanges {
        try binding.netChanges(in: transaction)
    }

    private func described(_ changes: NetChanges) throws -> [ObjectChange] {
        ObjectChange.list(
            changes, try binding.store.recordedNames(), binding.store.keyRing, isPosition: binding.isPosition)
    }

    // MARK: One object

    /// Returns, for each property by name, the event that set its present value; of a deleted object, its last value.
    ///
    /// A value that the object was inserted with is attributed to its insertion.
    ///
    /// - Throws: `historyDropped`, `corrupt`.
    /// - Complexity: one lookup for each event of the object.
    public func blame(_ id: ObjectID) throws -> [String: HistoryEvent] {
        var blamed: [String: HistoryEvent] = [:]
        for event in try binding.store.named(try binding.store.history(of: id)) where event.kind != .deleted {
            for change in event.changes where blamed[change.key] == nil { blamed[change.key] = event }
            // Earlier events belong to a former object with this id, which was deleted and restored.
            if event.kind == .inserted { break }
        }
        return blamed
    }

    /// The object as it was when it was deleted; nil if it exists, or never did.
    ///
    /// - Throws: `historyDropped`, `corrupt`.
    public func deletedObject(_ id: ObjectID) throws -> DeletedObject? {
        guard let last = try binding.store.history(of: id).first, last.kind == .deleted else { return nil }
        return try deletedObjects([last]).first
    }

    /// Deleted objects of an entity, without its subentities, sorted by id.
    ///
    /// - Parameter limit: how many objects to return at most.
    /// - Throws: `unknownEntity`, `corrupt`.
    public func deletedObjects(ofEntity name: String, limit: Int = 1000) throws -> [DeletedObject] {
        guard let entity = binding.entity(named: name) else { throw binding.schema.unknownEntity(name) }
        let store = binding.store
        return try deletedObjects(
            store.deletedObjects(of: entity.id, limit: limit).map { try store.event($0.event) })
    }

    private func deletedObjects(_ events: [RecordedEvent]) throws -> [DeletedObject] {
        try binding.store.named(events).compactMap { event in
            guard let id = event.objectID, let entityName = event.entityName else { return nil }
            let values = event.changes.filter { !$0.before.isNull }.map { ($0.key, $0.before) }
            return DeletedObject(
                objectID: id, entityName: entityName,
                values: Dictionary(values, uniquingKeysWith: { first, _ in first }),
                event: event)
        }
    }
}

extension StoreBinding {
    /// The changes of one transaction.
    ///
    /// - Throws: `futureEvent` when there is no such transaction, `historyDropped` when it is no longer kept.
    func netChanges(in transaction: TransactionNumber) throws -> NetChanges {
        let record = try record(of: transaction)
        return try store.netChanges(from: record.firstEvent, through: record.lastEvent)
    }

    /// The same as the newest model has it; see `Store.converted`.
    ///
    /// - Throws: `migration` if a value cannot be converted.
    func convertedChanges(in transaction: TransactionNumber) throws -> NetChanges {
        let record = try record(of: transaction)
        return try store.converted(
            try store.netChanges(from: record.firstEvent, through: record.lastEvent),
            from: EventNumber(rawValue: record.firstEvent.rawValue - 1), through: record.lastEvent, to: schema)
    }

    private func record(of transaction: TransactionNumber) throws -> TransactionRecord {
        guard let record = try store.transaction(transaction) else {
            if transaction > .zero { try store.checkKept(after: TransactionNumber(rawValue: transaction.rawValue - 1)) }
            throw StrataError(.futureEvent, "The log has no transaction \(transaction).")
        }
        return record
    }
}
