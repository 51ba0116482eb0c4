import LMDB
package import StrataModel

extension Snapshot {
    /// Calls `body` with each member of a to-many in order (position, then id) until it returns false.
    ///
    /// No member's row is read. `relationship` may be a hidden inverse.
    package func members(
        of relationship: PropertyID, owner: ObjectID, _ body: (ObjectID) throws -> Bool
    ) throws {
        try scanLinks(relationship, owner, isDescending: false) { try body(StoreKey.lastObjectID($0)) }
    }

    /// The members as an array, at most `limit`.
    package func members(
        of relationship: PropertyID, owner: ObjectID, limit: Int = .max
    ) throws -> [ObjectID] {
        var members: [ObjectID] = []
        try self.members(of: relationship, owner: owner) { member in
            members.append(member)
            return members.count < limit
        }
        return members
    }

    /// The number of members: a counter corrected by the layers. No member's row is read.
    ///
    /// - Complexity: O(layers) for a link that pairs record, if all layers are of the past; else O(what the layers
    ///   change), or O(members) where that is less.
    package func memberCount(of relationship: PropertyID, owner: ObjectID) throws -> Int {
        // Counters are kept under the newer model, which may not have the links of an older one.
        if histories.isPast || farEnd(of: relationship, owner) != nil {
            return try listedCount(of: relationship, owner: owner)
        }
        let stored = try counter(.members(relationship, owner: owner))
        guard !layers.isEmpty, let link = schema.links.link(relationship) else { return stored }
        let balances = layers.map { $0.balance(of: link, owner) }
        // The layers of a distant past change far more objects than one owner has members.
        let changes = zip(layers, balances).reduce(0) { $0 + ($1.1 == nil ? $1.0.changeCount(of: link) : 0) }
        if changes > Self.fewChanges + stored { return try listedCount(of: relationship, owner: owner) }
        var count = stored
        for (level, layer) in layers.enumerated() {
            if let balance = balances[level] {
                count += balance
                continue
            }
            switch link.source {
            case .rows(let toOne):
                for entity in link.memberEntityIDs {
                    for id in layer.touched(entity) where layer.touches(id, [toOne]) {
                        count += try self.owner(of: id, toOne, below: level + 1) == owner ? 1 : 0
                        count -= try self.owner(of: id, toOne, below: level) == owner ? 1 : 0
                    }
                }
            case .pairs:
                count += try pairDifference(link, owner, layer, level)
            }
        }
        return count
    }

    /// The number of changes that are looked through whatever the owner has.
    private static let fewChanges = 16

    private func listedCount(of relationship: PropertyID, owner: ObjectID) throws -> Int {
        var members = 0
        try self.members(of: relationship, owner: owner) { _ in
            members += 1
            return true
        }
        return members
    }

    package func isMember(_ member: ObjectID, of relationship: PropertyID, owner: ObjectID) throws -> Bool {
        guard let link = schema.links.link(relationship) else { return false }
        if case .rows(let toOne) = link.source {
            return try self.owner(of: member, toOne, below: layers.count) == owner
        }
        if let farEnd = farEnd(of: relationship, owner), !schema.holds(member.entityID, at: farEnd) { return false }
        return try link.pairKey(owner: owner, member: member).flatMap { try pair($0, below: layers.count) } != nil
    }

    /// The position of the last member of an ordered to-many; nil if it is empty.
    package func lastPosition(of relationship: PropertyID, owner: ObjectID) throws -> Int64? {
        var last: Int64?
        try scanLinks(relationship, owner, isDescending: true) { key in
            last = Self.position(in: key)
            return false
        }
        return last
    }

    /// The member's position in an ordered to-many; nil if it is not a member.
    package func position(
        of member: ObjectID, in relationship: PropertyID, owner: ObjectID
    ) throws -> Int64? {
        guard let link = schema.links.link(relationship) else { return nil }
        if case .rows(let toOne) = link.source {
            guard let row = try row(member), try self.owner(of: member, toOne, below: layers.count) == owner,
                let slot = schema.links.rowLinks(of: member.entityID).first(where: { $0.link == relationship })?
                    .positionSlot,
                let ownSlot = row.layout.slotNumber(slot, of: schema, member)
            else { return nil }
            return try row.reader.position(ownSlot) ?? 0
        }
        guard let key = link.pairKey(owner: owner, member: member), let positions = try pair(key, below: layers.count)
        else { return nil }
        return link.isSource(owner, of: key) ? positions.inSource : positions.inTarget
    }

    /// Members with their positions, in order.
    package func membersWithPositions(
        of relationship: PropertyID, owner: ObjectID, _ body: (ObjectID, Int64) throws -> Bool
    ) throws {
        try scanLinks(relationship, owner, isDescending: false) { key in
            try body(StoreKey.lastObjectID(key), Self.position(in: key))
        }
    }

    /// The target of an object's to-one; nil if it has none, or there is no such object.
    package func reference(_ toOne: PropertyID, of id: ObjectID) throws -> ObjectID? {
        try owner(of: id, toOne, below: layers.count)
    }

    // MARK: Inside

    private static func position(in key: UnsafeRawBufferPointer) -> Int64 {
        guard key.count == StoreKey.orderedLinkSize else { return 0 }
        return StoreKey.position(UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 12, as: UInt64.self)))
    }

    /// The target of the to-one of `id` in the base and the first `level` layers.
    private func owner(of id: ObjectID, _ toOne: PropertyID, below level: Int) throws -> ObjectID? {
        guard let row = try row(id, below: level) else { return nil }
        return try row.reference(toOne, of: schema, id)
    }

    /// The other end of a many-to-many whose members may be of an entity that has left the model, or that no longer has
    /// the inverse. Counters count them. An older model may lack what the pairs of a newer one have.
    private func farEnd(of relationship: PropertyID, _ owner: ObjectID) -> Link? {
        guard hasStrayPairs || histories.isPast, let link = schema.links.link(relationship),
            case .pairs(_, _, _, let inverse) = link.source, schema.holds(owner.entityID, at: link)
        else { return nil }
        return schema.links.link(inverse)
    }

    private func scanLinks(
        _ relationship: PropertyID, _ owner: ObjectID, isDescending: Bool,
        _ body: (UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        guard let farEnd = farEnd(of: relationship, owner) else {
            return try scanAllLinks(relationship, owner, isDescending: isDescending, body)
        }
        try scanAllLinks(relationship, owner, isDescending: isDescending) { key in
            try !schema.holds(StoreKey.lastObjectID(key).entityID, at: farEnd) || body(key)
        }
    }

    private func scanAllLinks(
        _ relationship: PropertyID, _ owner: ObjectID, isDescending: Bool,
        _ body: (UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        if layers.isEmpty, !isDescending { return try scanBaseLinks(relationship, owner, body) }
        let added = LayeredKeys(
            try layers.enumerated().map { try $0.element.addedLinks(relationship, self, below: $0.offset + 1) })
        let link = schema.links.link(relationship)
        let properties = linkProperties(link)
        try StoreKey.withLinkPrefix(relationship, owner: owner) { lower in
            try StoreKey.withLinkPrefix(relationship, owner: ObjectID(rawValue: owner.rawValue &+ 1)) { upper in
                let scan = MergedScan(
                    table: tables.links, lower: lower, upper: upper, isUpperIncluded: false,
                    isDescending: isDescending)
                try scan.run(self, added, isHidden: { self.isLinkHidden($0, above: $1, link, owner, properties) }) {
                    key, _ in
                    try spend(members: 1)
                    return try body(key)
                }
            }
        }
    }

    /// The same without layers.
    private func scanBaseLinks(
        _ relationship: PropertyID, _ owner: ObjectID, _ body: (UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try StoreKey.withLinkPrefix(relationship, owner: owner) { prefix in
            try tables.links.withCursor(transaction) { cursor in
                var isThere = try cursor.seek(atOrAfter: prefix)
                while isThere, cursor.key.hasPrefix(prefix), try body(cursor.key) {
                    try spend(members: 1)
                    isThere = try cursor.advance()
                }
            }
        }
    }

    /// Whether the links table alone tells the members of each owner.
    var readsLinksAhead: Bool { layers.isEmpty && !hasStrayPairs && !histories.isPast }

    /// The links of an owner and of those that follow it, until there are `limit`.
    ///
    /// It covers no owner where the first has more links than that.
    func linksAhead(of relationship: PropertyID, from owner: ObjectID, atMost limit: Int) throws -> LinksAhead {
        var links = LinksAhead()
        (links.first, links.end) = (owner, ObjectID(rawValue: .max))
        links.owners.reserveCapacity(limit)
        links.members.reserveCapacity(limit)
        try StoreKey.withLinkPrefix(relationship, owner: owner) { prefix in
            let relationship = UnsafeRawBufferPointer(rebasing: prefix[..<4])
            try tables.links.withCursor(transaction) { cursor in
                var isThere = try cursor.seek(atOrAfter: prefix)
                while isThere, cursor.key.hasPrefix(relationship) {
                    let owner = StoreKey.objectID(cursor.key, at: 4)
                    if links.owners.count == limit {
                        links.end = owner
                        break
                    }
                    links.owners.append(owner)
                    links.members.append(StoreKey.lastObjectID(cursor.key))
                    isThere = try cursor.advance()
                }
            }
        }
        // Of the last owner, links may be missing.
        while links.owners.last == links.end {
            links.owners.removeLast()
            links.members.removeLast()
        }
        return links
    }

    /// By entity, the to-one of a member's row that makes it a member, and its position.
    private func linkProperties(
        _ link: Link?
    ) -> [EntityID: [PropertyID]] {
        guard !layers.isEmpty, let link, !link.isPairs else { return [:] }
        var properties: [EntityID: [PropertyID]] = [:]
        for entity in link.memberEntityIDs {
            properties[entity] = schema.links.rowLinks(of: entity).filter { $0.link == link.id }
                .flatMap(\.properties)
        }
        return properties
    }

    private func isLinkHidden(
        _ key: UnsafeRawBufferPointer, above level: Int, _ link: Link?, _ owner: ObjectID,
        _ properties: [EntityID: [PropertyID]]
    ) -> Bool {
        let member = StoreKey.lastObjectID(key)
        var index = layers.count
        while index > level {
            index -= 1
            let layer = layers[index]
            switch link?.source {
            case .pairs?:
                if layer.isAbsent(member) || layer.isAbsent(owner) { return true }
                if let pair = link?.pairKey(owner: owner, member: member), layer.pairs[pair] != nil { return true }
            case .rows?:
                if layer.touches(member, properties[member.entityID] ?? []) { return true }
            case nil:
                if layer.touches(member) { return true }
            }
        }
        return false
    }

    /// By how many members a layer changes the count of `owner`, for links whose truth is the pair.
    private func pairDifference(
        _ link: Link, _ owner: ObjectID, _ layer: Layer, _ level: Int
    ) throws -> Int {
        guard case .pairs(let canonical, let isForward, let isSymmetric, _) = link.source else { return 0 }
        var difference = 0
        for (key, positions) in layer.pairs where key.property == canonical {
            let isOwners =
                isSymmetric
                ? key.source == owner || key.target == owner : (isForward ? key.source : key.target) == owner
            guard isOwners else { continue }
            difference += positions == nil ? 0 : 1
            difference -= try pair(key, below: level) == nil ? 0 : 1
        }
        for member in layer.absentObjects {
            guard let key = link.pairKey(owner: owner, member: member), layer.pairs[key] == nil else { continue }
            difference -= try pair(key, below: level) == nil ? 0 : 1
        }
        return difference
    }
}

extension SnapshotRow {
    package var reader: RowReader {
        get throws { try RowReader(image, layout: layout) }
    }

    /// The image in the newest layout; a copy of the bytes if the row has it already.
    package func converted(to entity: EntitySchema) throws -> RowImage {
        try histories.converted(image, from: layout, to: entity)
    }

    /// Returns the target of a to-one of the row, whatever model version the row is of.
    package func target(of toOne: SlotLink, in entity: EntitySchema) throws -> ObjectID? {
        guard let slot = isIn(entity.layout) ? toOne.slot : layout.slotNumber(toOne.slot, of: entity) else {
            return nil
        }
        let target = try reader.reference(slot)
        return target.isNil ? nil : target
    }

    /// A to-one of the row, whatever model version the row is of.
    package func reference(_ toOne: PropertyID, of schema: Schema, _ id: ObjectID) throws -> ObjectID? {
        guard let slot = schema.entity(id.entityID)?.slot(of: toOne),
            let ownSlot = layout.slotNumber(slot, of: schema, id)
        else { return nil }
        let reference = try reader.reference(ownSlot)
        return reference.isNil ? nil : reference
    }
}

extension RowLayout {
    /// The slot of an older layout that corresponds to `slot` of the newest; nil if the row is older than the property.
    func slotNumber(_ slot: Int, of schema: Schema, _ id: ObjectID) -> Int? {
        schema.entity(id.entityID).flatMap { slotNumber(slot, of: $0) }
    }

    func slotNumber(_ slot: Int, of entity: EntitySchema) -> Int? {
        if entity.layout === self { return slot }
        let property = entity.properties[slot].id
        return slots.firstIndex { $0.propertyID == property }
    }
}
