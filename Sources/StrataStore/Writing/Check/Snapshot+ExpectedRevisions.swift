package import StrataModel

extension Snapshot {
    /// Checks that rows still have the revisions that a save relies on.
    ///
    /// - Throws: `persistentStoreSaveConflicts` (134050) with the objects that were changed or deleted since.
    package func check(_ expected: [ObjectID: EventNumber?]) throws {
        let moved = try expected.filter { try row($0.key)?.revision != $0.value }.keys.sorted()
        guard let first = moved.first else { return }
        throw StrataError(
            .persistentStoreSaveConflicts,
            "\(moved.count == 1 ? "An object" : "\(moved.count) objects") that the save relies on was changed since.",
            context: .init(
                entityName: schema.entity(first.entityID)?.name, objectID: first, conflictingObjectIDs: moved))
    }
}
