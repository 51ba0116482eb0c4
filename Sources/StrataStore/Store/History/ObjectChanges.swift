package import StrataModel

/// The objects that a part of the log changed, by their state at its end; each is in at most one set.
package struct ObjectChanges: Sendable {
    package private(set) var inserted: Set<ObjectID> = []
    /// Objects whose row changed, or a pair of which they are an end.
    package private(set) var updated: Set<ObjectID> = []
    package private(set) var deleted: Set<ObjectID> = []

    /// Any changes of these objects, and the deletion of those.
    package init(updated: Set<ObjectID> = [], deleted: Set<ObjectID> = []) {
        self.updated = updated
        self.deleted = deleted
    }

    /// By id.
    package var all: [ObjectID] { inserted.union(updated).union(deleted).sorted() }

    package mutating func removeDeleted(where isRemoved: (ObjectID) -> Bool) {
        if deleted.contains(where: isRemoved) { deleted = deleted.filter { !isRemoved($0) } }
    }

    fileprivate mutating func insert(_ id: ObjectID) {
        // An object that was restored existed before.
        if deleted.remove(id) != nil { updated.insert(id) } else { inserted.insert(id) }
    }

    fileprivate mutating func update(_ id: ObjectID) {
        if !inserted.contains(id), !deleted.contains(id) { updated.insert(id) }
    }

    fileprivate mutating func delete(_ id: ObjectID) {
        updated.remove(id)
        if inserted.remove(id) == nil { deleted.insert(id) }
    }
}

extension Store {
    /// The changes made by the events in (after, through].
    ///
    /// - Throws: `futureEvent`, `historyDropped`, `corrupt`.
    /// - Complexity: a walk along those events.
    package func objectChanges(after: EventNumber, through: EventNumber) throws -> ObjectChanges {
        var changes = ObjectChanges()
        guard after < through else { return changes }
        try readLog { reader, head in
            guard through <= head.event else {
                throw StrataError(
                    .futureEvent, "The log ends at \(head.event).", context: .init(eventNumber: through))
            }
            try reader.checkKept(from: after.advanced(by: 1), head)
            try reader.events(from: after.advanced(by: 1), through: through) { event, _ in
                let id = event.header.object
                switch event.header.kind {
                case .inserted: changes.insert(id)
                case .updated: changes.update(id)
                case .deleted: changes.delete(id)
                case let kind where kind.isOnPair:
                    let key = try event.pair().key
                    changes.update(key.source)
                    changes.update(key.target)
                default: break
                }
                return true
            }
        }
        return changes
    }
}
