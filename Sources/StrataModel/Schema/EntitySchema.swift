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
