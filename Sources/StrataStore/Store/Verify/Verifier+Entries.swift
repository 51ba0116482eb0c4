import LMDB
import StrataModel

extension Verifier {
    /// Looks up the index entries that rows require.
    func findIndexEntries() throws {
        try expectedIndexes.lookUp(transaction) { key in
            note(.index, index(of: key), "there is no entry for \(name(StoreKey.lastObjectID(key)))")
        }
    }

    /// `Movie.byTitle`; the key must be long enough for both.
    private func index(of key: UnsafeRawBufferPointer) -> String {
        let number = IndexID(rawValue: UInt32(bigEndian: key.loadUnaligned(as: UInt32.self)))
        return "\(names.name(of: StoreKey.lastObjectID(key).entityID)).\(names.name(of: number))"
    }

    /// If `indexes` has more entries than rows require, reports those without a row.
    func checkIndexEntries() throws {
        try findIndexEntries()
        try checkWaiting(tables.indexes, .index, ofAtLeast: 12) { index(of: $0) }
        guard try tables.indexes.count(transaction) != expectedIndexes.foundCount else { return }
        try scan(tables.indexes) { key, _ in
            guard key.count >= 12 else {
                note(.index, "key \(key.hexadecimal)", "it is no index entry")
                return
            }
            let id = StoreKey.lastObjectID(key)
            let index = IndexID(rawValue: UInt32(bigEndian: key.loadUnaligned(as: UInt32.self)))
            if try !calls(id, for: key, index) {
                note(.index, self.index(of: key), "an entry for \(name(id)) that its row does not make")
            }
        }
    }

    /// Whether the object's row, if it can be read, makes exactly this entry.
    private func calls(_ id: ObjectID, for key: UnsafeRawBufferPointer, _ number: IndexID) throws -> Bool {
        guard let schema = histories.newest else { return false }
        // Entries of an index, or an entity, that has left the model stay, because snapshots of the past read them.
        guard let entity = schema.entity(id.entityID), let index = entity.indexes.first(where: { $0.id == number })
        else {
            return try histories.schemas.contains { $0.index(number) != nil }
                && (schema.index(number) == nil || schema.entity(id.entityID) == nil)
        }
        guard let row = readableRow(id) else { return false }
        guard try IndexKeys.write(index, of: entity, row.reader, row.layout, id, schema, into: &keyWriter) else {
            return false
        }
        return keyWriter.bytes.compare(with: key) == 0
    }

    func readableRow(_ id: ObjectID) -> (reader: RowReader, layout: RowLayout)? {
        guard let bytes = try? transaction.get(tables.objects, id.rawValue), let stored = try? StoredRow(bytes),
            let layout = try? histories.layout(of: stored.image, id: id),
            let reader = try? RowReader(stored.image, layout: layout)
        else { return nil }
        return (reader, layout)
    }

    /// Looks up the entries that rows and pairs require.
    func findLinkEntries() throws {
        try expectedLinks.lookUp(transaction) { key in
            note(.link, link(of: key), "there is no entry for \(name(StoreKey.lastObjectID(key)))")
        }
    }

    /// `Person/p4.movies`; the key must be long enough for both.
    private func link(of key: UnsafeRawBufferPointer) -> String {
        name(PropertyID(rawValue: UInt32(bigEndian: key.loadUnaligned(as: UInt32.self))), StoreKey.objectID(key, at: 4))
    }

    /// Checks that waiting changes can be moved to the table: an entry of the buffer is not in the table yet, an entry
    /// to be removed is.
    private func checkWaiting(
        _ table: BufferedTable, _ kind: VerificationProblem.Kind, ofAtLeast size: Int,
        _ location: (UnsafeRawBufferPointer) -> String
    ) throws {
        func check(_ part: Table?, _ isExpected: Bool, _ message: String) throws {
            guard let part else { return }
            try transaction.withCursor(table.main) { main in
                try scan(part) { key, _ in
                    guard try main.seek(to: key) != isExpected else { return }
                    note(kind, key.count < size ? "key \(key.hexadecimal)" : location(key), message)
                }
            }
        }
        try check(table.buffer, false, "an entry is both in the table and in its buffer")
        try check(table.removals, true, "a removal waits for an entry that is not in the table")
    }

    /// If `links` has more entries than rows and pairs require, reports the others.
    func checkLinkEntries() throws {
        try findLinkEntries()
        try checkWaiting(tables.links, .link, ofAtLeast: StoreKey.linkSize) { link(of: $0) }
        guard try tables.links.count(transaction) != expectedLinks.foundCount else { return }
        let links = histories.newest?.links ?? .empty
        try scan(tables.links) { key, _ in
            guard key.count == StoreKey.linkSize || key.count == StoreKey.orderedLinkSize else {
                note(.link, "key \(key.hexadecimal)", "it is no link")
                return
            }
            let link = PropertyID(rawValue: UInt32(bigEndian: key.loadUnaligned(as: UInt32.self)))
            let owner = StoreKey.objectID(key, at: 4)
            let member = StoreKey.lastObjectID(key)
            if try !calls(for: key, link, owner, member, links) {
                note(.link, name(link, owner), "an entry for \(name(member)) that no row or pair makes")
            }
        }
    }

    private func calls(
        for key: UnsafeRawBufferPointer, _ link: PropertyID, _ owner: ObjectID, _ member: ObjectID, _ links: LinkMap
    ) throws -> Bool {
        guard let found = links.link(link) else {
            // Links of a relationship that has left the model stay, because snapshots of the past read them.
            return try histories.schemas.contains { $0.links.link(link) != nil }
        }
        switch found.source {
        case .rows where histories.newest?.entity(member.entityID) == nil: return true
        case .rows:
            guard let entity = histories.newest?.entity(member.entityID), let row = readableRow(member) else {
                return false
            }
            return links.rowLinks(of: member.entityID).contains { rowLink in
                guard rowLink.link == link,
                    let (end, position) = Projector.end(of: rowLink, row.reader, row.layout, entity)
                else { return false }
                return StoreKey.withLink(link, owner: end, position: position, member: member) {
                    $0.compare(with: key) == 0
                }
            }
        case .pairs:
            guard let pair = found.pairKey(owner: owner, member: member) else { return false }
            let state = try StoreKey.withPair(pair) { try transaction.get(tables.pairs, $0) }.flatMap {
                try? PairState($0)
            }
            guard let state else { return false }
            return links.entries(of: pair, state.positions).contains { entry in
                StoreKey.withLink(entry.link, owner: entry.owner, position: entry.position, member: entry.member) {
                    $0.compare(with: key) == 0
                }
            }
        }
    }

    // MARK: Counts

    /// The entries that owners' counters count.
    private var countedLinks: BufferedTable { tables.countsWait ? BufferedTable(tables.links.main) : tables.links }

    /// Compares every counter with the entries that it counts, both ways.
    func checkCounts() throws {
        var due = 0
        for (entity, count) in entityCounts.sorted(by: { $0.key < $1.key }) {
            due += 1
            try checkCounter(.entity(entity), count, names.name(of: entity))
        }
        var group: (link: PropertyID, owner: ObjectID)?
        var members = 0
        func finishGroup() throws {
            guard let group else { return }
            due += 1
            try checkCounter(.members(group.link, owner: group.owner), members, name(group.link, group.owner))
        }
        try scan(countedLinks) { key, _ in
            guard key.count >= StoreKey.linkSize else { return }
            let link = PropertyID(rawValue: UInt32(bigEndian: key.loadUnaligned(as: UInt32.self)))
            let owner = StoreKey.objectID(key, at: 4)
            if group?.link == link, group?.owner == owner {
                members += 1
            } else {
                try finishGroup()
                group = (link, owner)
                members = 1
            }
        }
        try finishGroup()
        if try transaction.count(tables.counts) != due { try nameExtraCounters() }
    }

    private func checkCounter(_ key: CounterKey, _ count: Int, _ location: String) throws {
        let stored = try key.withBytes { bytes in
            try transaction.get(tables.counts, bytes).map { value throws(CorruptRecord) in try CounterKey.value(value) }
        }
        if stored ?? 0 != Int64(count) {
            note(.count, location, "the counter says \(stored ?? 0), there are \(count)")
        }
    }

    private func nameExtraCounters() throws {
        try scan(tables.counts) { key, _ in
            switch key.count {
            case 2:
                let entity = EntityID(rawValue: UInt16(bigEndian: key.loadUnaligned(as: UInt16.self)))
                if entityCounts[entity] == nil {
                    note(.count, names.name(of: entity), "there is a counter, but no object")
                }
            case 12:
                let link = PropertyID(rawValue: UInt32(bigEndian: key.loadUnaligned(as: UInt32.self)))
                let owner = StoreKey.objectID(key, at: 4)
                let hasMember = try countedLinks.withCursor(transaction) { cursor in
                    try cursor.seek(atOrAfter: key) && cursor.key.count >= 12
                        && cursor.key.prefix(12).elementsEqual(key)
                }
                if !hasMember { note(.count, name(link, owner), "there is a counter, but no member") }
            default: note(.count, "key \(key.hexadecimal)", "it is no counter's")
            }
        }
    }
}
