package import StrataModel

/// What a stretch of the log did to objects, seen from its end: each stands in one set at most.
package struct ObjectChanges: Sendable {
    package private(set) var inserted: Set<ObjectID> = []
    /// The row, or a pair that the object is an end of.
    package private(set) var updated: Set<ObjectID> = []
    package private(set) var deleted: Set<ObjectID> = []

    /// By id.
    package var all: [ObjectID] { inserted.union(updated).union(deleted).sorted() }

    fileprivate mutating func insert(_ id: ObjectID) {
        // One that came back was there before.
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
    /// What the events in (after, through] did.
    ///
    /// - Throws: `futureSequence`, `corrupt`.
    /// - Complexity: a walk along those events.
    package func objectChanges(after: EventNumber, through: EventNumber) throws -> ObjectChanges {
        var changes = ObjectChanges()
        guard after < through else { return changes }
        try readLog { reader, head in
            guard through <= head.event else {
                throw StrataError(
                    .futureSequence, "The log ends at \(head.event).", context: .init(eventNumber: through))
            }
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
