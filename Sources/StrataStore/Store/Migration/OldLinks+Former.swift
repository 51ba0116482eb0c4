import StrataModel

// The links of relationships that only models before the old one had.

extension OldLinks {
    /// The entities that had each relationship which returns, in its last model.
    func returningOwners(
        _ histories: SchemaHistory
    ) throws -> [EntityID: [PropertyID: (last: RelationshipSchema, values: PastValues)]] {
        var owners: [EntityID: [PropertyID: (last: RelationshipSchema, values: PastValues)]] = [:]
        for (number, relationship) in returning where relationship.last.isToMany {
            for entity in try histories.schema(relationship.values.version)?.entities ?? []
            where !entity.isAbstract && entity.property(number) != nil {
                owners[entity.id, default: [:]][number] = relationship
            }
        }
        return owners
    }

    /// The last members of a former relationship that still exist.
    ///
    /// No model maintained the links of a former relationship when objects were deleted. In a past state, the pairs with
    /// objects of an entity are read through the last model that had both ends, unless they departed before that state.
    func formerMembers(
        _ number: PropertyID, of id: ObjectID, _ snapshot: Snapshot, limit: Int
    ) throws -> [Target] {
        let kept = hidden[id.entityID]?[number]
        guard let (last, values) = kept ?? returning[number.withoutHiding] else { return [] }
        let elsewhere = kept == nil ? carried[number.withoutHiding] : nil
        var targets: [Target] = []
        var known: Set<ObjectID> = []
        func add(_ target: Target, _ state: Snapshot) throws {
            let (owner, member) = number.isHiddenInverse ? (target.id, id) : (id, target.id)
            if elsewhere?.contains(owner, member) ?? false { return }
            if try isThere(target.id, state), known.insert(target.id).inserted { targets.append(target) }
        }
        func addMembers(_ state: Snapshot, among others: Set<EntityID>? = nil) throws {
            let count = targets.count
            func addMember(_ member: ObjectID, _ position: Int64) throws -> Bool {
                if others?.contains(member.entityID) ?? true { try add(Target(id: member, position: position), state) }
                return targets.count < limit
            }
            if let members = try cut?.members(of: number, owner: id) {
                for member in members where try !addMember(member.id, member.position) { break }
            } else {
                try state.membersWithPositions(of: number, owner: id, addMember)
            }
            guard kept != nil || others != nil, last.isInverseOrdered, let inverse = last.inverse else { return }
            for index in count..<targets.count {
                targets[index].back = try state.position(of: id, in: inverse, owner: targets[index].id)
            }
        }
        let then = try former?.snapshot(values.version)
        try addMembers(then ?? snapshot)
        for departure in departed?.departures(of: id.entityID, number) ?? [] where targets.count < limit {
            if let state = try former?.snapshot(departure.last) {
                if departure.last != values.version { try addMembers(state, among: departure.others) }
                continue
            }
            for member in departed?.members(of: id, number, in: departure) ?? [] where targets.count < limit {
                try add(member, then ?? snapshot)
            }
        }
        return targets
    }

    /// The pairs that an object of an entity which returns had, in a past state or at the head.
    func regainedPairs(of id: ObjectID, _ snapshot: Snapshot) throws -> [RegainedLinks.Pair] {
        try regained.pairs(of: id, snapshot, former, cut)
    }

    /// Whether objects of an entity that returns may have pairs again.
    func regainsPairs(of entity: EntityID) -> Bool { regained.mayHavePairs(of: entity, isPast: former != nil) }

    /// Whether an object exists, of an entity that the new model has.
    func isThere(_ id: ObjectID, _ snapshot: Snapshot) throws -> Bool {
        try new.entity(id.entityID) != nil && (state(of: id.entityID) ?? snapshot).exists(id)
    }

    /// The to-one that an entity which returns had in its last model, if its relationship has another number since.
    func renewed(
        _ number: PropertyID, in entity: EntitySchema, _ histories: SchemaHistory
    ) throws -> PropertySchema? {
        guard let version = returned[entity.id]?.version, entity.property(number) == nil else { return nil }
        let later = try histories.schemas(histories.versions.filter { $0 > version && $0 <= old.version }) + [new]
        return entity.properties.first { property in
            guard let relationship = property.relationship, !relationship.isToMany,
                !relationship.description.isTransient
            else { return false }
            return Schema.last(of: property.id, through: later) == number
        }
    }

    /// The last target of a former to-one, if that object still exists, and still leads back where it has to.
    func formerTarget(
        _ number: PropertyID, of id: ObjectID, _ row: SnapshotRow, _ snapshot: Snapshot
    ) throws -> (id: ObjectID, position: Int64)? {
        let kept = hidden[id.entityID]?[number]
        guard let (last, values) = kept ?? returning[number] else { return nil }
        let elsewhere = kept == nil ? carried[number] : nil
        let snapshot = try former?.snapshot(values.version) ?? snapshot
        guard case .objectID(let target)? = try lastValue(values, of: id, row, snapshot),
            !(elsewhere?.contains(id, target) ?? false), new.entity(target.entityID) != nil,
            let targetRow = try self.row(target, snapshot)
        else { return nil }
        if let inverse = last.inverse, !last.isInverseToMany {
            guard let back = returning[inverse]?.values,
                case .objectID(id)? = try lastValue(back, of: target, targetRow, snapshot)
            else { return nil }
        }
        guard let position = last.position.flatMap({ hiddenPositions[id.entityID]?[$0] ?? past[$0] }),
            case .integer(let number)? = try lastValue(position, of: id, row, snapshot)
        else { return (target, 0) }
        return (target, number)
    }

    /// A past state through the last model that had an entity which returns; nil for other entities, and at the head.
    func state(of entity: EntityID) throws -> Snapshot? {
        try returned[entity].flatMap { try former?.objects($0.version) }
    }

    /// The row of an object, which may be of an entity that returns.
    func row(_ id: ObjectID, _ snapshot: Snapshot) throws -> SnapshotRow? {
        try (state(of: id.entityID) ?? snapshot).row(id)
    }

    /// The last value of an object that a former property had; nil if the object was made since.
    func lastValue(
        _ values: PastValues, of id: ObjectID, _ row: SnapshotRow, _ snapshot: Snapshot
    ) throws -> AttributeValue? {
        guard let then = try former?.snapshot(values.version) else { return try values.value(of: id, row, snapshot) }
        return try then.row(id).flatMap { try values.value(of: id, $0, then) }
    }
}
