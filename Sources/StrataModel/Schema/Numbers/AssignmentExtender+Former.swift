// Gives the numbers of earlier models to names that mean what they meant then: after a rename that is taken back, and
// for entities and properties that a downgrade hid.

extension AssignmentExtender {
    // MARK: Entities

    /// The number of each entity that the newest model has, by its name in the new model: the number of then, if the
    /// store had the model before.
    func knownEntities() -> [String: EntityID] {
        guard let known = former.known, let previous else { return [:] }
        return known.assignment.entities.filter { previous.entity($0.value) != nil }
    }

    /// Finds the entity that a name means, in the newest model or an earlier one, if no entity continues it.
    ///
    /// The store may have had several entities of one name. If it had the model before, the name means the one of then,
    /// provided that it has objects. Else it means the last one.
    mutating func continueFormer(_ entity: EntityDescription, taken: Set<EntityID>) throws(StrataError) -> EntityID? {
        guard let previous else { return nil }
        let names = [entity.renamingIdentifier, entity.name].compactMap(\.self)
        let last = former.models(withEntity: names).flatMap { $0.schema.assignment.entities[$0.name] }
        let then = former.known?.assignment.entities[entity.name]
        guard let number = filledFormer(entity, taken: taken) ?? last, !taken.contains(number) else { return nil }
        if let old = previous.entity(number) {
            oldEntities[entity.name] = old.description
            return number
        }
        guard let last = former.earlier.first(where: { $0.entity(number) != nil }),
            let description = last.entity(number)?.description
        else { return nil }
        if then != number {
            guard try former.wasHidden(number, after: last) else { return nil }
        }
        returned[entity.name] = (last, description)
        return number
    }

    /// The number that a name meant when the store had the model before, if the newest model lacks that entity and it has
    /// objects.
    func filledFormer(_ entity: EntityDescription, taken: Set<EntityID>) -> EntityID? {
        guard let then = former.known?.assignment.entities[entity.name], former.filled.contains(then),
            previous?.entity(then) == nil, !taken.contains(then)
        else { return nil }
        return then
    }

    /// The entities that can have objects when the model is installed: those of the newest model, and those that
    /// return.
    var filledEntities: Set<EntityID> {
        Set((previous?.assignment.entities ?? [:]).values).union(returned.keys.compactMap { result.entities[$0] })
    }

    // MARK: Properties

    /// The numbers of properties that the newest model has, if the store had the new model before.
    func knownProperties() -> [EntityHierarchy.PropertyKey: PropertyID] {
        guard let known = former.known, let previous else { return [:] }
        var numbers: [EntityHierarchy.PropertyKey: PropertyID] = [:]
        for entity in model.entities where oldEntities[entity.name] != nil {
            guard let id = known.assignment.entities[entity.name], id == result.entities[entity.name] else { continue }
            for property in entity.properties {
                guard let then = known.assignment.properties[entity.name]?[property.name],
                    let number = current(then, of: id, after: known), let now = previous.property(number),
                    now.isTransient == property.isTransient, (now.attribute == nil) == (property.attribute == nil)
                else { continue }
                numbers[.init(entityName: entity.name, name: property.name)] = number
            }
        }
        let uses = Dictionary(grouping: numbers.values) { $0 }
        return numbers.filter { uses[$0.value]?.count == 1 }
    }

    /// The number that has the values of a former number in the newest model, in the same entity unless it is the same
    /// number.
    private func current(_ number: PropertyID, of entity: EntityID, after schema: Schema) -> PropertyID? {
        if previous?.property(number) != nil { return number }
        guard let heir = former.heir(of: number, after: schema.version), let name = previous?.entity(entity)?.name,
            previous?.assignment.properties[name]?.values.contains(heir) ?? false
        else { return nil }
        return heir
    }

    /// Gives properties without a match the number of the property that had their name, or renaming identifier, last,
    /// if the newest model has it under another name.
    mutating func continueFormerProperties() {
        guard let previous, !former.earlier.isEmpty else { return }
        var taken = Set(result.properties.values.flatMap(\.values))
        taken.formUnion(takeovers.values.flatMap(\.values).joined())
        taken.formUnion(absorbed.values.joined())
        for entity in model.entities where oldEntities[entity.name] != nil {
            guard let id = result.entities[entity.name] else { continue }
            for property in entity.properties
            where result.properties[entity.name]?[property.name] == nil
                && takeovers[entity.name]?[property.name] == nil
            {
                let group = PropertyGroup(of: property)
                let names = [property.renamingIdentifier, property.name].compactMap(\.self)
                guard let (then, schema) = lastProperty(named: names, of: id, group),
                    let number = current(then, of: id, after: schema), !taken.contains(number),
                    let now = previous.property(number), now.isTransient == property.isTransient,
                    !leadsElsewhere(property, of: entity.name, from: number)
                else { continue }
                result.properties[entity.name, default: [:]][property.name] = number
                taken.insert(number)
            }
        }
    }

    private func lastProperty(
        named names: [String], of entity: EntityID, _ group: PropertyGroup
    ) -> (PropertyID, Schema)? {
        for schema in former.earlier {
            guard let description = schema.entity(entity)?.description else { continue }
            for name in names {
                guard let property = description.properties.first(where: { $0.name == name }),
                    PropertyGroup(of: property) == group,
                    let number = schema.assignment.properties[description.name]?[name]
                else { continue }
                return (number, schema)
            }
        }
        return nil
    }

    /// Gives the attributes of an entity that returns the numbers under which its rows hold them, or notes that they
    /// take over these values. Its relationships return with both ends (`ReturningProperties`).
    mutating func takeBackAttributes(of entity: EntityDescription) {
        guard let (schema, old) = returned[entity.name], let previous else { return }
        let oldAttributes = old.properties.filter { PropertyGroup(of: $0) == .attribute }
        let attributes = entity.properties.filter { PropertyGroup(of: $0) == .attribute }
        let taken = Set(result.properties.values.flatMap(\.values))
        let matches = Renaming.match(
            new: attributes.map { Renaming.Item($0) }, old: oldAttributes.map { Renaming.Item($0) })
        for (index, match) in matches {
            guard let now = attributes[index].attribute, let then = oldAttributes[match].attribute,
                let number = schema.assignment.properties[old.name]?[then.name], !taken.contains(number),
                previous.property(number) == nil
            else { continue }
            if then.canBeRead(as: now), !former.restores(number, then, as: now) {
                result.properties[entity.name, default: [:]][now.name] = number
            } else {
                takeovers[entity.name, default: [:]][now.name] = [number]
            }
        }
    }
    mutating func takeBackWhatReturns() {
        guard let previous else { return }
        let returning = ReturningProperties(
            model: model, previous: previous, former: former, assignment: result, takeovers: takeovers)
        let found = returning.numbers()
        for (key, id) in found.returning {
            takeovers[key.entityName, default: [:]][key.name] = [id]
            for entity in replacing(key, id) { displaced[key, default: [:]][entity] = id }
        }
        // The other ends of these have links of another relationship, and those of the former one.
        for (key, id) in found.joining { takeovers[key.entityName, default: [:]][key.name, default: []].append(id) }
    }

    /// The entities that had a relationship which returns when the store had the model before, and have another one in its
    /// place now, whose links it does not take over.
    private func replacing(_ key: EntityHierarchy.PropertyKey, _ number: PropertyID) -> [EntityID] {
        guard let known = former.known, let previous,
            let property = model.hierarchy.declaration(of: key.name, in: key.entityName)?.property
        else { return [] }
        return known.entities.compactMap { entity in
            guard let then = entity.property(named: key.name), then.relationship != nil,
                former.last(of: then.id, in: entity.id, after: known.version) == number,
                let now = previous.entity(entity.id)
            else { return nil }
            let others = now.properties.filter { $0.relationship != nil }.map(Renaming.Item.init)
            return Renaming.origin(of: Renaming.Item(property), among: others) == nil ? nil : entity.id
        }
    }
}
