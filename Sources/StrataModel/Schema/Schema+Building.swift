extension Schema {
    /// Makes a schema of a model and the numbers assigned to it.
    ///
    /// - Throws: `invalidModel` if the assignment lacks a number or has one twice.
    package convenience init(
        version: ModelVersion, model: ManagedObjectModel, assignment: ModelAssignment
    ) throws(StrataError) {
        let builder = SchemaBuilder(version: version, model: model, assignment: assignment)
        try builder.checkNumbers()
        var entities: [EntitySchema] = []
        for entity in model.entities { entities.append(try builder.schema(of: entity)) }
        self.init(version: version, model: model, assignment: assignment, entities: entities)
    }
}

extension RowLayout {
    /// Lays out properties, which must be in slot order.
    package convenience init(entityID: EntityID, version: ModelVersion, properties: [PropertySchema]) {
        self.init(
            entityID: entityID, version: version,
            slots: properties.map {
                Slot(
                    propertyID: $0.id, storage: $0.storage,
                    allowsExternalStorage: $0.attribute?.allowsExternalBinaryDataStorage ?? false)
            })
    }
}

/// Builds the entities, properties and indexes of a schema.
private struct SchemaBuilder {
    let version: ModelVersion
    let model: ManagedObjectModel
    let assignment: ModelAssignment
    /// By the name of a relationship's destination: the numbers of that entity and its subentities.
    private let destinations: [String: [EntityID]]
    private var hierarchy: EntityHierarchy { model.hierarchy }

    init(version: ModelVersion, model: ManagedObjectModel, assignment: ModelAssignment) {
        self.version = version
        self.model = model
        self.assignment = assignment
        var destinations: [String: [EntityID]] = [:]
        for relationship in model.entities.lazy.flatMap(\.properties).compactMap(\.relationship)
        where destinations[relationship.destinationEntityName] == nil {
            destinations[relationship.destinationEntityName] = assignment.numbers(
                of: relationship.destinationEntityName, model)
        }
        self.destinations = destinations
    }

    // MARK: Entities

    func schema(of entity: EntityDescription) throws(StrataError) -> EntitySchema {
        let id = try number(of: entity.name)
        let below = hierarchy.subentities(of: entity.name)
        var ids: [EntityID] = [], concrete: [EntityID] = []
        for other in [entity] + below {
            let id = try number(of: other.name)
            ids.append(id)
            if !other.isAbstract { concrete.append(id) }
        }
        let properties = try properties(of: entity)
        var superentityID: EntityID?
        if let name = entity.superentityName { superentityID = try number(of: name) }
        return EntitySchema(
            id: id, name: entity.name, description: entity, isAbstract: entity.isAbstract,
            superentityID: superentityID, concreteEntityIDs: concrete, entityIDs: ids, properties: properties,
            layout: RowLayout(entityID: id, version: version, properties: properties),
            indexes: try indexes(of: entity, properties: properties))
    }

    // MARK: Properties

    /// The declared properties first, so that a class can number its slots after its parent's, then the hidden
    /// positions.
    private func properties(of entity: EntityDescription) throws(StrataError) -> [PropertySchema] {
        let declarations = hierarchy.declarations(of: entity.name)
        let positioned = declarations.filter { hierarchy.hasPosition($0.property) }
        var positionSlots: [EntityHierarchy.PropertyKey: Int] = [:]
        for (index, declaration) in positioned.enumerated() {
            positionSlots[declaration.key] = declarations.count + index
        }
        var properties: [PropertySchema] = []
        for (slot, declaration) in declarations.enumerated() {
            let kind: PropertySchema.Kind =
                switch declaration.property {
                case .attribute(let attribute): .attribute(attribute)
                case .relationship(let relationship):
                    .relationship(
                        try schema(
                            of: relationship, key: declaration.key, positionSlot: positionSlots[declaration.key]))
                }
            properties.append(
                PropertySchema(
                    id: try number(of: declaration.key), slot: slot, name: declaration.property.name, kind: kind))
        }
        for declaration in positioned {
            let name = ModelAssignment.positionName(of: declaration.property.name)
            properties.append(
                PropertySchema(
                    id: try number(of: .init(entityName: declaration.entityName, name: name)),
                    slot: properties.count, name: name, kind: .position(of: try number(of: declaration.key))))
        }
        return properties
    }

    private func schema(
        of relationship: RelationshipDescription, key: EntityHierarchy.PropertyKey, positionSlot: Int?
    ) throws(StrataError) -> RelationshipSchema {
        let declaration = hierarchy.inverse(of: relationship)
        let inverse = declaration?.property.relationship
        var inverseID: PropertyID?
        if let declaration { inverseID = try number(of: declaration.key) }
        var position: PropertyID?
        if positionSlot != nil {
            let name = ModelAssignment.positionName(of: key.name)
            position = try number(of: .init(entityName: key.entityName, name: name))
        }
        return RelationshipSchema(
            description: relationship, destination: try number(of: relationship.destinationEntityName),
            destinations: destinations[relationship.destinationEntityName] ?? [], inverse: inverseID,
            isInverseToMany: inverse?.isToMany ?? true, isInverseOrdered: inverse?.isOrdered ?? false,
            truth: truth(of: relationship, id: try number(of: key), inverse: inverse, inverseID: inverseID),
            position: position, positionSlot: positionSlot)
    }

    private func truth(
        of relationship: RelationshipDescription, id: PropertyID, inverse: RelationshipDescription?,
        inverseID: PropertyID?
    ) -> RelationshipSchema.Truth {
        guard relationship.isToMany else { return .slot }
        guard let inverse, let inverseID else { return .pair(canonical: id) }
        return inverse.isToMany ? .pair(canonical: min(id, inverseID)) : .inverseSlot
    }

    // MARK: Indexes

    private func indexes(
        of entity: EntityDescription, properties: [PropertySchema]
    ) throws(StrataError) -> [IndexSchema] {
        let slots = Dictionary(properties.map { ($0.id, $0.slot) }, uniquingKeysWith: { first, _ in first })
        var indexes: [IndexSchema] = []
        for declaring in hierarchy.chain(of: entity.name) {
            for definition in IndexDefinition.all(of: declaring) {
                guard let id = assignment.indexes[declaring.name]?[definition.name] else {
                    throw missing("index \(definition.name)", declaring.name)
                }
                var elements: [IndexSchema.Element] = []
                for element in definition.elements {
                    elements.append(try schema(of: element, in: declaring, slots: slots))
                }
                indexes.append(
                    IndexSchema(
                        id: id, name: definition.name, entityID: try number(of: declaring.name), elements: elements,
                        isUnique: definition.isUnique, partialPredicate: definition.partialPredicate))
            }
        }
        return indexes
    }

    private func schema(
        of element: FetchIndexElement, in entity: EntityDescription, slots: [PropertyID: Int]
    ) throws(StrataError) -> IndexSchema.Element {
        guard let part = hierarchy.keyPart(element.propertyPath, in: entity.name) else {
            throw missing("property \(element.propertyPath)", entity.name)
        }
        let id = try number(of: part.declaration.key)
        guard let slot = slots[id] else { throw missing("property \(element.propertyPath)", entity.name) }
        return IndexSchema.Element(
            propertyID: id, slot: slot, compositePath: part.elements.map(\.name), isAscending: element.isAscending,
            folding: element.folding)
    }

    // MARK: Numbers

    private func number(of entityName: String) throws(StrataError) -> EntityID {
        guard let id = assignment.entities[entityName] else { throw missing("the entity", entityName) }
        return id
    }

    private func number(of key: EntityHierarchy.PropertyKey) throws(StrataError) -> PropertyID {
        guard let id = assignment.id(of: key) else { throw missing("property \(key.name)", key.entityName) }
        return id
    }

    private func missing(_ what: String, _ entityName: String) -> StrataError {
        StrataError(
            .invalidModel, "The store's schema has no number for \(what).", context: .init(entityName: entityName))
    }

    /// Checks that all numbers are in range, below the next one, and unique.
    func checkNumbers() throws(StrataError) {
        let entities = assignment.entities.values.map { UInt32($0.rawValue) }
        let properties = assignment.properties.values.flatMap(\.values).map(\.rawValue)
        let indexes = assignment.indexes.values.flatMap(\.values).map(\.rawValue)
        let groups: [(String, [UInt32], UInt32, UInt32)] = [
            ("entity", entities, UInt32(assignment.nextEntity), 0xFFFF),
            ("property", properties, assignment.nextProperty, 0x8000_0000),
            ("index", indexes, assignment.nextIndex, UInt32.max),
            (
                "view", (Array(assignment.views.values) + assignment.texts.values).map(\.rawValue), assignment.nextView,
                UInt32.max
            ),
        ]
        for view in model.views where assignment.views[view.name] == nil {
            throw StrataError(.invalidModel, "The store's schema has no number for the view \(view.name).")
        }
        for entity in model.entities where !entity.fullText.isEmpty && assignment.texts[entity.name] == nil {
            throw StrataError(.invalidModel, "The store's schema has no number for the full text of \(entity.name).")
        }
        for (what, numbers, next, end) in groups {
            let isSound = numbers.allSatisfy { $0 > 0 && $0 < next } && next <= end
            guard isSound, Set(numbers).count == numbers.count else {
                throw StrataError(
                    .invalidModel, "The store's schema has \(what) numbers that are out of range or used twice.")
            }
        }
    }
}
