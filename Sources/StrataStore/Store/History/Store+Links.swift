import LMDB
package import StrataModel
import Synchronization

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
            try forEachLinkEvent(of: id, links, after: start, reader, head, check, isRead: { _ in true }) {
                events.append(try RecordedEvent($0, $1, reader.histories))
            }
            return events.sorted { $0.eventNumber > $1.eventNumber }
        }
    }

    /// The numbers of the events that `linkHistory(of:after:check:)` returns, newest first.
    ///
    /// A pair that was linked and not touched since is found by its record. So this reads the events only of transactions
    /// that unlinked or moved pairs of such a relationship, unless a model of the store had another one than the newest.
    ///
    /// - Complexity: O(transactions + members + events of those transactions).
    package func linkEventNumbers(
        of id: ObjectID, after start: EventNumber = .zero, check: () throws -> Void = {}
    ) throws -> [EventNumber] {
        try readLog { reader, head in
            let links = try pairNumbers(of: id.entityID, reader.histories)
            guard !links.isEmpty else { return [] }
            let linked = start == .zero ? try linkingEvents(of: id, links, reader, head, check) : nil
            var numbers = linked ?? []
            var former: Set<EventNumber> = []
            try forEachLinkEvent(
                of: id, links, after: start, reader, head, check,
                isRead: { linked == nil || $0.has(.unlinked) || $0.has(.moved) }
            ) { event, number in
                numbers.insert(number)
                former.insert(event.header.previous)
            }
            if linked != nil {
                let first = try reader.baseline()?.event ?? .zero
                numbers.formUnion(former.filter { $0 > first })
                numbers = numbers.filter { $0 > first }
            }
            return numbers.sorted(by: >)
        }
    }

    /// The newest event of each pair of an object; nil if the tables may not have all pairs of its relationships.
    private func linkingEvents(
        of id: ObjectID, _ numbers: Set<PropertyID>, _ reader: LogReader, _ head: LogHead, _ check: () throws -> Void
    ) throws -> Set<EventNumber>? {
        guard !snapshots.hasStrayPairs.load(ordering: .relaxed), let schema = reader.histories.newest else {
            return nil
        }
        let links = schema.links.links(ofOwners: id.entityID).filter(\.isPairs)
        let isComplete = numbers.isSubset(of: links.compactMap(\.canonical))
        guard isComplete else { return nil }
        let snapshot = Snapshot(
            eventNumber: head.event, schema: schema, transaction: reader.transaction, tables: file.tables,
            histories: reader.histories, layers: [])
        var events: Set<EventNumber> = []
        var members = 0
        for link in links {
            try snapshot.members(of: link.id, owner: id) { member in
                members += 1
                if members % 1024 == 0 { try check() }
                let state = try link.pairKey(owner: id, member: member).flatMap(snapshot.pairState)
                if let state { events.insert(state.revision) }
                return true
            }
        }
        return events
    }

    /// Calls `body` with the events on an object's pairs, newest transaction first, and in each in their order.
    ///
    /// - Parameters:
    ///   - links: the numbers of the relationships.
    ///   - isRead: whether the events of a transaction are read that touched one of them in this way.
    private func forEachLinkEvent(
        of id: ObjectID, _ links: Set<PropertyID>, after start: EventNumber, _ reader: LogReader, _ head: LogHead,
        _ check: () throws -> Void, isRead: (TransactionRecord.Touched) -> Bool,
        _ body: (EventView, EventNumber) throws -> Void
    ) throws {
        var number = head.transaction.rawValue
        let dropped = try reader.baseline()?.transaction.rawValue ?? 0
        while number > dropped {
            defer { number -= 1 }
            try check()
            guard let record = try reader.transaction(TransactionNumber(rawValue: number)), record.lastEvent > start
            else { return }
            let isConcerned = record.touched.contains { !links.isDisjoint(with: $0.properties) && isRead($0) }
            guard isConcerned else { continue }
            try reader.events(from: max(record.firstEvent, start.advanced(by: 1)), through: record.lastEvent) {
                event, eventNumber in
                guard event.header.kind.isOnPair else { return true }
                let pair = try event.pair()
                if pair.key.source == id || pair.key.target == id { try body(event, eventNumber) }
                return true
            }
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
