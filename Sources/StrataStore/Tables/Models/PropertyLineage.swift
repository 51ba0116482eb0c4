package import StrataModel

/// The numbers of properties that mean one property in the models of a store.
///
/// A property that gets another name keeps its number. One that gets another type has a new number, which takes over
/// from the former ones. Where an entity goes to another parent, or a property to another entity, a number may take over
/// in the objects of some entities only. So every question is asked for an entity.
package struct PropertyLineage: Sendable {
    private struct Key: Hashable {
        let entity: EntityID
        let property: PropertyID
    }

    /// The numbers that took over from a number, in the order of the models.
    private var heirs: [Key: [PropertyID]] = [:]
    /// The last of them, but for a number that is in the model again.
    private var lastHeir: [Key: PropertyID] = [:]
    /// The numbers that a number took over from.
    private var formers: [Key: Set<PropertyID>] = [:]
    /// The last heir in any entity of a number that no entity has any more.
    private var lastHeirOfGone: [PropertyID: PropertyID] = [:]

    /// - Parameter schemas: oldest first.
    init(_ schemas: [Schema]) {
        var numbers = EntityNumbers()
        for schema in schemas {
            for entity in schema.entities {
                for property in entity.properties {
                    for former in numbers.formers(of: property, in: entity, schema) {
                        note(property.id, after: former, in: entity)
                    }
                }
            }
            noteGone(schema)
            numbers.add(schema)
        }
    }

    private mutating func note(_ heir: PropertyID, after former: PropertyID, in entity: EntitySchema) {
        let (old, new) = (Key(entity: entity.id, property: former), Key(entity: entity.id, property: heir))
        formers[new, default: []].insert(former)
        if !(heirs[old] ?? []).contains(heir) { heirs[old, default: []].append(heir) }
        if entity.property(former) == nil { lastHeir[old] = heir }
        // A number that returns is the newest again, so no chain is a circle.
        lastHeir[new] = nil
    }

    private mutating func noteGone(_ schema: Schema) {
        for (heir, replaced) in schema.assignment.replaced.sorted(by: { $0.key < $1.key }) {
            for former in replaced where schema.property(former) == nil { lastHeirOfGone[former] = heir }
            lastHeirOfGone[heir] = nil
        }
    }

    /// Whether no number ever took over from another.
    var isEmpty: Bool { heirs.isEmpty }

    /// Whether the number took over from others in the objects of an entity.
    func isHeir(_ property: PropertyID, in entity: EntityID) -> Bool {
        formers[Key(entity: entity, property: property)] != nil
    }

    /// The newest number of a property of an entity; the last one if several numbers took over.
    package func newest(_ property: PropertyID, in entity: EntityID) -> PropertyID {
        var newest = property
        while let heir = lastHeir[Key(entity: entity, property: newest)] { newest = heir }
        return newest
    }

    /// The newest number of a property that no model has any more, in whatever entity it went on.
    func newestOfGone(_ property: PropertyID) -> PropertyID {
        var newest = property
        while let heir = lastHeirOfGone[newest] { newest = heir }
        return newest
    }

    /// The number under which an entity has the values of a property; nil if it has none.
    func heir(of property: PropertyID, in entity: EntitySchema) -> PropertyID? {
        var next = [property]
        var seen: Set<PropertyID> = []
        while !next.isEmpty {
            let number = next.removeFirst()
            guard seen.insert(number).inserted else { continue }
            if entity.property(number) != nil { return number }
            next += heirs[Key(entity: entity.id, property: number)] ?? []
        }
        return nil
    }

    /// The number itself and all that it took over from in the objects of an entity, directly or not.
    package func withFormers(_ property: PropertyID, in entity: EntityID) -> Set<PropertyID> {
        var found: Set<PropertyID> = []
        var next = [property]
        while let number = next.popLast() {
            if found.insert(number).inserted { next += formers[Key(entity: entity, property: number)] ?? [] }
        }
        return found
    }
}

/// The properties that each entity has had, while a walk goes through the models of a store.
private struct EntityNumbers {
    /// The last model's entity.
    private var last: [EntityID: EntitySchema] = [:]
    /// The newest model in which each entity had a number.
    private var had: [EntityID: [PropertyID: ModelVersion]] = [:]

    /// The numbers from which a property takes over when a model is installed that comes next.
    ///
    /// The links of a relationship may be those of several former ones.
    func formers(of property: PropertySchema, in entity: EntitySchema, _ schema: Schema) -> [PropertyID] {
        guard let before = last[entity.id], before.property(property.id) == nil else { return [] }
        let replaced = schema.assignment.formers(of: property.id, in: entity.id)
        let known = replaced.filter { $0 != property.id && had[entity.id]?[$0] != nil }
        if property.relationship != nil {
            let lost = schema.predecessor(ofLinks: property, in: entity, before)
            return known + (lost.map { known.contains($0.id) ? [] : [$0.id] } ?? [])
        }
        if let former = schema.former(of: property.id, in: before) { return [former.id] }
        return known.max { (had[entity.id]?[$0] ?? schema.version) < (had[entity.id]?[$1] ?? schema.version) }
            .map { [$0] } ?? []
    }

    mutating func add(_ schema: Schema) {
        for entity in schema.entities {
            last[entity.id] = entity
            for property in entity.properties { had[entity.id, default: [:]][property.id] = schema.version }
        }
    }
}
