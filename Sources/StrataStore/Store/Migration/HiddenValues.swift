import LMDB
import StrataModel

/// Counts the objects and values of entities and properties that a new model no longer has.
struct HiddenValues {
    let old: Schema
    let new: Schema
    /// The head, through the old model.
    let snapshot: Snapshot

    /// The number of an entity's own objects, or of the values or links of a property.
    ///
    /// - Parameter limit: above this number of objects the values of a property are not counted, and 0 is returned.
    /// - Complexity: O(1) for an entity, O(objects) for a property.
    func count(_ removed: SchemaDifference.Change.Removed, upTo limit: Int) throws -> Int {
        guard let number = removed.property else {
            return try Migration.objectCount(removed.entity, snapshot.transaction, snapshot.tables)
        }
        guard let property = old.property(number), !property.isTransient else { return 0 }
        // The links of a to-many by rows are those of its inverse.
        if case .inverseSlot? = property.relationship?.truth { return 0 }
        let entities = (old.entity(removed.entity)?.concreteEntityIDs ?? []).filter { !isKept(property, by: $0) }
        let objects = try entities.reduce(0) {
            try $0 + Migration.objectCount($1, snapshot.transaction, snapshot.tables)
        }
        guard objects <= limit else { return 0 }
        return try entities.reduce(0) { try $0 + count(property, of: $1) }
    }

    /// Whether the objects of an entity keep the property, or another takes over its values in them.
    private func isKept(_ property: PropertySchema, by id: EntityID) -> Bool {
        guard let entity = old.entity(id) else { return false }
        return new.entity(id)?.property(property.id) != nil || new.heir(of: property.id, in: entity) != nil
    }

    private func count(_ property: PropertySchema, of id: EntityID) throws -> Int {
        guard let entity = old.entity(id), let slot = entity.slot(of: property.id) else { return 0 }
        var count = 0
        try snapshot.scan(id) { object, row in
            if property.storage == nil {
                count += try snapshot.memberCount(of: property.id, owner: object)
            } else if try !snapshot.value(slot, of: row, row.reader, entity).isNull {
                count += 1
            }
            return true
        }
        return count
    }
}
