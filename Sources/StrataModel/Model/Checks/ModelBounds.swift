/// The sizes of a model, found in one pass before anything else looks at it: the other checks, and everything that is
/// made of a model, take time and memory for each entity and each of its inherited properties.
package struct ModelBounds {
    /// The errors about sizes above the limits, in the order of the entities.
    package private(set) var problems: [StrataError] = []

    private let entities: [EntityDescription]
    /// The place of the first entity with each name.
    private var places: [String: Int] = [:]
    /// The number of entities from the root down, the entity itself included.
    private var levels: [Int]
    /// Whether the chain of parents leads back to an entity in it.
    private var isEndless: [Bool]
    /// The numbers of properties and indexes that each entity has and inherits.
    private var inherited: [Inherited]

    private struct Inherited {
        var properties = 0
        var indexes = 0
    }

    package init(_ entities: [EntityDescription]) {
        self.entities = entities
        levels = [Int](repeating: 0, count: entities.count)
        isEndless = [Bool](repeating: false, count: entities.count)
        inherited = [Inherited](repeating: Inherited(), count: entities.count)
        guard entities.count <= ModelLimits.entities else {
            report("The model", "has \(entities.count) entities; \(ModelLimits.entities) is the maximum.")
            return
        }
        for (place, entity) in entities.enumerated() where places[entity.name] == nil { places[entity.name] = place }
        for place in entities.indices where levels[place] == 0 { measure(from: place) }
        for place in entities.indices { check(place) }
        if problems.isEmpty { checkTotals() }
    }

    private func parent(of place: Int) -> Int? { entities[place].superentityName.flatMap { places[$0] } }

    /// Sets the measures of an entity and of all its ancestors.
    private mutating func measure(from place: Int) {
        var chain: [Int] = []
        var next: Int? = place
        while let current = next, levels[current] == 0 {
            // Marks the entity as met.
            levels[current] = -1
            chain.append(current)
            next = parent(of: current)
        }
        var level = 0
        var above = Inherited()
        var isEndless = false
        if let known = next {
            if levels[known] < 0 {
                isEndless = true
            } else {
                (level, above, isEndless) = (levels[known], inherited[known], self.isEndless[known])
            }
        }
        for current in chain.reversed() {
            level += 1
            above.properties += entities[current].properties.count
            above.indexes += entities[current].indexes.count + entities[current].uniquenessConstraints.count
            levels[current] = level
            inherited[current] = above
            self.isEndless[current] = isEndless
        }
    }

    private mutating func check(_ place: Int) {
        let name = entities[place].name
        if levels[place] > ModelLimits.inheritanceDepth {
            report(
                name,
                isEndless[place]
                    ? "is its own ancestor, or has one that is."
                    : "is \(levels[place]) levels deep; \(ModelLimits.inheritanceDepth) is the maximum.")
        }
        if inherited[place].properties > ModelLimits.properties {
            report(
                name, "has \(inherited[place].properties) properties; \(ModelLimits.properties) is the maximum.")
        }
        if inherited[place].indexes > ModelLimits.properties {
            report(name, "has \(inherited[place].indexes) indexes; \(ModelLimits.properties) is the maximum.")
        }
    }

    /// Every entity has a copy of its inherited properties, and every relationship is noted for each entity that it may
    /// lead to.
    private mutating func checkTotals() {
        let copies = inherited.reduce(0) { $0 + $1.properties + $1.indexes }
        if copies > ModelLimits.inheritedProperties {
            report(
                "The model",
                "has \(copies) properties and indexes, inherited ones counted for each entity; "
                    + "\(ModelLimits.inheritedProperties) is the maximum.")
        }
        var below = [Int](repeating: 1, count: entities.count)
        for place in entities.indices.sorted(by: { levels[$0] > levels[$1] }) where !isEndless[place] {
            if let parent = parent(of: place) { below[parent] += below[place] }
        }
        var targets = 0
        for entity in entities {
            for case .relationship(let relationship) in entity.properties {
                targets += places[relationship.destinationEntityName].map { below[$0] } ?? 0
            }
        }
        if targets > ModelLimits.relationshipTargets {
            report(
                "The model",
                "has relationships that lead to \(targets) entities, subentities counted; "
                    + "\(ModelLimits.relationshipTargets) is the maximum.")
        }
    }

    private mutating func report(_ subject: String, _ sentence: String) {
        problems.append(StrataError(.invalidModel, "\(subject) \(sentence)", context: .init(entityName: subject)))
    }
}
