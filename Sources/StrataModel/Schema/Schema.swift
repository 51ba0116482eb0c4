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

/// An entity in a schema. Properties stand in slot order: inherited ones first, then its own, each in declared
/// order, then the hidden positions of all of them.
package final class EntitySchema: Sendable {
    package let id: EntityID
    package let name: String
    package let description: EntityDescription
    package let isAbstract: Bool
    package let superentityID: EntityID?
    /// Itself (if not abstract) and every concrete entity below it.
    package let concreteEntityIDs: [EntityID]
    /// Itself and every entity below it, concrete or not.
    package let entityIDs: [EntityID]
    package let properties: [PropertySchema]
    /// Those of them that are to-ones whose target stands in the row.
    package let slotLinks: [PropertySchema]
    package let layout: RowLayout
    /// Indexes that its rows are entered in: its own and those it inherits.
    package let indexes: [IndexSchema]
    private let byName: [String: PropertySchema]
    private let byID: [PropertyID: Int]

    package init(
        id: EntityID, name: String, description: EntityDescription, isAbstract: Bool, superentityID: EntityID?,
        concreteEntityIDs: [EntityID], entityIDs: [EntityID], properties: [PropertySchema], layout: RowLayout,
        indexes: [IndexSchema]
    ) {
        self.id = id
        self.name = name
        self.description = description
        self.isAbstract = isAbstract
        self.superentityID = superentityID
        self.concreteEntityIDs = concreteEntityIDs
        self.entityIDs = entityIDs
        self.properties = properties
        slotLinks = properties.filter(\.isSlotLink)
        self.layout = layout
        self.indexes = indexes
        byName = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        byID = Dictionary(properties.map { ($0.id, $0.slot) }, uniquingKeysWith: { first, _ in first })
    }

    package func property(named name: String) -> PropertySchema? { byName[name] }
    package func slot(of id: PropertyID) -> Int? { byID[id] }
    package func property(_ id: PropertyID) -> PropertySchema? { byID[id].map { properties[$0] } }
}

/// A property in a schema.
package final class PropertySchema: Sendable {
    package let id: PropertyID
    /// Its place in `EntitySchema.properties` and in row layouts. A declared property has the same slot in every
    /// subentity; a hidden position stands after all declared ones, so its slot may differ from entity to entity.
    package let slot: Int
    package let name: String
    package let kind: Kind
    /// How the row holds it; nil when the row does not (to-many, transient).
    package let storage: SlotStorage?
    package let isTransient: Bool
    /// A to-one whose links are recorded in its own row.
    package let isSlotLink: Bool

    package enum Kind: Sendable {
        case attribute(AttributeDescription)
        case relationship(RelationshipSchema)
        /// Hidden: where the object stands among the members of the ordered to-many that is the inverse of the
        /// to-one relationship with this id. A signed 64-bit number.
        case position(of: PropertyID)
    }

    package init(id: PropertyID, slot: Int, name: String, kind: Kind) {
        self.id = id
        self.slot = slot
        self.name = name
        self.kind = kind
        switch kind {
        case .attribute(let attribute):
            isTransient = attribute.isTransient
            isSlotLink = false
            storage = attribute.isTransient ? nil : .attribute(attribute.type)
        case .relationship(let relationship):
            isTransient = relationship.description.isTransient
            isSlotLink = relationship.truth == .slot
            storage = relationship.truth == .slot && !relationship.description.isTransient ? .reference : nil
        case .position:
            isTransient = false
            isSlotLink = false
            storage = .position
        }
    }

    /// Copied with all that is in it: not for a path that is walked for each row.
    package var attribute: AttributeDescription? {
        if case .attribute(let attribute) = kind { attribute } else { nil }
    }
    /// Copied with all that is in it: not for a path that is walked for each row.
    package var relationship: RelationshipSchema? {
        if case .relationship(let relationship) = kind { relationship } else { nil }
    }
}

/// A relationship in a schema, with the place where the truth of its links is kept.
package struct RelationshipSchema: Sendable {
    /// Where a link is recorded.
    package enum Truth: Sendable, Hashable {
        /// A to-one: the slot in its own row.
        case slot
        /// A to-many whose inverse is a to-one: the slot in the member's row.
        case inverseSlot
        /// Many-to-many, or a to-many without inverse: a pair record under the canonical relationship's id.
        case pair(canonical: PropertyID)
    }

    package let description: RelationshipDescription
    package let destination: EntityID
    /// nil when the model names none.
    package let inverse: PropertyID?
    /// True also when there is no inverse: nothing limits how many objects lead to one.
    package let isInverseToMany: Bool
    package let isInverseOrdered: Bool
    package let truth: Truth
    /// For a to-one whose inverse is an ordered to-many: its hidden position.
    package let position: PropertyID?
    /// The slot of `position` in the entity this was taken from; a subentity may have it elsewhere.
    package let positionSlot: Int?

    package init(
        description: RelationshipDescription, destination: EntityID, inverse: PropertyID?, isInverseToMany: Bool,
        isInverseOrdered: Bool, truth: Truth, position: PropertyID?, positionSlot: Int?
    ) {
        self.description = description
        self.destination = destination
        self.inverse = inverse
        self.isInverseToMany = isInverseToMany
        self.isInverseOrdered = isInverseOrdered
        self.truth = truth
        self.position = position
        self.positionSlot = positionSlot
    }

    package var isToMany: Bool { description.isToMany }
}

/// An index in a schema: its number, and the slots its key is made of.
package struct IndexSchema: Sendable {
    package let id: IndexID
    package let name: String
    /// The entity that declares it; rows of its subentities are entered too.
    package let entityID: EntityID
    package let elements: [Element]
    package let isUnique: Bool
    package let partialPredicate: FetchPredicate?

    package struct Element: Sendable {
        package let propertyID: PropertyID
        /// The same in every entity whose rows are entered: only declared properties can be indexed.
        package let slot: Int
        /// Element names below a composite attribute; empty for a plain property.
        package let compositePath: [String]
        package let isAscending: Bool
        package let folding: StringFolding

        package init(
            propertyID: PropertyID, slot: Int, compositePath: [String], isAscending: Bool, folding: StringFolding
        ) {
            self.propertyID = propertyID
            self.slot = slot
            self.compositePath = compositePath
            self.isAscending = isAscending
            self.folding = folding
        }
    }

    package init(
        id: IndexID, name: String, entityID: EntityID, elements: [Element], isUnique: Bool,
        partialPredicate: FetchPredicate?
    ) {
        self.id = id
        self.name = name
        self.entityID = entityID
        self.elements = elements
        self.isUnique = isUnique
        self.partialPredicate = partialPredicate
    }
}
