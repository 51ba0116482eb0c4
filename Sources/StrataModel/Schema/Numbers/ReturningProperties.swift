/// Finds the properties of a model that the store's newest model no longer has, but an earlier one had.
///
/// A property returns if its entity declared one of the same name and kind when an earlier model was the newest, and no
/// later model took over its values. The new property gets a new number, which replaces the earlier one: the migration
/// writes the last values again, as events. In a model that the store had before, a later model may have changed the
/// type: then they are converted back. The relationships of an entity that returns are among them.
struct ReturningProperties {
    typealias Key = EntityHierarchy.PropertyKey

    let model: ManagedObjectModel
    let previous: Schema
    let former: FormerNumbers
    /// The numbers of all entities, and of the properties that `previous` has.
    let assignment: ModelAssignment
    /// The numbers whose values a property takes over, by entity name and property name.
    let takeovers: [String: [String: [PropertyID]]]

    /// A property as the newest model that had it declared it.
    private struct Former {
        let property: PropertySchema
        let version: ModelVersion
    }

    /// The earlier number of each property that returns, among those without a number; and the earlier numbers of the
    /// inverses of many-to-manys that return, where these have links of another relationship.
    func numbers() -> (returning: [Key: PropertyID], joining: [Key: PropertyID]) {
        if former.earlier.isEmpty { return ([:], [:]) }
        let takenOver = Set(([previous] + former.earlier).flatMap { $0.assignment.replaced.values.joined() })
        var found: [Key: Former] = [:]
        for entity in model.entities {
            guard let id = assignment.entities[entity.name], previous.assignment.wasGiven(id) else { continue }
            for property in entity.properties where assignment.properties[entity.name]?[property.name] == nil {
                let key = Key(entityName: entity.name, name: property.name)
                guard takeovers[key.entityName]?[key.name] == nil, let last = last(property, of: id),
                    !takenOver.contains(last.property.id),
                    previous.property(last.property.id) == nil
                else { continue }
                found[key] = last
            }
        }
        var joining: [Key: PropertyID] = [:]
        let returning = found.filter { returns($0.key, as: $0.value, found, takenOver, &joining) }
        return (returning.mapValues(\.property.id), joining)
    }

    private func last(_ property: PropertyDescription, of entity: EntityID) -> Former? {
        if let known = former.known, let declaring = known.entity(entity),
            let then = known.assignment.properties[declaring.name]?[property.name],
            let number = former.last(of: then, after: known.version),
            let schema = former.earlier.first(where: { $0.property(number) != nil }),
            let last = schema.property(number)
        {
            return Former(property: last, version: schema.version)
        }
        return last(named: property.name, of: entity)
            ?? property.renamingIdentifier.flatMap { last(named: $0, of: entity) }
    }

    private func last(named name: String, of entity: EntityID) -> Former? {
        for schema in former.earlier {
            guard let declaring = schema.entity(entity), let property = declaring.property(named: name) else {
                continue
            }
            let isOwn = declaring.description.properties.contains { $0.name == name }
            return isOwn ? Former(property: property, version: schema.version) : nil
        }
        return nil
    }

    private func returns(
        _ key: Key, as earlier: Former, _ found: [Key: Former], _ takenOver: Set<PropertyID>,
        _ joining: inout [Key: PropertyID]
    ) -> Bool {
        switch (model.hierarchy.declaration(of: key.name, in: key.entityName)?.property, earlier.property.kind) {
        case (.attribute(let new)?, .attribute(let old)):
            return !new.isTransient && !old.isTransient && new.derivationExpression == nil
                && old.derivationExpression == nil
                && (old.type == new.type || old.canBeRead(as: new) || former.known != nil)
        case (.relationship(let new)?, .relationship(let old)):
            guard !new.isTransient, !old.description.isTransient,
                !Set(old.destinations).isDisjoint(with: assignment.numbers(of: new.destinationEntityName, model))
            else { return false }
            if let answer = returnsAsKnown(new, earlier, old, found) { return answer }
            guard old.isSameKind(as: new) else { return false }
            // A link has two ends: it returns with both, or where it never had an inverse.
            guard let inverse = model.hierarchy.inverse(of: new) else { return old.inverse == nil }
            guard let former = old.inverse, !self.former.wentOnAlone(former, after: earlier.version) else {
                return false
            }
            if let other = found[inverse.key]?.property, other.id == former {
                guard let then = other.relationship, let now = inverse.property.relationship else { return false }
                return then.isSameKind(as: now)
            }
            let isInverseToMany = inverse.property.relationship?.isToMany ?? false
            guard new.isToMany else {
                // A to-many by rows is made of the to-ones.
                if isInverseToMany || old.isInverseToMany { return isInverseToMany && old.isInverseToMany }
                guard found[inverse.key] == nil, !takenOver.contains(former),
                    movedAlone(inverse.key, former, earlier.version)
                else { return false }
                joining[inverse.key] = former
                return true
            }
            // The other end has pairs of another relationship now, and these again.
            guard isInverseToMany, old.isInverseToMany,
                let heir = self.former.heir(of: former, after: earlier.version),
                takeovers[inverse.key.entityName]?[inverse.key.name]?.contains(heir) ?? false
            else { return false }
            joining[inverse.key] = former
            return true
        default: return false
        }
    }

    /// Whether the other end of a one-to-one is a new property of a relative of the entity that declared it, so that it is
    /// not found by its name.
    private func movedAlone(_ key: Key, _ former: PropertyID, _ version: ModelVersion) -> Bool {
        guard assignment.id(of: key) == nil, takeovers[key.entityName]?[key.name] == nil,
            previous.property(former) == nil, let id = assignment.entities[key.entityName],
            let then = self.former.earlier.first(where: { $0.version == version }), let relative = then.entity(id)
        else { return false }
        return ([id] + relative.entityIDs).contains { then.entity($0)?.property(former) != nil }
    }

    /// Whether a relationship of a model that the store had before returns, whatever kind it had last: it then has these
    /// links, as if no model without it had come between. Nil if the other end decides.
    private func returnsAsKnown(
        _ new: RelationshipDescription, _ earlier: Former, _ old: RelationshipSchema, _ found: [Key: Former]
    ) -> Bool? {
        guard former.known != nil else { return nil }
        let isAlone = old.inverse.map { former.heir(of: $0, after: earlier.version) == nil } ?? true
        guard let inverse = model.hierarchy.inverse(of: new) else { return isAlone }
        guard let other = found[inverse.key], let back = other.property.relationship else {
            let isNew =
                assignment.id(of: inverse.key) == nil && takeovers[inverse.key.entityName]?[inverse.key.name] == nil
            return isNew ? isAlone : nil
        }
        if old.inverse == other.property.id, back.inverse == earlier.property.id { return true }
        // Only one end went on after they were inverses: it has the links.
        guard earlier.version == other.version else { return earlier.version > other.version && isAlone }
        return old.inverse == nil && back.inverse == nil ? true : nil
    }
}

extension RelationshipSchema {
    fileprivate func isSameKind(as later: RelationshipDescription) -> Bool {
        isToMany == later.isToMany && description.isOrdered == later.isOrdered
    }
}
