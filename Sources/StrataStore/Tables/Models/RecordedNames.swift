import Locking
package import StrataModel

/// The names of every entity, property and index that a store has ever had: its present name, or the last one if it has
/// left the model. A number whose values went to a later number has the name of that one.
///
/// Names in the newest model are found without decoding the older models.
package struct RecordedNames: Sendable {
    private let histories: SchemaHistory

    init(_ histories: SchemaHistory) { self.histories = histories }

    /// - Returns: the number itself if no model has a name for it.
    package func name(of entity: EntityID) -> String {
        find { $0.entities[entity] } ?? "entity \(entity.rawValue)"
    }

    /// The name of a relationship's hidden inverse is that of the relationship with an arrow before it.
    package func name(of property: PropertyID) -> String {
        let forward = property.forward
        func name(in names: ModelNames, _ property: PropertyID, _ forward: PropertyID) -> String? {
            names.properties[property] ?? (property.isHiddenInverse ? names.properties[forward].map { "<-\($0)" } : nil)
        }
        let newest = histories.names.ofNewest(histories)
        if let known = name(in: newest, property, forward) { return known }
        let lineage = histories.propertyLineage
        return name(in: newest, lineage.newestOfGone(property), lineage.newestOfGone(forward))
            ?? name(in: histories.names.ofAll(histories), property, forward) ?? "property \(property.rawValue)"
    }

    /// The name of a property as the objects of an entity have it: that of the property which has its values or links in
    /// them now, or the last one that it had there.
    ///
    /// Another entity may have gone on with the number under another name.
    ///
    /// - Parameter entity: nil where it is not known.
    package func name(of property: PropertyID, in entity: EntityID?) -> String {
        guard let entity, let name = ownName(of: property.forward, in: entity) else { return name(of: property) }
        return property.isHiddenInverse ? "<-\(name)" : name
    }

    /// The name of a pair's relationship as its source has it.
    package func name(of pair: PairKey) -> String { name(of: pair.property, in: pair.source.entityID) }

    private func ownName(of property: PropertyID, in entity: EntityID) -> String? {
        let newest = histories.names.ofNewest(histories)
        if let known = newest.own[entity]?[property] { return known }
        let lineage = histories.propertyLineage
        if let heir = histories.newest?.entity(entity).flatMap({ lineage.heir(of: property, in: $0) }) {
            return newest.own[entity]?[heir]
        }
        return histories.names.ofAll(histories).own[entity]?[property]
    }

    package func name(of index: IndexID) -> String { find { $0.indexes[index] } ?? "index \(index.rawValue)" }

    /// `BowTie/p12`.
    package func name(of object: ObjectID) -> String { object.named(name(of: object.entityID)) }

    /// `Owner/p3.movies`.
    func name(of link: PropertyID, _ owner: ObjectID) -> String {
        "\(name(of: owner)).\(name(of: link, in: owner.entityID))"
    }
}

extension SchemaHistory {
    /// Names an object in an error.
    func context(of id: ObjectID, at eventNumber: EventNumber? = nil) -> StrataError.Context {
        .init(entityName: RecordedNames(self).name(of: id.entityID), objectID: id, eventNumber: eventNumber)
    }
}

extension RecordedNames {
    /// Every property that has this name, or had it last, with the numbers that it took over from; by entity.
    package func properties(named name: String) -> [EntityID: Set<PropertyID>] {
        let (lineage, names) = (histories.propertyLineage, histories.names.ofAll(histories))
        return names.own.reduce(into: [:]) { properties, own in
            let named = own.value.filter { $0.value == name }.map(\.key)
            guard !named.isEmpty else { return }
            properties[own.key] = named.reduce(into: []) { $0.formUnion(lineage.withFormers($1, in: own.key)) }
        }
    }

    private func find(_ look: (ModelNames) -> String?) -> String? {
        look(histories.names.ofNewest(histories)) ?? look(histories.names.ofAll(histories))
    }
}

/// The names that models give to their entities, properties and indexes.
struct ModelNames: Sendable {
    private(set) var entities: [EntityID: String] = [:]
    private(set) var properties: [PropertyID: String] = [:]
    /// The names of all properties of each entity, of inherited ones too.
    private(set) var own: [EntityID: [PropertyID: String]] = [:]
    private(set) var indexes: [IndexID: String] = [:]

    /// - Parameter schemas: names in later ones replace those in earlier ones.
    init(_ schemas: [Schema]) {
        for schema in schemas {
            for entity in schema.entities {
                entities[entity.id] = entity.name
                for property in entity.properties {
                    properties[property.id] = property.name
                    own[entity.id, default: [:]][property.id] = property.name
                }
            }
            for index in schema.indexes { indexes[index.id] = index.name }
        }
    }
}

/// The names in the models of one history, each list made once.
struct GatheredNames: Sendable {
    private let newest = Locked<ModelNames?>(nil)
    private let all = Locked<ModelNames?>(nil)

    /// From the newest model alone.
    func ofNewest(_ histories: SchemaHistory) -> ModelNames {
        Self.gathered(newest) { histories.versions.last.map { histories.readableSchemas([$0]) } ?? [] }
    }

    /// A model whose record cannot be decoded is left out.
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

extension PropertyID {
    /// The number of the relationship that a hidden inverse leads back; the number itself for any other property.
    fileprivate var forward: PropertyID { PropertyID(rawValue: rawValue & ~0x8000_0000) }
}
