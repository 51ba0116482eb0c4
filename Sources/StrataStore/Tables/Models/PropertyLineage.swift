package import StrataModel

/// The numbers of properties that mean one property in the models of a store.
///
/// A property that gets another name keeps its number. One that gets another type has a new number, which takes over
/// from the former ones.
package struct PropertyLineage: Sendable {
    /// The numbers that took over from a number, in the order of the models.
    private var heirs: [PropertyID: [PropertyID]] = [:]
    /// The last of them, but for a number that is in the model again.
    private var lastHeir: [PropertyID: PropertyID] = [:]
    /// The numbers that a number took over from.
    private var formers: [PropertyID: Set<PropertyID>] = [:]

    /// - Parameter schemas: oldest first.
    init(_ schemas: [Schema]) {
        for schema in schemas {
            for (heir, former) in schema.assignment.replaced.sorted(by: { $0.key < $1.key }) {
                formers[heir, default: []].formUnion(former)
                for property in former {
                    lastHeir[property] = heir
                    if !(heirs[property] ?? []).contains(heir) { heirs[property, default: []].append(heir) }
                }
                // A number that returns is the newest again, so no chain is a circle.
                lastHeir[heir] = nil
            }
        }
    }

    /// Whether no number ever took over from another.
    var isEmpty: Bool { heirs.isEmpty }

    /// Whether the number took over from others.
    func isHeir(_ property: PropertyID) -> Bool { formers[property] != nil }

    /// The newest number of a property; the last one if several numbers took over.
    package func newest(_ property: PropertyID) -> PropertyID {
        var newest = property
        while let heir = lastHeir[newest] { newest = heir }
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
            next += heirs[number] ?? []
        }
        return nil
    }

    /// The number itself and all that it took over from, directly or not.
    package func withFormers(_ property: PropertyID) -> Set<PropertyID> {
        var found: Set<PropertyID> = []
        var next = [property]
        while let number = next.popLast() {
            if found.insert(number).inserted { next += formers[number] ?? [] }
        }
        return found
    }
}
