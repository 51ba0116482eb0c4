import StrataModel
import StrataStore

/// The saved objects that a cascade deletes without making them in memory.
///
/// An id leaves the table when its object is made, which is a deleted object like any other from then on.
struct DeletedRows {
    struct Row {
        let revision: EventNumber
        /// The event number of the context at the deletion, which names the state of the deleted row.
        let eventNumber: EventNumber
    }

    private(set) var rows: [ObjectID: Row] = [:]
    /// In the order in which they were deleted, including those that have objects now.
    private(set) var ids: ContiguousArray<ObjectID> = []
    private(set) var entities: Set<EntityID> = []

    var isEmpty: Bool { rows.isEmpty }

    func contains(_ id: ObjectID) -> Bool { !rows.isEmpty && rows[id] != nil }

    mutating func add(_ id: ObjectID, revision: EventNumber, at eventNumber: EventNumber) {
        rows[id] = Row(revision: revision, eventNumber: eventNumber)
        ids.append(id)
        entities.insert(id.entityID)
    }

    mutating func take(_ id: ObjectID) -> Row? { rows.isEmpty ? nil : rows.removeValue(forKey: id) }
}

extension ManagedObjectContext {
    /// The object of an id that was deleted as a row; nil for any other id.
    func objectOfDeletedRow(_ id: ObjectID) -> ManagedObject? {
        pending.deletedRows.contains(id) ? registeredOrFault(id) : nil
    }

    /// Turns a fault into the deleted object of its id.
    func adoptDeletion(of object: ManagedObject, _ row: DeletedRows.Row) {
        do {
            var found = false
            try binding.store.readRows(at: row.eventNumber, layers: inherited, through: binding.schema) {
                found = try Self.load(object, from: $0)
            }
            object.becomeLoaded()
            if found { object.awakeFromFetch() }
        } catch {
            report(Self.typed(error))
        }
        pending.adoptDeletion(of: object, row)
    }
}
