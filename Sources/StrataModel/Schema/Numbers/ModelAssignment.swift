/// The numbers a store gave the names of a model, and the default each property was born with.
///
/// Inherited properties have one number, that of the entity which declares them.
package struct ModelAssignment: Sendable, Hashable {
    /// Entity name -> number.
    package var entities: [String: EntityID]
    /// Declaring entity name -> property name -> number. Hidden positions stand under `<to-one name>#position`.
    package var properties: [String: [String: PropertyID]]
    /// Entity name -> index name -> number. Unique constraints stand under `unique:<names joined by commas>`,
    /// attributes that are indexed alone under whatever name their description has.
    package var indexes: [String: [String: IndexID]]
    /// The value that rows older than a property read for it; absent where that is nil.
    package var bornDefaults: [PropertyID: AttributeValue]
    /// For a number that was given because rows could not be read as the model now wants them: the numbers of the
    /// version before whose values it takes over. Several where one property takes the place of those of many entities.
    package var replaced: [PropertyID: [PropertyID]]
    /// One-to-ones whose links stand at the far end too, as those of other to-ones do. Models that were installed before
    /// this was known have none.
    package var filedOneToOnes: Set<PropertyID>
    /// The next numbers to give; numbers of removed things are never given again.
    package var nextEntity: UInt16
    package var nextProperty: UInt32
    package var nextIndex: UInt32

    package init(
        entities: [String: EntityID] = [:], properties: [String: [String: PropertyID]] = [:],
        indexes: [String: [String: IndexID]] = [:], bornDefaults: [PropertyID: AttributeValue] = [:],
        replaced: [PropertyID: [PropertyID]] = [:], filedOneToOnes: Set<PropertyID> = [], nextEntity: UInt16 = 1,
        nextProperty: UInt32 = 1, nextIndex: UInt32 = 1
    ) {
        self.entities = entities
        self.properties = properties
        self.indexes = indexes
        self.bornDefaults = bornDefaults
        self.replaced = replaced
        self.filedOneToOnes = filedOneToOnes
        self.nextEntity = nextEntity
        self.nextProperty = nextProperty
        self.nextIndex = nextIndex
    }
}

extension ModelAssignment {
    /// The name under which the hidden position of a to-one stands.
    package static func positionName(of toOne: String) -> String { "\(toOne)#position" }

    package func id(of key: EntityHierarchy.PropertyKey) -> PropertyID? { properties[key.entityName]?[key.name] }
}

extension ModelAssignment: Codable {
    private enum Key: String, CodingKey {
        case entities, properties, indexes, bornDefaults, replaced, filedOneToOnes, nextEntity, nextProperty, nextIndex
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        entities = try container.decode([String: EntityID].self, forKey: .entities)
        properties = try container.decode([String: [String: PropertyID]].self, forKey: .properties)
        indexes = try container.decode([String: [String: IndexID]].self, forKey: .indexes)
        nextEntity = try container.decode(UInt16.self, forKey: .nextEntity)
        nextProperty = try container.decode(UInt32.self, forKey: .nextProperty)
        nextIndex = try container.decode(UInt32.self, forKey: .nextIndex)
        bornDefaults = [:]
        for (text, value) in try container.decode([String: AttributeValue].self, forKey: .bornDefaults) {
            guard let number = UInt32(text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .bornDefaults, in: container, debugDescription: "not a property number: \(text)")
            }
            bornDefaults[PropertyID(rawValue: number)] = value
        }
        replaced = [:]
        for (text, numbers) in try container.decodeIfPresent([String: [PropertyID]].self, forKey: .replaced) ?? [:] {
            guard let number = UInt32(text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .replaced, in: container, debugDescription: "not a property number: \(text)")
            }
            replaced[PropertyID(rawValue: number)] = numbers
        }
        filedOneToOnes = Set(try container.decodeIfPresent([PropertyID].self, forKey: .filedOneToOnes) ?? [])
    }

    /// Numbers that are keys are written as text: a dictionary with other keys has no order in JSON.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(entities, forKey: .entities)
        try container.encode(properties, forKey: .properties)
        try container.encode(indexes, forKey: .indexes)
        try container.encode(nextEntity, forKey: .nextEntity)
        try container.encode(nextProperty, forKey: .nextProperty)
        try container.encode(nextIndex, forKey: .nextIndex)
        let defaults = bornDefaults.map { (String($0.key.rawValue), $0.value) }
        try container.encode(Dictionary(uniqueKeysWithValues: defaults), forKey: .bornDefaults)
        // Left out where there is none, which is the rule.
        if !replaced.isEmpty {
            let numbers = replaced.map { (String($0.key.rawValue), $0.value) }
            try container.encode(Dictionary(uniqueKeysWithValues: numbers), forKey: .replaced)
        }
        if !filedOneToOnes.isEmpty { try container.encode(filedOneToOnes.sorted(), forKey: .filedOneToOnes) }
    }
}
