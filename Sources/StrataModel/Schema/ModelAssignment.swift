/// The numbers a store gave the names of a model, and the default each property was born with.
///
/// Inherited properties have one number, that of the entity which declares them.
package struct ModelAssignment: Sendable, Hashable, Codable {
    /// Entity name -> number.
    package var entities: [String: EntityID]
    /// Declaring entity name -> property name -> number. Hidden positions stand under `<to-one name>#position`.
    package var properties: [String: [String: PropertyID]]
    /// Entity name -> index name -> number. Unique constraints stand under `unique:<names joined by commas>`,
    /// attributes that are indexed alone under whatever name their description has.
    package var indexes: [String: [String: IndexID]]
    /// The value that rows older than a property read for it.
    package var bornDefaults: [PropertyID: AttributeValue]
    /// The next numbers to give; numbers of removed things are never given again.
    package var nextEntity: UInt16
    package var nextProperty: UInt32
    package var nextIndex: UInt32

    package init(
        entities: [String: EntityID] = [:], properties: [String: [String: PropertyID]] = [:],
        indexes: [String: [String: IndexID]] = [:], bornDefaults: [PropertyID: AttributeValue] = [:],
        nextEntity: UInt16 = 1, nextProperty: UInt32 = 1, nextIndex: UInt32 = 1
    ) {
        self.entities = entities
        self.properties = properties
        self.indexes = indexes
        self.bornDefaults = bornDefaults
        self.nextEntity = nextEntity
        self.nextProperty = nextProperty
        self.nextIndex = nextIndex
    }
}
