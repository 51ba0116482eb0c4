import LMDB
package import StrataModel

extension Store {
    /// The events of an object's pairs (links of many-to-many relationships and of those without inverse), newest
    /// first.
    ///
    /// They are on no row, and an unlinked pair has no record. So this reads all transactions, and the events of those
    /// that touched a relationship of the object's entity.
    ///
    /// - Parameters:
    ///   - start: events up to this one are neither read nor returned.
    ///   - check: is called before each transaction is read; an error of it ends the reading.
    /// - Complexity: O(transactions + events of transactions that touched such a relationship), about a microsecond for
    ///   each; nothing for an entity without such relationships.
    package func linkHistory(
        of id: ObjectID, after start: EventNumber = .zero, check: () throws -> Void = {}
    ) throws -> [RecordedEvent] {
        try readLog { reader, head in
            let links = try pairNumbers(of: id.entityID, reader.histories)
            guard !links.isEmpty else { return [] }
            var events: [RecordedEvent] = []
            var number = head.transaction.rawValue
            let dropped = try reader.baseline()?.transaction.rawValue ?? 0
            while number > dropped {
                defer { number -= 1 }
                try check()
                guard let record = try reader.transaction(TransactionNumber(rawValue: number)), record.lastEvent > start
                else { break }
                let isConcerned = record.touched.contains { !links.isDisjoint(with: $0.properties) }
                guard isConcerned else { continue }
                var own: [RecordedEvent] = []
                let first = max(record.firstEvent, start.advanced(by: 1))
                try reader.events(from: first, through: record.lastEvent) { event, eventNumber in
                    guard event.header.kind.isOnPair else { return true }
                    let pair = try event.pair()
                    guard pair.key.source == id || pair.key.target == id else { return true }
                    own.append(try RecordedEvent(event, eventNumber, reader.histories))
                    return true
                }
                events += own.reversed()
            }
            return events
        }
    }

    /// The numbers under which objects of an entity were ever paired, as source or target.
    private func pairNumbers(of entity: EntityID, _ histories: SchemaHistory) throws -> Set<PropertyID> {
        var numbers: Set<PropertyID> = []
        for schema in try histories.schemas {
            for link in schema.links.links(ofOwners: entity) {
                if case .pairs(let canonical, _, _, _) = link.source { numbers.insert(canonical) }
            }
        }
        return numbers
    }

    /// Objects of exactly this entity that were deleted and not restored, with the event that deleted them, by id.
    package func deletedObjects(of entity: EntityID, limit: Int) throws -> [(id: ObjectID, event: EventNumber)] {
        try readLog { reader, _ in
            var found: [(id: ObjectID, event: EventNumber)] = []
            guard limit > 0 else { return found }
            try reader.transaction.withCursor(file.tables.tombstones) { cursor in
                var isThere = try cursor.seek(atOrAfter: ObjectID(entity: entity, row: 0).rawValue)
                while isThere, found.count < limit {
                    let id = StoreKey.lastObjectID(cursor.key)
                    guard id.entityID == entity else { return }
                    if try reader.transaction.get(file.tables.objects, id.rawValue) == nil {
                        found.append((id, try Tombstone.eventNumber(cursor.value)))
                    }
                    isThere = try cursor.next()
                }
            }
            return found
        }
    }

    /// The event with this number.
    ///
    /// - Throws: `corrupt` if the log has no such event.
    package func event(_ eventNumber: EventNumber) throws -> RecordedEvent {
        try readLog { reader, _ in
            try reader.event(eventNumber) { try RecordedEvent($0, eventNumber, reader.histories) }
        }
    }
}
