public import StrataModel

/// What a context tells those who observe it.
public enum ContextEvent: Sendable, Hashable, CaseIterable {
    /// A save begins; hooks and validation come after it.
    case willSave
    /// A save is in the log.
    case didSave
    /// Objects were made, changed or deleted in memory since the last time; see
    /// `ManagedObjectContext.processPendingChanges()`.
    case objectsDidChange
    /// Objects in memory show what others saved.
    case didMerge
}

/// Which objects an event of a context is about.
///
/// Handlers run in the context's isolation. What crosses to another are the ids.
public struct ContextChanges {
    public let event: ContextEvent
    public var inserted: Set<ManagedObject> = []
    public var updated: Set<ManagedObject> = []
    /// After the save they are cut off from the context; their ids stay. Of a `didMerge`: clean objects in memory that
    /// others deleted; they are `isDeleted` from then on.
    ///
    /// What a cascade deleted without making an object of it is in `deletedObjectIDs` only.
    public var deleted: Set<ManagedObject> = []
    /// Deleted without objects.
    var deletedRows: [ObjectID] = []
    /// Not deleted after all, without objects.
    var refreshedRows: [ObjectID] = []
    /// Clean objects whose values went because others changed them: they are read again when used.
    public var refreshed: Set<ManagedObject> = []
    /// Where the context stands after a save or merge.
    public internal(set) var eventNumber: EventNumber

    /// What others did, of a `didMerge`: objects that are not in memory among it.
    var merged: (inserted: Set<ObjectID>, updated: Set<ObjectID>, deleted: Set<ObjectID>) = ([], [], [])

    /// Of a `didMerge` also what is not in memory; so with the ids below.
    public var insertedObjectIDs: Set<ObjectID> { merged.inserted.union(inserted.lazy.map(\.objectID)) }
    public var updatedObjectIDs: Set<ObjectID> { merged.updated.union(updated.lazy.map(\.objectID)) }
    public var deletedObjectIDs: Set<ObjectID> {
        merged.deleted.union(deleted.lazy.map(\.objectID)).union(deletedRows)
    }
    public var refreshedObjectIDs: Set<ObjectID> { Set(refreshed.map(\.objectID)).union(refreshedRows) }

    var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty && deletedRows.isEmpty
            && refreshedRows.isEmpty && merged.inserted.isEmpty && merged.updated.isEmpty && merged.deleted.isEmpty
    }

    init(_ event: ContextEvent, at eventNumber: EventNumber) {
        self.event = event
        self.eventNumber = eventNumber
    }
}

/// Ends when it is cancelled or let go.
public final class ContextObservation {
    let event: ContextEvent
    let handler: (ContextChanges) -> Void
    private(set) var isCancelled = false

    init(_ event: ContextEvent, _ handler: @escaping (ContextChanges) -> Void) {
        self.event = event
        self.handler = handler
    }

    public func cancel() { isCancelled = true }
}

/// The observations of one context, which does not keep them alive.
struct ContextObservers {
    private struct Entry {
        weak var observation: ContextObservation?
    }

    private var entries: [Entry] = []
    var announced = ChangeCursor()

    var isEmpty: Bool { entries.isEmpty }

    mutating func add(_ observation: ContextObservation) {
        entries.removeAll { $0.observation?.isCancelled ?? true }
        entries.append(Entry(observation: observation))
    }

    func listening(to event: ContextEvent) -> [ContextObservation] {
        entries.compactMap(\.observation).filter { $0.event == event && !$0.isCancelled }
    }

    mutating func forgetAnnounced() { announced = ChangeCursor() }
}

extension ManagedObjectContext {
    /// Calls `handler` at each event until the observation that is returned is let go.
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

    /// Announces `objectsDidChange` for what changed in memory since the last time.
    ///
    /// A save, a rollback and a move to what others saved do it by themselves; there is no run loop that could.
    public func processPendingChanges() {
        undoManager?.register()
        announceChangesInMemory()
        tellFollowers()
    }

    private func announceChangesInMemory() {
        guard !observers.isEmpty else { return }
        var changes = ContextChanges(.objectsDidChange, at: base)
        let firstInserted = min(observers.announced.inserted, inserted.count)
        let firstRow = observers.announced.deletedRows
        let isNew = Set(inserted[firstInserted...].map { ObjectIdentifier($0) })
        for object in objectsChanged(since: &observers.announced) {
            if object._flags.contains(.withdrawn) {
                if !isNew.contains(ObjectIdentifier(object)) { changes.deleted.insert(object) }
            } else if object._flags.contains(.deleted) {
                // One that was deleted as a row is announced by its id.
                if !object._flags.contains(.deletedAsRow) { changes.deleted.insert(object) }
            } else if object._flags.contains(.inserted), isNew.contains(ObjectIdentifier(object)) {
                changes.inserted.insert(object)
            } else if object._flags.isPending {
                changes.updated.insert(object)
            }
        }
        for id in deletedRows.ids[firstRow...] {
            if deletedRows.contains(id) {
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

    /// Announces what is pending as the event; nothing is gathered where nobody listens.
    func announcePending(_ event: ContextEvent) {
        guard !observers.isEmpty, !observers.listening(to: event).isEmpty else { return }
        announce(pendingChanges(event))
    }

    func pendingChanges(_ event: ContextEvent) -> ContextChanges {
        var changes = ContextChanges(event, at: base)
        changes.inserted = insertedObjects
        changes.updated = updatedObjects
        changes.deleted = deletedObjectsInMemory
        changes.deletedRows = Array(deletedRows.rows.keys)
        return changes
    }
}
