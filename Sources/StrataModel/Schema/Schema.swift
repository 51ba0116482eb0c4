import Locking

/// A model as installed in one store: its entities, properties and indexes with the store's numbers and row layouts.
///
/// It is immutable. A store keeps one for each model version that it ever had, and writes under the newest.
@usableFromInline package final class Schema: Sendable {
    package let version: ModelVersion
    package let model: ManagedObjectModel
    package let assignment: ModelAssignment
    /// The entities in the model's order.
    package let entities: [EntitySchema]
    private let byName: [String: EntitySchema]
    /// The entities by number, for looking up the layout of each row.
    private let table: [EntitySchema?]
    private let byProperty: [PropertyID: PropertySchema]
    private let byIndex: [IndexID: IndexSchema]
    @usableFromInline package let links: LinkMap
    /// Whether any attribute is encrypted.
    package let hasEncryption: Bool
    private let derivations = Locked<[any AnyObject & Sendable]>([])

    package init(
        version: ModelVersion, model: ManagedObjectModel, assignment: ModelAssignment, entities: [EntitySchema]
    ) {
        self.version = version
        self.model = model
        self.assignment = assignment
        self.entities = entities
        hasEncryption = model.hasEncryption
        byName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
        var table = [EntitySchema?](repeating: nil, count: Int(entities.map(\.id.rawValue).max() ?? 0) + 1)
        for entity in entities { table[Int(entity.id.rawValue)] = entity }
        self.table = table
        var properties: [PropertyID: PropertySchema] = [:]
        var indexes: [IndexID: IndexSchema] = [:]
        // Parents first, so that the property of the declaring entity is taken.
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
        links = LinkMap(entities, filedOneToOnes: assignment.filedOneToOnes)
    }

    /// A value that a higher layer derives from the schema, one of each type. It is made on first use and released with
    /// the schema.
    ///
    /// It is stored here, because a cache with a weak reference would give the schema a side table, which slows down
    /// every retain and release.
    ///
    /// - Parameter make: makes the value, which must not refer to the schema. It must not call this function.
    package func derived<Value: AnyObject & Sendable>(_ make: (Schema) -> Value) -> Value {
        derivations.withLock { derivations in
            for known in derivations { if let known = known as? Value { return known } }
            let made = make(self)
            derivations.append(made)
            return made
        }
    }

    /// The entity with a name in the model.
    package func entity(named name: String) -> EntitySchema? { byName[name] }

    /// The root of an entity's hierarchy.
    package func root(of id: EntityID) -> EntityID {
        var root = id
        while let parent = entity(root)?.superentityID { root = parent }
        return root
    }

    /// The entity with a number.
    package func entity(_ id: EntityID) -> EntitySchema? {
        let number = Int(id.rawValue)
        return number < table.count ? table[number] : nil
    }

    /// The property with a number, as in the entity that declares it. For the slot of a hidden position, ask the
    /// object's own entity instead.
    package func property(_ id: PropertyID) -> PropertySchema? { byProperty[id] }
    /// The rules over whole objects that an entity declares and inherits, its own first.
    package func validationPredicates(of entity: EntitySchema) -> [ValidationPredicate] {
        var rules: [ValidationPredicate] = []
        var current: EntitySchema? = entity
        while let declaring = current {
            rules += declaring.description.validationPredicates
            current = declaring.superentityID.flatMap(self.entity)
        }
        return rules
    }

    /// The attributes of the full text that an entity declares or inherits; empty if there is none.
    package func fullText(of entity: EntitySchema) -> [String] {
        var current: EntitySchema? = entity
        while let declaring = current {
            if !declaring.description.fullText.isEmpty { return declaring.description.fullText }
            current = declaring.superentityID.flatMap(self.entity)
        }
        return []
    }

    package func index(_ id: IndexID) -> IndexSchema? { byIndex[id] }
    /// Every index of every entity, once.
    package var indexes: some Collection<IndexSchema> { byIndex.values }
}

extension Schema {
    /// The name of an object for people, such as `BowTie/p12`; with the entity's number if the schema does not have it.
    package func name(of object: ObjectID) -> String {
        object.named(entity(object.entityID)?.name ?? "\(object.entityID)")
    }
}
