import StrataModel

extension OldLinks {
    /// The links of a former relationship that went on under another number, and so do not return.
    ///
    /// A link goes on if either end has a property that took over the relationship there, and that can lead to the other
    /// end. That differs between entities, because a number that lives on for some can have other heirs for the rest.
    struct Carried {
        /// By the owner's entity: those of the members that its own heir can lead to.
        fileprivate let forward: [EntityID: Set<EntityID>]
        /// By the member's entity: those of the owners that its heir of the inverse can lead to.
        fileprivate let backward: [EntityID: Set<EntityID>]

        func contains(_ owner: ObjectID, _ member: ObjectID) -> Bool {
            forward[owner.entityID]?.contains(member.entityID) ?? false
                || backward[member.entityID]?.contains(owner.entityID) ?? false
        }
    }

    /// The links of relationships that return which later models kept elsewhere, by number.
    static func carried(
        _ returning: [PropertyID: (last: RelationshipSchema, values: PastValues)], _ old: Schema,
        _ histories: SchemaHistory
    ) throws -> [PropertyID: Carried] {
        var carried: [PropertyID: Carried] = [:]
        for (number, (last, values)) in returning {
            let versions = histories.versions.filter { $0 >= values.version && $0 <= old.version }
            let models = try histories.schemas(versions)
            carried[number] = Carried(
                forward: destinations(of: number, models),
                backward: last.inverse.map { destinations(of: $0, models) } ?? [:])
        }
        return carried
    }

    /// The entities to which the heirs of a relationship could lead under the models after the first of these, as long
    /// as they kept its links, by the entity that had the relationship.
    private static func destinations(of number: PropertyID, _ models: [Schema]) -> [EntityID: Set<EntityID>] {
        let owners = models.first?.entities.filter { !$0.isAbstract && $0.property(number) != nil } ?? []
        return Dictionary(uniqueKeysWithValues: owners.map { ($0.id, destinations(of: number, in: $0.id, models)) })
    }

    private static func destinations(
        of number: PropertyID, in owner: EntityID, _ models: [Schema]
    ) -> Set<EntityID> {
        var entities: Set<EntityID> = []
        var number = number
        let models = models.filter { $0.entity(owner) != nil }
        for (before, after) in zip(models, models.dropFirst()) {
            let heir = Schema.last(of: number, in: owner, through: [before, after])
            guard let relationship = after.entity(owner)?.property(heir)?.relationship else { continue }
            // A new to-many over existing to-ones has their links.
            if heir != number, relationship.truth == .inverseSlot,
                let toOne = relationship.inverse, before.property(toOne) != nil
            {
                break
            }
            number = heir
            entities.formUnion(after.entity(relationship.destination)?.entityIDs ?? [])
        }
        return entities
    }
}
