// Finds properties whose number means something else in the objects of some entities.
//
// An entity that leaves a parent takes the values of an inherited property along, to the property of that name that it has
// now. If it then inherits the first property again, under another name, its objects have values under both numbers. When
// the first property gets back its former name, the number continues in the objects of the parent, and the other number
// in those of the entity.

extension AssignmentExtender {
    /// The properties that continue another number than their own in the objects of some entities, with these entities and
    /// numbers.
    func displacedProperties() -> [EntityHierarchy.PropertyKey: [EntityID: PropertyID]] {
        guard let previous else { return [:] }
        var displaced: [EntityHierarchy.PropertyKey: [EntityID: PropertyID]] = [:]
        for entity in model.entities where !entity.isAbstract {
            guard let id = result.entities[entity.name], let old = previous.entity(id), !old.isAbstract else {
                continue
            }
            let declarations = model.hierarchy.declarations(of: entity.name)
            let numbers = Set(declarations.compactMap { result.id(of: $0.key) })
            for declaration in declarations {
                guard let number = result.id(of: declaration.key), let now = old.property(number),
                    let origin = origin(of: declaration.property, now, in: old), !numbers.contains(origin)
                else { continue }
                displaced[declaration.key, default: [:]][id] = origin
            }
        }
        return displaced
    }

    /// The number whose values the objects of an entity had under a property's name, if it is another than the property's.
    private func origin(
        of property: PropertyDescription, _ now: PropertySchema, in old: EntitySchema
    ) -> PropertyID? {
        if let known = former.known, let then = known.entity(old.id)?.property(named: property.name) {
            let models = ([previous].compactMap(\.self) + former.earlier).filter { $0.version >= known.version }
            let last = Schema.last(of: then.id, in: old.id, through: models.reversed())
            let origin = models.lazy.compactMap { $0.entity(old.id)?.property(last) }.first
            return origin.flatMap { $0.id != now.id && now.canGiveWay(to: $0) ? $0.id : nil }
        }
        guard let named = old.property(named: property.name), named.id != now.id, now.canGiveWay(to: named) else {
            return nil
        }
        let origin = Renaming.origin(of: Renaming.Item(property), among: [named, now].map(Renaming.Item.init))
        return origin?.name == named.name ? named.id : nil
    }
}

extension PropertySchema {
    /// Whether a property can take over the values or links of another one in place of its own.
    fileprivate func canGiveWay(to other: PropertySchema) -> Bool {
        if let attribute, let former = other.attribute {
            return attribute.isFilledByMigrations && former.isFilledByMigrations
        }
        return canTakeOverLinks(of: other)
    }
}

extension Renaming.Item {
    init(_ property: PropertySchema) {
        self.init(
            property.name,
            property.attribute?.renamingIdentifier ?? property.relationship?.description.renamingIdentifier)
    }
}
