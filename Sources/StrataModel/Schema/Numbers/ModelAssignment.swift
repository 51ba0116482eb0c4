/// The numbers that a store assigned to the entities, properties, indexes and views of a model, and the defaults of
/// properties when they were added.
///
/// An inherited property has one number, assigned for the entity that declares it.
package struct ModelAssignment: Sendable, Hashable {
    /// The numbers of entities by name.
    package var entities: [String: EntityID]
    /// The numbers of properties by the name of the declaring entity and their own. A hidden position has the name
    /// `<to-one name>#position`.
    package var properties: [String: [String: PropertyID]]
    /// The numbers of indexes by entity name and index name. The index of a uniqueness constraint has the name
    /// `unique:<property names joined by commas>`.
    package var indexes: [String: [String: IndexID]]
    /// The value of a property in rows that are older than the property; absent if it is nil.
    package var bornDefaults: [PropertyID: AttributeValue]
    /// The numbers in the previous version whose values a number takes over that was assigned because older rows could
    /// not be read. Several if one property replaces those of several entities.
    package var replaced: [PropertyID: [PropertyID]]
    /// By entity: the number whose values a property takes over in its objects, where `replaced` or its name would say another.
    package var ownFormers: [EntityID: [PropertyID: PropertyID]] = [:]
    /// One-to-ones whose links the store also files by target, like those of other to-ones. Models that were installed
    /// by versions without this have none.
    package var filedOneToOnes: Set<PropertyID>
    /// The numbers of declared views by name.
    package var views: [String: ViewID] = [:]
    /// The numbers of full texts by the name of the entity, from the same numbers as those of views.
    package var texts: [String: ViewID] = [:]
    /// The rules of the time zones that the keys of views use, by the names of view and zone, as of when the view got
    /// its number.
    package var zones: [String: [String: ZoneRules]] = [:]
    /// The next numbers to assign. Numbers of removed entities, properties, indexes and views are never assigned again.
    package var nextEntity: UInt16
    package var nextProperty: UInt32
    package var nextIndex: UInt32
    package var nextView: UInt32 = 1

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
    /// The name of the hidden position of a to-one.
    package static func positionName(of toOne: String) -> String { "\(toOne)\(positionSuffix)" }

    /// Returns the to-one whose position a property has by this name; nil for any other property.
    package static func toOneName(ofPosition name: String) -> String? {
        name.hasSuffix(positionSuffix) ? String(name.dropLast(positionSuffix.count)) : nil
    }

    private static let positionSuffix = "#position"

    package func id(of key: EntityHierarchy.PropertyKey) -> PropertyID? { properties[key.entityName]?[key.name] }

    /// The numbers of an entity and its subentities, as far as they have numbers yet.
    func numbers(of entityName: String, _ model: ManagedObjectModel) -> [EntityID] {
        ([entityName] + model.hierarchy.subentities(of: entityName).map(\.name)).compactMap { entities[$0] }
    }

    /// The numbers whose values a property takes over in the objects of an entity.
    package func formers(of property: PropertyID, in entity: EntityID) -> [PropertyID] {
        ownFormers[entity]?[property].map { [$0] } ?? replaced[property] ?? []
    }

    /// Whether a property returns in the place of others that have its name in the model before.
    func returnsInPlace(_ property: PropertyID) -> Bool {
        guard let former = replaced[property]?.first else { return false }
        return ownFormers.values.contains { $0[property] == former }
    }
}

extension ModelAssignment: Codable {
    private enum Key: String, CodingKey {
        case entities, properties, indexes, bornDefaults, replaced, filedOneToOnes, nextEntity, nextProperty, nextIndex
        case views, texts, zones, nextView, ownFormers
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        entities = try container.decode([String: EntityID].self, forKey: .entities)
        properties = try container.decode([String: [String: PropertyID]].self, forKey: .properties)
        indexes = try container.decode([String: [String: IndexID]].self, forKey: .indexes)
        nextEntity = try container.decode(UInt16.self, forKey: .nextEntity)
        nextProperty = try container.decode(UInt32.self, forKey: .nextProperty)
        nextIndex = try container.decode(UInt32.self, forKey: .nextIndex)
        views = try container.decodeIfPresent([String: ViewID].self, forKey: .views) ?? [:]
        texts = try container.decodeIfPresent([String: ViewID].self, forKey: .texts) ?? [:]
        zones = try container.decodeIfPresent([String: [String: ZoneRules]].self, forKey: .zones) ?? [:]
        nextView = try container.decodeIfPresent(UInt32.self, forKey: .nextView) ?? 1
        bornDefaults = try Self.numbers(
            container.decode([String: AttributeValue].self, forKey: .bornDefaults), of: .bornDefaults, container)
        replaced = try Self.numbers(
            container.decodeIfPresent([String: [PropertyID]].self, forKey: .replaced) ?? [:], of: .replaced, container)
        ownFormers = [:]
        let formers = try container.decodeIfPresent([String: [String: PropertyID]].self, forKey: .ownFormers) ?? [:]
        for (text, numbers) in formers {
            guard let number = UInt16(text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .ownFormers, in: container, debugDescription: "Not an entity number: \(text).")
            }
            ownFormers[EntityID(rawValue: number)] = try Self.numbers(numbers, of: .ownFormers, container)
        }
        filedOneToOnes = Set(try container.decodeIfPresent([PropertyID].self, forKey: .filedOneToOnes) ?? [])
    }

    /// What was written by numbers of properties as text.
    private static func numbers<Value>(
        _ values: [String: Value], of key: Key, _ container: KeyedDecodingContainer<Key>
    ) throws -> [PropertyID: Value] {
        var numbers: [PropertyID: Value] = [:]
        for (text, value) in values {
            guard let number = UInt32(text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container, debugDescription: "Not a property number: \(text).")
            }
            numbers[PropertyID(rawValue: number)] = value
        }
        return numbers
    }

    private static func texts<Value>(_ values: [PropertyID: Value]) -> [String: Value] {
        Dictionary(uniqueKeysWithValues: values.map { (String($0.key.rawValue), $0.value) })
    }

    /// Writes numbers that are keys as text, because a dictionary with other keys has no order in JSON.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(entities, forKey: .entities)
        try container.encode(properties, forKey: .properties)
        try container.encode(indexes, forKey: .indexes)
        try container.encode(nextEntity, forKey: .nextEntity)
        try container.encode(nextProperty, forKey: .nextProperty)
        try container.encode(nextIndex, forKey: .nextIndex)
        try container.encode(Self.texts(bornDefaults), forKey: .bornDefaults)
        // Omitted if empty, which is usual.
        if !views.isEmpty { try container.encode(views, forKey: .views) }
        if !texts.isEmpty { try container.encode(texts, forKey: .texts) }
        if !zones.isEmpty { try container.encode(zones, forKey: .zones) }
        if nextView > 1 { try container.encode(nextView, forKey: .nextView) }
        if !replaced.isEmpty { try container.encode(Self.texts(replaced), forKey: .replaced) }
        if !ownFormers.isEmpty {
            let formers = ownFormers.map { (String($0.key.rawValue), Self.texts($0.value)) }
            try container.encode(Dictionary(uniqueKeysWithValues: formers), forKey: .ownFormers)
        }
        if !filedOneToOnes.isEmpty { try container.encode(filedOneToOnes.sorted(), forKey: .filedOneToOnes) }
    }
}

extension ModelAssignment {
    /// The numbers of the views and full texts that the store keeps.
    package var keptViews: Set<ViewID> { Set(views.values).union(texts.values) }
}
