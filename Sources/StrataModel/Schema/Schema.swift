import Locking
/// A model installed in a store: its names tied to the store's numbers, with the row layout of every entity.
///
/// Immutable; a store keeps one for each model version it ever had, the newest is the one that is written under.
package final class Schema: Sendable {
    package let version: ModelVersion
    package let model: ManagedObjectModel
    package let assignment: ModelAssignment
    /// In the model's order.
    package let entities: [EntitySchema]
    private let byName: [String: EntitySchema]
    /// By number; every row that is read asks here for its layout.
    private let table: [EntitySchema?]
    private let byProperty: [PropertyID: PropertySchema]
    private let byIndex: [IndexID: IndexSchema]
    private let derivation = Locked<(any AnyObject & Sendable)?>(nil)

    package init(
        version: ModelVersion, model: ManagedObjectModel, assignment: ModelAssignment, entities: [EntitySchema]
    ) {
        self.version = version
        self.model = model
        self.assignment = assignment
        self.entities = entities
        byName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
        var table = [EntitySchema?](repeating: nil, count: Int(entities.map(\.id.rawValue).max() ?? 0) + 1)
        for entity in entities { table[Int(entity.id.rawValue)] = entity }
        self.table = table
        var properties: [PropertyID: PropertySchema] = [:]
        var indexes: [IndexID: IndexSchema] = [:]
        // Parents first, so that a property is seen as the entity that declares it sees it.
        let parentsFirst = entities.enumerated().sorted {
            let left = model.hierarchy.chain(of: $0.element.name).count
            let right = model.hierarchy.chain(of: $1.element.name).count
            return (left, $0.offset) < (right, $1.offset)
        }
        for (_, entity) in parentsFirst {
            for property in entity.properties where properties[property.id] == nil {
                properties[property.id] = property
            }
            for index in entity.indexes where indexes[index.id] == nil { indexes[index.id] = index }
        }
        byProperty = properties
        byIndex = indexes
    }

    /// What the layer above works out from the schema: made when it is first asked for, and gone with the schema.
    ///
    /// Kept here because a weak reference from a cache elsewhere would give the schema a side table, and with it a slow
    /// path for each retain and release of every row that is read.
    ///
    /// - Parameter make: gives what must not refer to the schema; it asks for nothing derived itself.
    package func derived<Value: AnyObject & Sendable>(_ make: (Schema) -> Value) -> Value {
        derivation.withLock { known in
            if let known = known as? Value { return known }
            let made = make(self)
            known = made
            return made
        }
    }

    package func entity(named name: String) -> EntitySchema? { byName[name] }
    /// The top of an entity's hierarchy.
    package func root(of id: EntityID) -> EntityID {
        var root = id
        while let parent = entity(root)?.superentityID { root = parent }
        return root
    }

    package func entity(_ id: EntityID) -> EntitySchema? {
        let number = Int(id.rawValue)
        return number < table.count ? table[number] : nil
    }
    /// As in the entity that declares it: slots of hidden positions are to be asked of the object's own entity.
    package func property(_ id: PropertyID) -> PropertySchema? { byProperty[id] }
    package func index(_ id: IndexID) -> IndexSchema? { byIndex[id] }
    /// Every index of every entity, once.
    package var indexes: some Collection<IndexSchema> { byIndex.values }
}

extension Schema {
    /// An object as people name it, `BowTie/p12`; entities that the schema does not know are numbers.
    package func name(of object: ObjectID) -> String {
        "\(entity(object.entityID)?.name ?? String(object.entityID.rawValue))/p\(object.row)"
    }
}
