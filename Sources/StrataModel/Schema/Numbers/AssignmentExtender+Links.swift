// Lets relationships take over the links that the objects of an entity had last under an earlier model.
//
// While the store has one model after the other, an entity may lose a relationship that lives on for others, and get it
// or another of its name back. Links that go over at once need no note (`Schema.predecessor(ofLinks:in:_:)`).

extension AssignmentExtender {
    mutating func takeBackLinks() throws(StrataError) {
        guard let previous, !former.earlier.isEmpty else { return }
        let version = ModelVersion(rawValue: previous.version.rawValue &+ 1)
        let schema = try Schema(version: version, model: model, assignment: result)
        for entity in schema.entities {
            guard let old = previous.entity(entity.id) else { continue }
            takeBackLinks(of: entity, in: schema, from: old)
        }
    }

    private mutating func takeBackLinks(of entity: EntitySchema, in schema: Schema, from old: EntitySchema) {
        let schemas = [previous].compactMap(\.self) + former.earlier
        var taken = Set(entity.properties.map(\.id))
        var open: [PropertySchema] = []
        for property in entity.properties where property.relationship?.description.isTransient == false {
            if let former = result.ownFormers[entity.id]?[property.id] {
                taken.insert(former)
            } else if let origin = schema.origin(of: property.id, in: old) {
                taken.insert(origin.id)
            } else if old.property(property.id) == nil {
                open.append(property)
            }
        }
        for property in open {
            guard let (number, since) = last(property, of: entity.id, schemas) else { continue }
            let later = schemas.reversed().filter { $0.version >= since.version }
            let last = Schema.last(of: number, in: entity.id, through: later)
            guard !taken.contains(last),
                let then = later.last(where: { $0.entity(entity.id)?.property(last) != nil }),
                let before = then.entity(entity.id)?.property(last), property.canTakeOverLinks(of: before)
            else { continue }
            if let inverse = before.relationship?.inverse, former.wentOnAlone(inverse, after: then.version) { continue }
            replace(last, by: property.id)
            taken.insert(last)
        }
    }

    /// The number under which an earlier model had a relationship of this name, or renaming identifier, in an entity.
    private func last(
        _ property: PropertySchema, of entity: EntityID, _ schemas: [Schema]
    ) -> (PropertyID, Schema)? {
        // If the store had this very model, its names mean what they meant then.
        if let known = former.known, let then = known.entity(entity)?.property(named: property.name) {
            return (then.id, known)
        }
        let identifier = property.relationship?.description.renamingIdentifier
        for name in [property.name, identifier].compactMap(\.self) {
            for schema in schemas.dropFirst() {
                guard let earlier = schema.entity(entity)?.property(named: name), earlier.relationship != nil else {
                    continue
                }
                return (earlier.id, schema)
            }
        }
        return nil
    }
}

// A relationship does not continue one of the same name if it leads elsewhere: the links of the earlier one then stay where
// they are, hidden, and are there again when the earlier one returns.

extension AssignmentExtender {
    /// Whether a relationship does not continue one of the model before, though the names match: no object can be a target of
    /// both, or the name meant a relationship in this very model that the store no longer has.
    ///
    /// A to-one continues as long as an entity stays to which it led: the migration refuses the objects that still lead
    /// there, because a renaming identifier may have been forgotten.
    func leadsElsewhere(_ property: PropertyDescription, of entityName: String, from earlier: PropertyID) -> Bool {
        guard let relationship = property.relationship, let before = previous?.property(earlier)?.relationship else {
            return false
        }
        let targets =
            before.isToMany
            ? result.numbers(of: relationship.destinationEntityName, model) : Array(result.entities.values)
        if Set(before.destinations).isDisjoint(with: targets) { return true }
        guard let known = former.known, let then = known.assignment.properties[entityName]?[property.name],
            let entity = result.entities[entityName]
        else { return false }
        if former.last(of: then, after: known.version) == earlier { return false }
        // Other entities may have taken over theirs.
        let last = former.last(of: then, in: entity, after: known.version)
        return last != earlier && previous?.property(last) == nil
    }
}

extension PropertySchema {
    /// Whether the links of a former relationship can be found from its own end alone, and be those of this one.
    func canTakeOverLinks(of former: PropertySchema) -> Bool {
        guard let relationship, let before = former.relationship, !before.description.isTransient,
            relationship.isToMany == before.isToMany, (relationship.inverse == nil) == (before.inverse == nil),
            relationship.sharesTargets(with: before)
        else { return false }
        // A to-many by rows is made of the to-ones at its other end, and a one-to-one has two ends.
        return relationship.isInverseToMany && before.isInverseToMany
    }
}
