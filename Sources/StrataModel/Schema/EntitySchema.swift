/// An entity in a schema. Its properties are in slot order: inherited ones first, then its own, each in declared order,
/// then the hidden positions of all of them.
package final class EntitySchema: Sendable {
    package let id: EntityID
    package let name: String
    package let description: EntityDescription
    package let isAbstract: Bool
    package let superentityID: EntityID?
    /// The entity itself, unless it is abstract, and its concrete subentities.
    package let concreteEntityIDs: [EntityID]
    /// The entity itself and all its subentities.
    package let entityIDs: [EntityID]
    package let properties: [PropertySchema]
    /// The to-ones among the properties, whose targets are in the row.
    package let slotLinks: [PropertySchema]
    package let layout: RowLayout
    /// The indexes that have its rows: its own and inherited ones.
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

extension EntitySchema {
    /// The names of the properties that the model declares.
    package var visibleNames: [String] {
        properties.filter { !$0.isHidden }.map(\.name)
    }

    /// The error for a name that no property has, with the nearest one that a property has.
    package func unknownKey(_ key: String, _ context: StrataError.Context) -> StrataError {
        StrataError(
            .unknownKey, "\(name) has no property named \(key)" + NearestName.ending(for: key, among: visibleNames),
            context: context)
    }
}

extension Schema {
    /// The error for a name that no entity has, with the nearest one that an entity has.
    package func unknownEntity(_ name: String) -> StrataError {
        StrataError(
            .unknownEntity,
            "The model has no entity named \(name)" + NearestName.ending(for: name, among: entities.map(\.name)),
            context: .init(entityName: name))
    }
}
