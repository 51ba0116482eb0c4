/// How much of a context's lists of changes somebody has seen.
///
/// The lists only grow until they are emptied, but for single objects that are taken out by `unlist`.
struct ChangeCursor {
    var inserted = 0
    var updated = 0
    var deleted = 0
    var touched = 0
    /// Of the ids in `ManagedObjectContext.deletedRows`, which are not among the listed objects.
    var deletedRows = 0

    fileprivate mutating func removed(_ place: Int, from list: ChangeList) {
        if self[keyPath: list.cursor] > place { self[keyPath: list.cursor] -= 1 }
    }
}

/// One of the lists, and where a cursor keeps its place in it.
struct ChangeList {
    let objects: ReferenceWritableKeyPath<ManagedObjectContext, ContiguousArray<ManagedObject>>
    let cursor: WritableKeyPath<ChangeCursor, Int>

    static var updated: ChangeList { ChangeList(objects: \.updated, cursor: \.updated) }
    static var deleted: ChangeList { ChangeList(objects: \.deleted, cursor: \.deleted) }
    static var touched: ChangeList { ChangeList(objects: \.touched, cursor: \.touched) }
}

extension ManagedObjectContext {
    /// Whether anything came into the lists, or rows were deleted, since the cursor's last look.
    func hasNews(since cursor: ChangeCursor) -> Bool {
        inserted.count != cursor.inserted || updated.count != cursor.updated || deleted.count != cursor.deleted
            || touched.count != cursor.touched || deletedRows.ids.count != cursor.deletedRows
    }

    /// Objects that came into the lists since the cursor's last look, which this is.
    func listed(since cursor: inout ChangeCursor) -> ContiguousArray<ManagedObject> {
        let found =
            inserted[cursor.inserted...] + updated[cursor.updated...] + deleted[cursor.deleted...]
            + touched[cursor.touched...]
        cursor = endOfLists
        return ContiguousArray(found)
    }

    /// The cursor of who has seen everything.
    var endOfLists: ChangeCursor {
        ChangeCursor(
            inserted: inserted.count, updated: updated.count, deleted: deleted.count, touched: touched.count,
            deletedRows: deletedRows.ids.count)
    }

    /// As `listed`; from now on the objects' next change makes them count as touched.
    func objectsChanged(since cursor: inout ChangeCursor) -> ContiguousArray<ManagedObject> {
        let found = listed(since: &cursor)
        for object in found where object._flags.isPending { object._state |= ObjectState.layered }
        return found
    }

    /// Takes an object out of a list; those who have seen part of the list go on where they were.
    func unlist(_ object: ManagedObject, _ list: ChangeList) {
        while let place = self[keyPath: list.objects].lastIndex(where: { $0 === object }) {
            self[keyPath: list.objects].remove(at: place)
            layers.seen.removed(place, from: list)
            observers.announced.removed(place, from: list)
            undoManager?.cursor.removed(place, from: list)
            prepared.removed(place, from: list)
        }
    }
}
