import LMDB
import StrataModel

// Reads all rows of an entity a part at a time, to build declared views.

extension Snapshot {
    /// Calls `body` with the rows of exactly one entity in the base tables, in its newest layout, from an id on. Layers
    /// are ignored.
    ///
    /// - Parameter body: returns false to stop.
    /// - Returns: where to continue; nil at the end of the entity.
    func forEachStoredRow(
        of entity: EntitySchema, from start: ObjectID, _ body: (RowReader, ObjectID) throws -> Bool
    ) throws -> ObjectID? {
        let plan = IndexMap.of(schema)
        let end = ObjectID(entity: entity.id, row: ObjectID.maximumRow).rawValue
        return try transaction.withCursor(tables.objects) { cursor in
            var found = try cursor.seek(
                atOrAfter: max(start.rawValue, ObjectID(entity: entity.id, row: 0).rawValue))
            var goesOn = true
            while found {
                let id = StoreKey.objectID(cursor.key, at: 0)
                guard id.rawValue <= end else { return nil }
                guard goesOn else { return id }
                let stored = try StoredRow(cursor.value)
                let layout = try histories.layout(of: stored.image, id: id)
                try plan.withNewestRow(try RowReader(stored.image, layout: layout), layout, entity) { row in
                    goesOn = try body(row, id)
                }
                found = try cursor.next()
            }
            return nil
        }
    }
}
