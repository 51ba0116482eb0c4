/// The inheritance of a list of entities: their parents, subentities, and all properties including inherited ones.
///
/// It accepts invalid entities too: a chain of parents ends at an unknown name, or before it would repeat.
package struct EntityHierarchy: Sendable {
    /// A property with the entity that declares it.
    package struct Declaration: Sendable {
        package let entityName: String
        package let property: PropertyDescription

        package var key: PropertyKey { PropertyKey(entityName: entityName, name: property.name) }
    }

    /// Identifies one declared property.
    package struct PropertyKey: Sendable, Hashable {
        package let entityName: String
        package let name: String

        package init(entityName: String, name: String) {
            self.entityName = entityName
            self.name = name
        }
    }

    package let entities: [EntityDescription]
    private let byName: [String: EntityDescription]
    /// From the root to the entity itself.
    private let chains: [String: [EntityDescription]]
    private let declarations: [String: [String: Declaration]]
    private let subentities: [String: [EntityDescription]]

    package init(_ entities: [EntityDescription]) {
        self.entities = entities
        let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.byName = byName
        var chains: [String: [EntityDescription]] = [:]
        var declarations: [String: [String: Declaration]] = [:]
        for entity in entities where chains[entity.name] == nil {
            let chain = Self.chain(of: entity, in: byName)
            chains[entity.name] = chain
            declarations[entity.name] = Self.declarations(in: chain)
        }
        self.chains = chains
        self.declarations = declarations
        var subentities: [String: [EntityDescription]] = [:]
        for entity in entities {
            for ancestor in (chains[entity.name] ?? []).dropLast() {
                subentities[ancestor.name, default: []].append(entity)
            }
        }
        self.subentities = subentities
    }

    package func entity(named name: String) -> EntityDescription? { byName[name] }

    /// The entity's ancestors from the root down, and the entity itself last.
    package func chain(of entityName: String) -> [EntityDescription] { chains[entityName] ?? [] }

    /// Every entity below this one, in the list's order.
    package func subentities(of entityName: String) -> [EntityDescription] { subentities[entityName] ?? [] }

    /// Whether the first entity is the second or one of its subentities.
    package func isKind(_ entityName: String, of ancestor: String) -> Bool {
        chain(of: entityName).contains { $0.name == ancestor }
    }

    /// The property of an entity with a name, its own or inherited.
    package func declaration(of name: String, in entityName: String) -> Declaration? {
        declarations[entityName]?[name]
    }

    /// Inherited properties first, then its own, each in declared order.
    package func declarations(of entityName: String) -> [Declaration] {
        chain(of: entityName).flatMap { entity in
            entity.properties.map { Declaration(entityName: entity.name, property: $0) }
        }
    }

    /// The inverse of a relationship; nil if it has none.
    package func inverse(of relationship: RelationshipDescription) -> Declaration? {
        relationship.inverseName.flatMap { declaration(of: $0, in: relationship.destinationEntityName) }
    }

    /// Whether a path is the name of a to-many of an entity.
    package func isToMany(_ path: String, in entityName: String) -> Bool {
        guard let relationship = declaration(of: path, in: entityName)?.property.relationship else { return false }
        return relationship.isToMany && !relationship.isTransient
    }

    /// Whether a property is a stored to-one whose inverse is an ordered to-many.
    func hasPosition(_ property: PropertyDescription) -> Bool {
        guard let relationship = property.relationship, !relationship.isToMany, !relationship.isTransient,
            let inverse = inverse(of: relationship)?.property.relationship
        else { return false }
        return inverse.isToMany && inverse.isOrdered
    }

    /// Whether a property is a stored to-one whose inverse is a to-one.
    func isOneToOne(_ property: PropertyDescription) -> Bool {
        guard let relationship = property.relationship, !relationship.isToMany, !relationship.isTransient,
            let inverse = inverse(of: relationship)?.property.relationship
        else { return false }
        return !inverse.isToMany
    }

    private static func chain(
        of entity: EntityDescription, in byName: [String: EntityDescription]
    ) -> [EntityDescription] {
        var chain = [entity]
        var seen: Set<String> = [entity.name]
        var next = entity.superentityName
        while let name = next, let parent = byName[name], seen.insert(name).inserted {
            chain.append(parent)
            next = parent.superentityName
        }
        return chain.reversed()
    }

    private static func declarations(in chain: [EntityDescription]) -> [String: Declaration] {
        var found: [String: Declaration] = [:]
        for entity in chain {
            for property in entity.properties where found[property.name] == nil {
                found[property.name] = Declaration(entityName: entity.name, property: property)
            }
        }
        return found
    }
}
