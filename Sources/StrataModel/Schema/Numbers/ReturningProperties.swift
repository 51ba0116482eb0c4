/// Finds the properties of a model that the store's newest model no longer has, but an earlier one had.
///
/// A property returns if its entity declared one of the same name and kind when an earlier model was the newest, and no
/// later model took over its values. The new property gets a new number, which replaces the earlier one: the migration
/// writes the last values again, as events.
struct ReturningProperties {
    typealias Key = EntityHierarchy.PropertyKey

    let model: ManagedObjectModel
    let previous: Schema
    /// The models before `previous`, newest first.
    let earlier: [Schema]
    /// The numbers of all entities, and of the properties that `previous` has.
    let assignment: ModelAssignment

    /// The earlier number of each property that returns, among those without a number.
    func numbers(except taken: (Key) -> Bool) -> [Key: PropertyID] {
        if earlier.isEmpty { return [:] }
        let takenOver = Set(([previous] + earlier).flatMap { $0.assignment.replaced.values.joined() })
        var found: [Key: PropertySchema] = [:]
        for entity in model.entities {
            guard let id = assignment.entities[entity.name], previous.entity(id) != nil else { continue }
            for property in entity.properties where assignment.properties[entity.name]?[property.name] == nil {
                let key = Key(entityName: entity.name, name: property.name)
                guard !taken(key), let last = last(property.name, of: id), !takenOver.contains(last.id),
                    previous.property(last.id) == nil
                else { continue }
                found[key] = last
            }
        }
        return found.filter { returns($0.key, as: $0.value, found) }.mapValues(\.id)
    }

    /// The property as the newest model that had it declared it.
    private func last(_ name: String, of entity: EntityID) -> PropertySchema? {
        for schema in earlier {
            guard let declaring = schema.entity(entity), let property = declaring.property(named: name) else {
                continue
            }
            return declaring.description.properties.contains { $0.name == name } ? property : nil
        }
        return nil
    }

    private func returns(_ key: Key, as earlier: PropertySchema, _ found: [Key: PropertySchema]) -> Bool {
        switch (model.hierarchy.declaration(of: key.name, in: key.entityName)?.property, earlier.kind) {
        case (.attribute(let new)?, .attribute(let old)):
            return !new.isTransient && !old.isTransient && new.derivationExpression == nil
                && old.derivationExpression == nil && (old.type == new.type || old.canBeRead(as: new))
        case (.relationship(let new)?, .relationship(let old)):
            guard !new.isTransient, !old.description.isTransient, old.isToMany == new.isToMany,
                old.description.isOrdered == new.isOrdered
            else { return false }
            // A link has two ends: it returns with both, or where it never had an inverse.
            guard let inverse = model.hierarchy.inverse(of: new) else { return old.inverse == nil }
            return old.inverse != nil && found[inverse.key]?.id == old.inverse
        default: return false
        }
    }
}
