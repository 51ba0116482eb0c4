import StrataModel

// In this folder: the unsaved changes of a context. `PendingChanges` owns the lists of objects, `PendingLinks` what is
// known of links, `PendingLayers` shows both to fetches. `ChangeCursor` has the readers of the lists.

/// The objects of a context with changes that are not saved. Its methods are the only code that writes these lists.
///
/// The lists grow until a save or a rollback empties them; single objects may be taken out before. An entry counts as
/// long as the object's own flags say so; see `ObjectLife`.
struct PendingChanges {
    private(set) var inserted: ContiguousArray<ManagedObject> = []
    private(set) var updated: ContiguousArray<ManagedObject> = []
    private(set) var deleted: ContiguousArray<ManagedObject> = []
    /// Saved objects that are deleted without having been made.
    private(set) var deletedRows = DeletedRows()
    /// New objects that were deleted again.
    private(set) var withdrawnCount = 0
    /// Objects that were changed again after a reader had seen them.
    private(set) var touched: ContiguousArray<ManagedObject> = []
    /// Changed or deleted objects that others changed too, in a way that the next save must settle.
    private(set) var overtaken: Set<ObjectID> = []
    /// Objects that others deleted while changes were pending here that may lead to them; the next save settles that.
    private(set) var vanished: Set<ObjectID> = []
    /// Objects whose deletion is pending and whose pairs others changed since: this context hides them from to-manys.
    private(set) var leaving: Set<ObjectID> = []
    /// The effects of the deletions on other objects.
    private(set) var causes = DeletionCauses()
    private var cursors = ChangeCursors()
    /// Goes on when the lists are emptied.
    private(set) var event = CurrentEvent()

    // MARK: Looking

    /// The three lists of objects to be saved.
    var lists: [ContiguousArray<ManagedObject>] { [inserted, updated, deleted] }

    /// Whether anything would be saved.
    var isEmpty: Bool {
        inserted.count <= withdrawnCount && !updated.contains { $0._flags.contains(.updated) } && deletedRows.isEmpty
            && !deleted.contains { $0._flags.contains(.deleted) }
    }

    /// Whether an object was ever listed since the lists were emptied.
    var isListing: Bool {
        !inserted.isEmpty || !updated.isEmpty || !deleted.isEmpty || !deletedRows.ids.isEmpty
    }

    var hasDeletions: Bool { !deleted.isEmpty || !deletedRows.isEmpty }

    // MARK: New and changed objects

    @inline(__always)
    mutating func noteInserted(_ object: ManagedObject) {
        object.becomeNew()
        inserted.append(object)
    }

    /// Lists an object as changed, unless it is listed.
    @inline(__always)
    mutating func noteUpdated(_ object: ManagedObject) {
        guard object._flags.isDisjoint(with: [.inserted, .updated]) else { return }
        object.becomeChanged()
        updated.append(object)
    }

    /// Lists an object that a reader has seen and that is changed again.
    @inline(__always)
    mutating func noteTouched(_ object: ManagedObject) { touched.append(object) }

    /// Makes an object again that is not in the store any more.
    mutating func makeAgain(_ object: ManagedObject) {
        unlist(object, .updated)
        object.dropBase()
        noteInserted(object)
        object.noteMadeAgain()
        noteTouched(object)
    }

    /// A new object is in the state that the context shows: it is a changed one.
    mutating func noteThereAgain(_ object: ManagedObject) {
        unlist(object, .inserted)
        object.becomeChangedSinceSave()
        updated.append(object)
    }

    /// Restores the row that was read, and forgets that the object was changed.
    mutating func dropChanges(of object: ManagedObject) {
        object.becomeCleanAsRead()
        unlist(object, .updated)
    }

    /// Forgets that objects were changed which are as they were read. A deleted one stays listed, and so does one that
    /// others changed too.
    ///
    /// - Returns: whether there were any.
    mutating func dropUnchanged(where isUnchanged: (ManagedObject) -> Bool) -> Bool {
        var kept: ContiguousArray<ManagedObject> = []
        for object in updated {
            if object._flags.contains(.updated), !object._flags.contains(.deleted),
                !overtaken.contains(object.objectID), isUnchanged(object)
            {
                object.becomeCleanAsRead()
                cursors.noteRemoval(at: kept.count, from: \.updated)
            } else {
                kept.append(object)
            }
        }
        defer { updated = kept }
        return kept.count < updated.count
    }

    /// Readers need not see the object again.
    mutating func forgetTouch(of object: ManagedObject) { unlist(object, .touched) }

    // MARK: Deleted objects

    /// Deletes a saved object, or withdraws a new one.
    mutating func noteDeleted(_ object: ManagedObject) {
        object.becomeDeleted()
        if object._flags.contains(.withdrawn) {
            withdrawnCount += 1
            touched.append(object)
        } else {
            deleted.append(object)
        }
    }

    mutating func noteDeletedRow(_ id: ObjectID, revision: EventNumber, at eventNumber: EventNumber) {
        deletedRows.add(id, revision: revision, at: eventNumber)
    }

    /// The row of an id that was deleted without an object, which is made now; nil for any other id.
    @inline(__always)
    mutating func takeDeletedRow(_ id: ObjectID) -> DeletedRows.Row? { deletedRows.take(id) }

    /// The fault that was made for a deleted row is a deleted object like any other.
    mutating func adoptDeletion(of object: ManagedObject, _ row: DeletedRows.Row) {
        object.becomeDeletedAsRow(row.revision)
        deleted.append(object)
    }

    mutating func noteTaken(_ members: [ObjectID], by id: ObjectID) { causes.noteTaken(members, by: id) }

    mutating func noteCut(_ toOne: PropertyID, of object: ObjectID, from target: ObjectID) {
        causes.noteCut(toOne, of: object, from: target)
    }

    /// Takes over the effects of a child's deletions on to-ones.
    mutating func adoptCuts(_ cuts: [DeletionCauses.CutLink: ObjectID]) {
        for (link, target) in cuts { causes.noteCut(link.toOne, of: link.object, from: target) }
    }

    mutating func forgetCut(_ toOne: PropertyID, of object: ObjectID) { causes.forgetCut(toOne, of: object) }

    /// A deletion that followed from another is taken back: the object has its own changes again.
    ///
    /// - Returns: whether the object was hidden from to-manys.
    mutating func takeBackFollowingDeletion(of object: ManagedObject) -> Bool {
        unlist(object, .deleted)
        object.becomeUndeleted()
        noteTouched(object)
        return leaving.remove(object.objectID) != nil
    }

    /// Takes back such a deletion of a row that has no object in memory.
    mutating func takeBackFollowingDeletion(ofRow id: ObjectID) -> Bool {
        _ = deletedRows.take(id)
        return leaving.remove(id) != nil
    }

    /// The object is as it was read, and there again.
    ///
    /// - Returns: whether it was hidden from to-manys.
    mutating func takeBackDeletion(of object: ManagedObject) -> Bool {
        unlist(object, .deleted)
        object.becomeCleanAsRead()
        unlist(object, .updated)
        return leaving.remove(object.objectID) != nil
    }

    /// A new object that was deleted exists again.
    mutating func takeBackWithdrawal(of object: ManagedObject) {
        object.becomeNewAgain()
        withdrawnCount -= 1
        touched.append(object)
    }

    /// Others deleted the object, and the policy kept the deletion.
    mutating func acceptDeletion(of object: ManagedObject) {
        unlist(object, .updated)
        unlist(object, .deleted)
    }

    private enum List {
        case inserted, updated, deleted, touched

        var objects: WritableKeyPath<PendingChanges, ContiguousArray<ManagedObject>> {
            switch self {
            case .inserted: \.inserted
            case .updated: \.updated
            case .deleted: \.deleted
            case .touched: \.touched
            }
        }

        var cursor: WritableKeyPath<ChangeCursor, Int> {
            switch self {
            case .inserted: \.inserted
            case .updated: \.updated
            case .deleted: \.deleted
            case .touched: \.touched
            }
        }
    }

    /// Takes an object out of a list; readers that have seen part of the list go on where they were.
    private mutating func unlist(_ object: ManagedObject, _ list: List) {
        while let index = self[keyPath: list.objects].lastIndex(where: { $0 === object }) {
            self[keyPath: list.objects].remove(at: index)
            cursors.noteRemoval(at: index, from: list.cursor)
        }
    }

    // MARK: Changes of others

    /// Others changed the object too, and the next save is to find the conflict.
    mutating func noteOvertaken(_ id: ObjectID) { overtaken.insert(id) }

    /// Notes that the changes others made to the object are merged.
    mutating func noteMerged(_ id: ObjectID) { overtaken.remove(id) }

    /// Others deleted these objects.
    mutating func noteVanished(_ ids: some Sequence<ObjectID>) { vanished.formUnion(ids) }

    mutating func settleVanished() { vanished = [] }

    /// Others linked or unlinked these objects, whose deletion is pending.
    mutating func noteLeaving(_ ids: some Sequence<ObjectID>) { leaving.formUnion(ids) }

    mutating func settleLeaving() { leaving = [] }

    // MARK: Saved changes

    /// A save that was in doubt has made an object that is withdrawn, or changed one that is deleted.
    mutating func noteSaved(deleted object: ManagedObject) {
        guard object._flags.contains(.withdrawn) else { return }
        withdrawnCount -= 1
        object.becomeDeletedSinceSave()
        deleted.append(object)
    }

    /// A save that was in doubt has made or changed the object, and more is changed here since.
    mutating func noteSavedInPart(_ object: ManagedObject) {
        if object._flags.isDisjoint(with: .updated) { updated.append(object) }
        object.becomeChangedSinceSave()
    }

    /// Removes saved changes from the lists.
    mutating func dropSettled() {
        inserted.removeAll { $0._flags.isDisjoint(with: [.inserted, .withdrawn]) }
        updated.removeAll { !$0._flags.contains(.updated) }
        deleted.removeAll { !$0._flags.contains(.deleted) }
        touched.removeAll { !$0._flags.isPending && !$0._flags.contains(.withdrawn) }
        cursors = ChangeCursors()
    }

    /// Empties the lists, which keep their memory; the objects are saved or dropped.
    mutating func removeAll() {
        inserted.removeAll(keepingCapacity: true)
        updated.removeAll(keepingCapacity: true)
        deleted.removeAll(keepingCapacity: true)
        touched.removeAll(keepingCapacity: true)
        deletedRows = DeletedRows()
        causes = DeletionCauses()
        withdrawnCount = 0
        overtaken = []
        vanished = []
        leaving = []
        cursors = ChangeCursors()
        event.forgetChanges()
    }

    /// Ends the event: later changes belong to the next one.
    mutating func endEvent() {
        event.end()
        _ = news(for: .events).markedObjects()
    }

    // MARK: Readers

    /// Whether anything was listed, or deleted as a row, since the reader last looked.
    func hasNews(for reader: ChangeReader) -> Bool { cursors[reader] != end }

    /// Returns the entries added since the reader last looked, and moves its cursor to the end.
    mutating func news(for reader: ChangeReader) -> ChangeNews {
        let cursor = cursors[reader]
        cursors[reader] = end
        return ChangeNews(
            inserted: inserted[cursor.inserted...], updated: updated[cursor.updated...],
            deleted: deleted[cursor.deleted...], touched: touched[cursor.touched...],
            deletedRows: deletedRows.ids[cursor.deletedRows...])
    }

    /// Lets the reader see everything again; a round of hooks begins with listed objects, not with touched ones.
    mutating func rewind(_ reader: ChangeReader) {
        cursors[reader] = ChangeCursor()
        if reader == .hooks { cursors[reader].touched = touched.count }
    }

    private var end: ChangeCursor {
        ChangeCursor(
            inserted: inserted.count, updated: updated.count, deleted: deleted.count, touched: touched.count,
            deletedRows: deletedRows.ids.count)
    }
}
