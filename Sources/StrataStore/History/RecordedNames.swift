package import StrataModel

/// The names of everything a store ever had a number for: the newest name where it is still in the model, the last one
/// it bore where it is not.
package struct RecordedNames: Sendable {
    private let entities: [EntityID: String]
    private let properties: [PropertyID: String]
    private let indexes: [IndexID: String]

    init(_ histories: SchemaHistory) {
        var entities: [EntityID: String] = [:]
        var properties: [PropertyID: String] = [:]
        var indexes: [IndexID: String] = [:]
        for schema in histories.readableSchemas {
            for entity in schema.entities {
                entities[entity.id] = entity.name
                for property in entity.properties { properties[property.id] = property.name }
            }
            for index in schema.indexes { indexes[index.id] = index.name }
        }
        self.entities = entities
        self.properties = properties
        self.indexes = indexes
    }

    /// - Returns: for a number that no model explains, the number itself.
    package func name(of entity: EntityID) -> String { entities[entity] ?? "entity \(entity.rawValue)" }

    /// The name of a relationship's hidden inverse is the relationship's with an arrow before it.
    package func name(of property: PropertyID) -> String {
        if let name = properties[property] { return name }
        let forward = PropertyID(rawValue: property.rawValue & ~0x8000_0000)
        if property.isHiddenInverse, let name = properties[forward] { return "<-\(name)" }
        return "property \(property.rawValue)"
    }

    package func name(of index: IndexID) -> String { indexes[index] ?? "index \(index.rawValue)" }

    /// `BowTie/p12`.
    package func name(of object: ObjectID) -> String { "\(name(of: object.entityID))/p\(object.row)" }

    /// `Owner/p3.movies`.
    func name(of link: PropertyID, _ owner: ObjectID) -> String { "\(name(of: owner)).\(name(of: link))" }
}

extension RecordedNames {
    /// Every property that bears, or bore last, this name.
    package func properties(named name: String) -> Set<PropertyID> {
        Set(properties.lazy.filter { $0.value == name }.map(\.key))
    }
}
