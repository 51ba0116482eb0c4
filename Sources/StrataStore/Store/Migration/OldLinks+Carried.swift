import StrataModel

extension OldLinks {
    /// The links of a former relationship that went on under another number, and so do not return.
    struct Carried {
        let owners: Set<EntityID>
        let members: Set<EntityID>
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
                owners: last.inverse.map { destinations(of: $0, models) } ?? [],
                members: destinations(of: number, models))
        }
        return carried
    }

    /// The entities to which a relationship could lead under the models after the first of these, as long as they kept
    /// its links.
    private static func destinations(of number: PropertyID, _ models: [Schema]) -> Set<EntityID> {
        var entities: Set<EntityID> = []
        var number = number
        for (before, after) in zip(models, models.dropFirst()) {
            guard let heir = Schema.last(of: number, through: [after]) else { break }
            guard let relationship = after.property(heir)?.relationship else { continue }
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
