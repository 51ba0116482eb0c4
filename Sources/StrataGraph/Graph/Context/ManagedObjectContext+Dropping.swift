import StrataModel
import StrataStore

extension ManagedObjectContext {
    /// Drops every change that is not saved: new objects leave the context, deleted ones come back, changed ones show
    /// what they showed when they were read.
    public func rollback() {
        let (newObjects, changedObjects, deletedObjects) = (pending.inserted, pending.updated, pending.deleted)
        var changes = ContextChanges(.objectsDidChange, at: base)
        if !observers.isEmpty { changes.refreshedRows = Array(pending.deletedRows.rows.keys) }
        let overtaken = pending.overtaken
        // Their rows belong to a state that the context has left.
        var stale: [ManagedObject] = []
        forgetChanges()
        errors.forgetAllButDamage()
        for object in newObjects {
            forgetWithChanges(object)
            changes.deleted.insert(object)
        }
        for list in [changedObjects, deletedObjects] {
            for object in list where object._flags.isPending {
                object.becomeCleanAsRead()
                object.announceAllChanged()
                if overtaken.contains(object.objectID) { stale.append(object) }
                changes.refreshed.insert(object)
            }
        }
        readAgain(stale)
        undoManager?.removeAllActions()
        if !changes.isEmpty { announce(changes) }
        tellFollowers()
    }

    /// Forgets every object and every change, and damage of the store that was met; the context moves to the newest
    /// state. Objects still held are cut off.
    ///
    /// Observers of `objectsDidChange` get the ids of the objects that were in memory.
    public func reset() {
        var changes = ContextChanges(.objectsDidChange, at: base)
        if !observers.listening(to: changes.event).isEmpty {
            changes.invalidatedObjectIDs = Set(registeredObjects.map(\.objectID))
        }
        map.forEach { object in object.detachDroppingChanges() }
        map = IdentityMap()
        memory.forget()
        forgetChanges()
        undoManager?.removeAllActions()
        errors.forget()
        pendingLinks.forgetMembers()
        if !isPast {
            do {
                if let parent {
                    standpoint.stand(on: parent.standpoint, under: try parent.pendingLayers())
                } else {
                    standpoint.move(to: try binding.newestState())
                }
            } catch { report(Self.typed(error)) }
        }
        changes.eventNumber = base
        if !changes.isEmpty { announce(changes) }
        tellFollowers()
    }

    /// Empties the lists of changes, when their objects are saved or dropped.
    func forgetChanges(_ members: KnownMembers = .unknown) {
        pending.removeAll()
        pendingLinks.removeAll(members)
        invalidateLayers()
        saving.forget()
        undoManager?.rebase()
    }
}
