extension Schema {
    /// The relationship whose place one takes in an entity of this schema, by name or renaming identifier, under a number
    /// that says nothing about the links; nil if there is none.
    ///
    /// The entity no longer has the earlier relationship, and none of its properties replaces it.
    ///
    /// - Parameter before: the entity in the model before.
    package func predecessor(
        ofLinks property: PropertySchema, in entity: EntitySchema, _ before: EntitySchema
    ) -> PropertySchema? {
        guard let description = property.relationship?.description, before.property(property.id) == nil else {
            return nil
        }
        // What the objects of the entity had under an earlier model counts, not what is in its place.
        if let own = assignment.ownFormers[entity.id]?[property.id], before.property(own) == nil { return nil }
        if let inverse = property.relationship?.inverse, assignment.returnsInPlace(inverse) { return nil }
        let lost = before.properties.filter { isSuccessor(property, withoutLinksOf: $0, in: entity) }
        let origin = Renaming.origin(
            of: Renaming.Item(description.name, description.renamingIdentifier),
            among: lost.map { Renaming.Item($0.name, $0.relationship?.description.renamingIdentifier) })
        return origin.flatMap { before.property(named: $0.name) }
    }

    private func isSuccessor(
        _ property: PropertySchema, withoutLinksOf earlier: PropertySchema, in entity: EntitySchema
    ) -> Bool {
        guard let relationship = property.relationship, let before = earlier.relationship,
            !relationship.description.isTransient, !before.description.isTransient,
            relationship.sharesTargets(with: before), entity.property(earlier.id) == nil
        else { return false }
        // If the inverse is kept or taken over, the links stay with it.
        if let inverse = relationship.inverse, let other = before.inverse,
            inverse == other || assignment.replaced[inverse]?.contains(other) ?? false
        {
            return false
        }
        return !entity.properties.contains { assignment.replaced[$0.id]?.contains(earlier.id) ?? false }
    }
}

extension Schema {
    /// The property that an entity had before this model, and whose values a property takes over in its objects. Nil if
    /// the entity had the property itself, or none that it replaces.
    ///
    /// A number that a property replaces may live on: then it has gone from some entities only. An entity that still has
    /// it keeps its values there, and the property begins empty.
    package func former(of property: PropertyID, in before: EntitySchema) -> PropertySchema? {
        guard before.property(property) == nil, let after = entity(before.id), after.property(property) != nil
        else { return nil }
        return assignment.formers(of: property, in: before.id).lazy
            .filter { after.property($0) == nil }.compactMap { before.property($0) }.first
    }

    /// The property that an entity had before this model, and whose values or links a property takes over in its objects,
    /// whether the number says so or the name.
    package func origin(of property: PropertyID, in before: EntitySchema) -> PropertySchema? {
        if let former = former(of: property, in: before) { return former }
        guard let entity = entity(before.id), let taking = entity.property(property) else { return nil }
        return predecessor(ofLinks: taking, in: entity, before)
    }

    /// The relationship of an entity before this model whose links go to another one in its objects alone: the number of
    /// either lives on elsewhere.
    package func adopted(by property: PropertySchema, in entity: EntitySchema, _ before: EntitySchema, _ old: Schema)
        -> PropertySchema?
    {
        if let lost = predecessor(ofLinks: property, in: entity, before) { return lost }
        guard property.relationship != nil, let former = former(of: property.id, in: before),
            entity.property(former.id) == nil,
            old.property(property.id) != nil || self.property(former.id) != nil
                || assignment.ownFormers[entity.id]?[property.id] != nil
        else { return nil }
        return former
    }

    /// The property that takes over the values or links of one that an entity had before this model, in the objects of the
    /// entity.
    package func heir(of former: PropertyID, in before: EntitySchema) -> PropertySchema? {
        entity(before.id)?.properties.first { self.origin(of: $0.id, in: before)?.id == former }
    }
}

extension Schema {
    /// Whether this model differs from an older one of the same store only in that it has views more: rows, indexes, links
    /// and the views of the older one are the same, under the same numbers.
    package func extends(_ older: Schema) -> Bool {
        let (mine, theirs) = (assignment, older.assignment)
        return version > older.version && model.entities == older.model.entities
            && Set(model.views).isSuperset(of: older.model.views)
            && older.model.views.allSatisfy { mine.views[$0.name] == theirs.views[$0.name] }
            && mine.entities == theirs.entities && mine.properties == theirs.properties
            && mine.indexes == theirs.indexes && mine.texts == theirs.texts
            && mine.filedOneToOnes == theirs.filedOneToOnes
    }
}
