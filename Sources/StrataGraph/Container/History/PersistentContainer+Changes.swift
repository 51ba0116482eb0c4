public import StrataModel
import StrataStore

/// An object that is gone, as it was last.
public struct DeletedObject: Sendable, Hashable {
    public let objectID: ObjectID
    public let entityName: String
    /// By name; those that were not nil.
    public let values: [String: AttributeValue]
    /// The event that deleted it.
    public let event: HistoryEvent
}

extension PersistentContainer {
    // MARK: Between two moments

    /// What became of every object between two moments, by id; steps between the two do not show. With the later moment
    /// first it is the way back.
    ///
    /// - Throws: as `sequence(at:)`; `corrupt`.
    /// - Complexity: a walk over the events between.
    public func changes(from first: HistoryMoment, to last: HistoryMoment) throws -> [ObjectChange] {
        let (start, end) = (try eventNumber(at: first), try eventNumber(at: last))
        let changes = try binding.store.netChanges(
            from: min(start, end).advanced(by: 1), through: max(start, end))
        return try described(start <= end ? changes : changes.inverted)
    }

    /// What became of one object between two moments; nil when it is as it was.
    public func changes(
        of id: ObjectID, from first: HistoryMoment, to last: HistoryMoment
    ) throws -> ObjectChange? {
        try changes(from: first, to: last).first { $0.objectID == id }
    }

    /// What one transaction did to every object it touched.
    ///
    /// - Throws: `futureSequence` when there is no such transaction.
    public func changes(in transaction: TransactionNumber) throws -> [ObjectChange] {
        try described(try netChanges(in: transaction))
    }

    func netChanges(in transaction: TransactionNumber) throws -> NetChanges {
        try binding.netChanges(in: transaction)
    }

    private func described(_ changes: NetChanges) throws -> [ObjectChange] {
        ObjectChange.list(changes, try binding.store.recordedNames(), isPlace: binding.isPlace)
    }

    // MARK: One object

    /// For each property the event that gave it the value it has (or had last), by name: who wrote this, and when.
    ///
    /// Values that the object was made with are its insertion's.
    ///
    /// - Complexity: a lookup for each event of the object, until every property is explained.
    public func blame(_ id: ObjectID) throws -> [String: HistoryEvent] {
        var blamed: [String: HistoryEvent] = [:]
        for event in try binding.store.named(try binding.store.history(of: id)) where event.kind != .deleted {
            for change in event.changes where blamed[change.key] == nil { blamed[change.key] = event }
            // What came before was another life of the object.
            if event.kind == .inserted { break }
        }
        return blamed
    }

    /// The object as it was last, if it is gone.
    public func deletedObject(_ id: ObjectID) throws -> DeletedObject? {
        guard let last = try binding.store.history(of: id).first, last.kind == .deleted else { return nil }
        return try deletedObjects([last]).first
    }

    /// Objects of an entity that are gone, by id, at most `limit` of them; subentities stand for themselves.
    ///
    /// - Throws: `unknownEntity`.
    public func deletedObjects(ofEntity name: String, limit: Int = 1000) throws -> [DeletedObject] {
        guard let entity = binding.entity(named: name) else { throw ManagedObjectContext.unknownEntity(name) }
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
    /// What one transaction did.
    ///
    /// - Throws: `futureSequence` when there is no such transaction.
    func netChanges(in transaction: TransactionNumber) throws -> NetChanges {
        guard let record = try store.transaction(transaction) else {
            throw StrataError(.futureSequence, "The log has no transaction \(transaction).")
        }
        return try store.netChanges(from: record.firstEvent, through: record.lastEvent)
    }
}
