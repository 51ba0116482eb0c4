import StrataModel
import StrataStore

/// Saved objects that a cascade deletes without making them: their ids, and what the save must know of their rows.
///
/// An id leaves the table when somebody asks for its object, which is a deleted object like any other from then on.
struct DeletedRows {
    struct Row {
        let revision: EventNumber
        /// Where the context stood; the row of that moment is what was deleted.
        let eventNumber: EventNumber
    }

    private(set) var rows: [ObjectID: Row] = [:]
    /// In the order in which they were deleted, those with objects too.
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
    /// The object of an id that was deleted without one; nil for any other id.
    func objectOfDeletedRow(_ id: ObjectID) -> ManagedObject? {
        pending.deletedRows.contains(id) ? registeredOrFault(id) : nil
    }

    /// Makes a fault the deleted object that its id stands for.
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

    /// What the delete rules of objects deleted as rows still deny.
    func deniedRowDeletions() throws -> [StrataError] {
        let denying = Set(pending.deletedRows.entities.filter { !(binding.entity($0)?.denyIndexes.isEmpty ?? true) })
        guard !denying.isEmpty else { return [] }
        var denied: [(id: ObjectID, property: PropertyRuntime)] = []
        foldLinkChanges()
        try read { snapshot in
            for id in pending.deletedRows.rows.keys.filter({ denying.contains($0.entityID) }).sorted() {
                guard let entity = binding.entity(id.entityID), let row = try snapshot.row(id) else { continue }
                for property in entity.denyIndexes.map({ entity.properties[$0] }) {
                    if property.isToMany, let link = binding.link(property.id) {
                        let remain = try membersOfDeleted(link, id, snapshot).contains { !isDeleted($0) }
                        if remain { denied.append((id, property)) }
                    } else if let target = try row.target(of: property, entity, id, binding.schema) {
                        if !isDeleted(target) { denied.append((id, property)) }
                    }
                }
            }
        }
        return denied.compactMap { denial in
            registeredOrFault(denial.id).map { $0.completing(deniedDeletion(of: $0, denial.property)) }
        }
    }

    /// Notes again, in the owners' sides, that the rows went.
    func noteAllLinkChangesOfDeletedRows() throws {
        guard !pending.deletedRows.isEmpty else { return }
        try read { snapshot in
            for id in pending.deletedRows.rows.keys {
                guard let entity = binding.entity(id.entityID), let row = try snapshot.row(id) else { continue }
                for index in entity.toOneIndexes {
                    let property = entity.properties[index]
                    guard let owner = try row.target(of: property, entity, id, binding.schema) else { continue }
                    noteLoss(of: id, property, owner)
                }
            }
        }
    }

    /// The owner of a deleted row loses a member. Nobody can look at one that was deleted as a row itself.
    func noteLoss(of id: ObjectID, _ property: PropertyRuntime, _ owner: ObjectID) {
        guard case .toMany(let link, _) = property.inverse, !pending.deletedRows.contains(owner) else { return }
        noteLinkChange(link, owner: owner, member: id, isAdded: false)
    }
}

extension SnapshotRow {
    /// Where a to-one of the row leads, whatever model version the row is of.
    func target(
        of property: PropertyRuntime, _ entity: EntityRuntime, _ id: ObjectID, _ schema: Schema
    ) throws -> ObjectID? {
        guard property.isInRow else { return nil }
        guard layout === entity.layout else { return try reference(property.id, of: schema, id) }
        let target = try reader.reference(property.slot)
        return target.isNil ? nil : target
    }
}
