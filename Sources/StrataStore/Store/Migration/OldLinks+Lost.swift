import StrataModel

// Pairs that a migration takes away because an entity is removed, or has lost their relationship.

extension OldLinks {
    /// The links of an object's pairs that end with its entity: the entity is removed, and the relationship stays.
    func lostPairs(of entity: EntitySchema) -> [Link] {
        guard !entity.isAbstract, new.entity(entity.id) == nil else { return [] }
        return old.links.links(ofOwners: entity.id).filter { link in
            guard case .pairs(let canonical, _, _, _) = link.source else { return false }
            return new.links.link(canonical)?.isPairs ?? false
        }
    }

    /// The pairs of an object of a removed entity, each for one of its ends.
    func lostPairs(of id: ObjectID, _ links: [Link], _ snapshot: Snapshot) throws -> [PairKey] {
        var keys: [PairKey] = []
        for link in links {
            try snapshot.members(of: link.id, owner: id) { member in
                guard let key = link.pairKey(owner: id, member: member) else { return true }
                // If the other end is removed too, the source loses the pair for both.
                if new.entity(member.entityID) != nil || link.isSource(id, of: key) { keys.append(key) }
                return true
            }
        }
        return keys
    }

    /// The pairs that an object leaves behind.
    func leftPairs(of id: ObjectID, _ snapshot: Snapshot) throws -> [PairKey] {
        var keys: [PairKey] = []
        for link in leftPairs(of: id.entityID) {
            keys += try snapshot.members(of: link.id, owner: id).compactMap { link.pairKey(owner: id, member: $0) }
        }
        return keys
    }

    /// Whether a to-many may have had objects that it loses.
    func losesMembers(_ property: PropertySchema) -> Bool {
        guard let number = number(before: property), let before = old.property(number)?.relationship else {
            return false
        }
        return old.entity(before.destination)?.concreteEntityIDs.contains { !keepsMembers(of: $0, number) } ?? false
    }

    /// Whether a to-many, under its number in the old model, keeps the objects of an entity.
    func keepsMembers(of entity: EntityID, _ number: PropertyID) -> Bool {
        guard new.entity(entity) != nil else { return false }
        return !leftPairs(of: entity).contains { link in
            guard case .pairs(_, _, _, number) = link.source else { return false }
            return true
        }
    }
}
