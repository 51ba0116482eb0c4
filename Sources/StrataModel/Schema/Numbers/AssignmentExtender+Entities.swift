// Lets attributes take over values entity by entity, wherever in the hierarchy the old and the new one are declared.
//
// The steps before match what an entity declares, or what moved as a whole. The objects of an entity can also have an
// attribute under another number than before because the entity went to another parent, because one attribute moved
// to or from several entities, or because only an earlier model had it there. Both numbers may live on for others.
//
// At most one property of an entity continues a former one, or takes back what is hidden: the one that keeps the number,
// else the first by the rules of `Renaming`. Any other begins empty, and what it does not get stays where it is.

extension AssignmentExtender {
    mutating func takeOverInEntities() {
        guard previous != nil else { return }
        for entity in model.entities {
            guard let (old, schemas) = history(of: entity) else { continue }
            takeOver(in: entity, from: old, schemas)
        }
    }

    /// What an entity was in the last model that had it, and the models up to that one, newest first.
    private func history(of entity: EntityDescription) -> (old: EntitySchema, schemas: [Schema])? {
        guard let previous, let id = result.entities[entity.name] else { return nil }
        let schemas = [previous] + former.earlier
        guard let last = schemas.firstIndex(where: { $0.entity(id) != nil }), let old = schemas[last].entity(id) else {
            return nil
        }
        return (old, Array(schemas[last...]))
    }

    private mutating func takeOver(in entity: EntityDescription, from old: EntitySchema, _ schemas: [Schema]) {
        var open: [(id: PropertyID, attribute: AttributeDescription)] = []
        var taken: Set<PropertyID> = []
        let declarations = model.hierarchy.declarations(of: entity.name)
        let numbers = Set(declarations.compactMap { result.id(of: $0.key) })
        for declaration in declarations {
            guard let id = result.id(of: declaration.key) else { continue }
            if let former = result.ownFormers[old.id]?[id] {
                taken.insert(former)
                continue
            }
            let origin = old.property(id) ?? origin(of: id, in: old, unlessIn: numbers)
            if let origin {
                taken.insert(origin.id)
            } else if let attribute = declaration.property.attribute, attribute.isFilledByMigrations {
                open.append((id, attribute))
            }
        }
        guard !open.isEmpty else { return }
        // If the store had this very model, its names mean what they meant then.
        if let known = former.known, let then = known.entity(old.id) {
            open.removeAll { id, attribute in
                guard let number = then.property(named: attribute.name)?.id else { return false }
                return continues(id, attribute, number, since: known, old, schemas, &taken)
            }
        }
        let left = old.properties.filter { !taken.contains($0.id) && $0.attribute?.isFilledByMigrations ?? false }
        let matches = Renaming.match(
            new: open.map { Renaming.Item(.attribute($0.attribute)) },
            old: left.map { Renaming.Item($0.name, $0.attribute?.renamingIdentifier) })
        for (index, match) in matches {
            replace(left[match].id, by: open[index].id)
            taken.insert(left[match].id)
        }
        for (index, (id, attribute)) in open.enumerated() where matches[index] == nil {
            guard let (number, schema) = last(attribute, of: old.id, schemas) else { continue }
            _ = continues(id, attribute, number, since: schema, old, schemas, &taken)
        }
    }

    /// The property that this one replaces already, unless the entity keeps it.
    private func origin(of id: PropertyID, in old: EntitySchema, unlessIn kept: Set<PropertyID>) -> PropertySchema? {
        result.formers(of: id, in: old.id).lazy.filter { !kept.contains($0) }.compactMap { old.property($0) }.first
    }

    /// The number under which an earlier model had an attribute of this name, or renaming identifier, in an entity.
    private func last(
        _ attribute: AttributeDescription, of entity: EntityID, _ schemas: [Schema]
    ) -> (PropertyID, Schema)? {
        for name in [attribute.name, attribute.renamingIdentifier].compactMap(\.self) {
            for schema in schemas.dropFirst() {
                if let property = schema.entity(entity)?.property(named: name), property.attribute != nil {
                    return (property.id, schema)
                }
            }
        }
        return nil
    }

    /// Lets an attribute take over the values of a number of an earlier model, under the number where objects have them
    /// now or had them last; false if it cannot have them.
    private mutating func continues(
        _ id: PropertyID, _ attribute: AttributeDescription, _ number: PropertyID, since schema: Schema,
        _ old: EntitySchema, _ schemas: [Schema], _ taken: inout Set<PropertyID>
    ) -> Bool {
        let later = schemas.reversed().filter { $0.version >= schema.version }
        let last = Schema.last(of: number, in: old.id, through: later)
        if last == id { return true }
        guard !taken.contains(last),
            let before = later.lazy.reversed().compactMap({ $0.entity(old.id)?.property(last)?.attribute }).first,
            before.isFilledByMigrations,
            before.type == attribute.type || before.canBeRead(as: attribute) || former.known != nil
                || old.property(last) != nil
        else { return false }
        replace(last, by: id)
        taken.insert(last)
        return true
    }

    mutating func replace(_ former: PropertyID, by id: PropertyID) {
        guard !(result.replaced[id]?.contains(former) ?? false) else { return }
        result.replaced[id, default: []].append(former)
    }
}

extension AttributeDescription {
    /// Whether objects have values of it that a migration can bring over.
    var isFilledByMigrations: Bool { !isTransient && derivationExpression == nil }
}
