import Locking
package import StrataModel

/// The names of everything a store ever had a number for: the newest name where it is still in the model, the last one
/// it bore where it is not.
///
/// What the newest model names is named without a look at the others, which are read when a number is in none of it.
package struct RecordedNames: Sendable {
    private let histories: SchemaHistory

    init(_ histories: SchemaHistory) { self.histories = histories }

    /// - Returns: for a number that no model explains, the number itself.
    package func name(of entity: EntityID) -> String {
        find { $0.entities[entity] } ?? "entity \(entity.rawValue)"
    }

    /// The name of a relationship's hidden inverse is the relationship's with an arrow before it.
    package func name(of property: PropertyID) -> String {
        let forward = PropertyID(rawValue: property.rawValue & ~0x8000_0000)
        let name = find { names in
            names.properties[property] ?? (property.isHiddenInverse ? names.properties[forward].map { "<-\($0)" } : nil)
        }
        return name ?? "property \(property.rawValue)"
    }

    package func name(of index: IndexID) -> String { find { $0.indexes[index] } ?? "index \(index.rawValue)" }

    /// `BowTie/p12`.
    package func name(of object: ObjectID) -> String { "\(name(of: object.entityID))/p\(object.row)" }

    /// `Owner/p3.movies`.
    func name(of link: PropertyID, _ owner: ObjectID) -> String { "\(name(of: owner)).\(name(of: link))" }
}

extension RecordedNames {
    /// Every property that bears, or bore last, this name.
    package func properties(named name: String) -> Set<PropertyID> {
        Set(histories.names.ofAll(histories).properties.lazy.filter { $0.value == name }.map(\.key))
    }

    private func find(_ look: (ModelNames) -> String?) -> String? {
        look(histories.names.ofNewest(histories)) ?? look(histories.names.ofAll(histories))
    }
}

/// What models call what they have numbers for.
struct ModelNames: Sendable {
    private(set) var entities: [EntityID: String] = [:]
    private(set) var properties: [PropertyID: String] = [:]
    private(set) var indexes: [IndexID: String] = [:]

    /// - Parameter schemas: later ones have the last word.
    init(_ schemas: [Schema]) {
        for schema in schemas {
            for entity in schema.entities {
                entities[entity.id] = entity.name
                for property in entity.properties { properties[property.id] = property.name }
            }
            for index in schema.indexes { indexes[index.id] = index.name }
        }
    }
}

/// The names in the models of one history, each gathered once.
struct KnownNames: Sendable {
    private let newest = Locked<ModelNames?>(nil)
    private let all = Locked<ModelNames?>(nil)

    /// Of the last model alone.
    func ofNewest(_ histories: SchemaHistory) -> ModelNames {
        Self.gathered(newest) { histories.versions.last.map { histories.readableSchemas([$0]) } ?? [] }
    }

    /// A model whose record makes no sense gives none.
    func ofAll(_ histories: SchemaHistory) -> ModelNames {
        Self.gathered(all) { histories.readableSchemas(histories.versions) }
    }

    private static func gathered(_ names: Locked<ModelNames?>, _ schemas: () -> [Schema]) -> ModelNames {
        names.withLock { names in
            if let names { return names }
            let made = ModelNames(schemas())
            names = made
            return made
        }
    }
}
