// Observations of a context's events: saves, merges and changes of objects.

public import StrataModel

/// An event of a context that observers can follow.
public enum ContextEvent: Sendable, Hashable, CaseIterable {
    /// A save begins. Hooks and validation run after this event.
    case willSave
    /// A save has been committed.
    case didSave
    /// Objects were inserted, changed or deleted in memory; see `ManagedObjectContext.processPendingChanges()`.
    case objectsDidChange
    /// The context has moved to a state with saves of others.
    case didMerge
}

/// The objects that an event of a context concerns.
///
/// Objects must stay in the context's isolation; their ids can be sent anywhere.
public struct ContextChanges {
    /// The event that was observed.
    public let event: ContextEvent
    /// Objects that were inserted.
    public var inserted: Set<ManagedObject> = []
    /// Objects whose values or links changed.
    public var updated: Set<ManagedObject> = []
    /// Objects that were deleted. Of a `didMerge`: unchanged objects in memory that others deleted.
    ///
    /// Objects that a cascade deleted without reading them are in `deletedObjectIDs` only.
    public var deleted: Set<ManagedObject> = []
    /// Ids of objects that were deleted as rows, without an object in memory.
    var deletedRows: [ObjectID] = []
    /// Ids of rows whose pending deletion was withdrawn, without an object in memory.
    var refreshedRows: [ObjectID] = []
    /// Unchanged objects that became faults because others changed them. They are read again when used.
    public var refreshed: Set<ManagedObject> = []
    /// Ids of objects that `reset()` removed from the context.
    public internal(set) var invalidatedObjectIDs: Set<ObjectID> = []
    /// The event number of the state that the context shows after the event.
    public internal(set) var eventNumber: EventNumber

    /// The ids of objects that others saved, of a `didMerge`, including objects that are not in memory.
    var merged: (inserted: Set<ObjectID>, updated: Set<ObjectID>, deleted: Set<ObjectID>) = ([], [], [])

    /// The ids of inserted objects. Of a `didMerge`, objects that are not in memory are included.
    public var insertedObjectIDs: Set<ObjectID> { merged.inserted.union(inserted.lazy.map(\.objectID)) }
    /// The ids of updated objects. Of a `didMerge`, objects that are not in memory are included.
    public var updatedObjectIDs: Set<ObjectID> { merged.updated.union(updated.lazy.map(\.objectID)) }
    /// The ids of deleted objects, including those that were never in memory.
    public var deletedObjectIDs: Set<ObjectID> {
        merged.deleted.union(deleted.lazy.map(\.objectID)).union(deletedRows)
    }
    /// The ids of refreshed objects.
    public var refreshedObjectIDs: Set<ObjectID> { Set(refreshed.map(\.objectID)).union(refreshedRows) }

    var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty && deletedRows.isEmpty
            && refreshedRows.isEmpty && invalidatedObjectIDs.isEmpty && merged.inserted.isEmpty
            && merged.updated.isEmpty && merged.deleted.isEmpty
    }

    init(_ event: ContextEvent, at eventNumber: EventNumber) {
        self.event = event
        self.eventNumber = eventNumber
    }
}

/// The observation of one event of a context. It ends when it is cancelled or released.
public final class ContextObservation {
    let event: ContextEvent
    let handler: (ContextChanges) -> Void
    private(set) var isCancelled = false

    init(_ event: ContextEvent, _ handler: @escaping (ContextChanges) -> Void) {
        self.event = event
        self.handler = handler
    }

    /// Ends the observation.
    public func cancel() { isCancelled = true }
}

/// The observations of one context, which are not retained.
struct ContextObservers {
    private struct Entry {
        weak var observation: ContextObservation?
    }

    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }

    mutating func add(_ observation: ContextObservation) {
        entries.removeAll { $0.observation?.isCancelled ?? true }
        entries.append(Entry(observation: observation))
    }

    func listening(to event: ContextEvent) -> [ContextObservation] {
        entries.compactMap(\.observation).filter { $0.event == event && !$0.isCancelled }
    }
}

extension ManagedObjectContext {
    /// Calls `handler` at each event, in the context's isolation, until the returned observation is released.
    ///
    /// ```swift
    /// let observation = context.observe(.didSave) { changes in print(changes.inserted.count) }
    /// ```
    public func observe(
        _ event: ContextEvent, _ handler: @escaping (ContextChanges) -> Void
    ) -> ContextObservation {
        let observation = ContextObservation(event, handler)
        observers.add(observation)
        return observation
    }

    /// Posts `objectsDidChange` for the changes in memory since the last call, and registers them for undo.
    ///
    /// Saves, rollbacks and merges call it. Between them call it yourself, at the end of a user's action.
    public func processPendingChanges() {
        announcePendingChanges()
        pending.endEvent()
    }

    /// The same within an event.
    func announcePendingChanges() {
        undoManager?.register()
        announceChangesInMemory()
        tellFollowers()
    }

    private func announceChangesInMemory() {
        guard !observers.isEmpty else { return }
        var changes = ContextChanges(.objectsDidChange, at: base)
        let news = pending.news(for: .announcements)
        let isNew = Set(news.inserted.map { ObjectIdentifier($0) })
        for object in news.markedObjects() {
            if object._flags.contains(.withdrawn) {
                if !isNew.contains(ObjectIdentifier(object)) { changes.deleted.insert(object) }
            } else if object._flags.contains(.deleted) {
                // An object that was deleted as a row is announced by its id.
                if !object._flags.contains(.deletedAsRow) { changes.deleted.insert(object) }
            } else if object._flags.contains(.inserted), isNew.contains(ObjectIdentifier(object)) {
                changes.inserted.insert(object)
            } else if object._flags.isPending {
                changes.updated.insert(object)
            }
        }
        for id in news.deletedRows {
            if pending.deletedRows.contains(id) {
                changes.deletedRows.append(id)
            } else if let object = map[id], object._flags.contains(.deleted) {
                changes.deleted.insert(object)
            }
        }
        if !changes.isEmpty { announce(changes) }
    }

    func announce(_ changes: ContextChanges) {
        for observation in observers.listening(to: changes.event) { observation.handler(changes) }
    }

    /// Announces the pending changes as an event. Without observers it does nothing.
    func announcePending(_ event: ContextEvent) {
        guard !observers.isEmpty, !observers.listening(to: event).isEmpty else { return }
        announce(pendingChanges(event))
    }

    func pendingChanges(_ event: ContextEvent) -> ContextChanges {
        var changes = ContextChanges(event, at: base)
        changes.inserted = insertedObjects
        changes.updated = updatedObjects
        changes.deleted = deletedObjectsInMemory
        changes.deletedRows = Array(pending.deletedRows.rows.keys)
        return changes
    }
}
