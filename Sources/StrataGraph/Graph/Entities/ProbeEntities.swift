import Locking
import StrataModel

/// Entities that belong to no store, for objects that record the names of the properties read from them.
enum ProbeEntities {
    // By class, made once a process. Guarded by the mutex.
    private static let cache = Locked<[ObjectIdentifier: EntityRuntime]>([:])

    /// nil when the class is no entity.
    static func entity(for objectClass: ManagedObject.Type) -> EntityRuntime? {
        let key = ObjectIdentifier(objectClass)
        if let known = cache.withLock({ $0[key] }) { return known }
        guard let made = make(objectClass) else { return nil }
        cache.withLock { $0[key] = made }
        return made
    }

    private static func make(_ objectClass: ManagedObject.Type) -> EntityRuntime? {
        let definition = EntityDefinition.of(objectClass)
        let all = allProperties(definition)
        let properties = definition.order.enumerated().compactMap { slot, name in
            all[name].map { schema($0, slot: slot) }
        }
        guard !properties.isEmpty, properties.count == definition.order.count else { return nil }
        let id = EntityID(rawValue: 0)
        let layout = RowLayout(entityID: id, version: ModelVersion(rawValue: 0), properties: properties)
        let entity = EntitySchema(
            id: id, name: definition.description.name, description: definition.description, isAbstract: true,
            superentityID: nil, concreteEntityIDs: [], entityIDs: [id], properties: properties, layout: layout,
            indexes: [])
        // Row layouts without defaults cannot fail to make a template.
        return try? EntityRuntime(entity, objectClass: objectClass, order: definition.order, hasDefaults: false)
    }

    private static func allProperties(_ definition: EntityDefinition) -> [String: PropertyDescription] {
        var all = definition.superclass.map { allProperties(EntityDefinition.of($0)) } ?? [:]
        for property in definition.description.properties { all[property.name] = property }
        return all
    }

    private static func schema(_ property: PropertyDescription, slot: Int) -> PropertySchema {
        let kind: PropertySchema.Kind
        switch property {
        case .attribute(let attribute): kind = .attribute(attribute)
        case .relationship(let relationship):
            kind = .relationship(
                RelationshipSchema(
                    description: relationship, destination: EntityID(rawValue: 0), destinations: [], inverse: nil,
                    isInverseToMany: false, isInverseOrdered: false,
                    truth: relationship.isToMany ? .inverseSlot : .slot, position: nil, positionSlot: nil))
        }
        let id = PropertyID(rawValue: UInt32(slot) + 1)
        return PropertySchema(id: id, slot: slot, name: property.name, kind: kind)
    }
}
