import StrataModel
import StrataStore

// Reading the objects of a request's relationships along with its results.

extension ManagedObjectContext {
    /// Reads the objects at the end of relationship key paths into memory, with one read of the store for each step.
    ///
    /// - Throws: `unknownKey`, `invalidRequest` for a step that is no relationship.
    func prefetch(_ keyPaths: [String], of objects: [ManagedObject]) throws {
        for keyPath in keyPaths {
            var current = objects
            for step in keyPath.split(separator: ".", omittingEmptySubsequences: false) {
                if current.isEmpty { break }
                current = try prefetch(String(step), of: current)
            }
        }
    }

    /// - Returns: the objects at the other end of the relationship, each once.
    private func prefetch(_ name: String, of objects: [ManagedObject]) throws -> [ManagedObject] {
        try fill(objects)
        var targets: [ObjectID] = []
        var owners: [ToManyState] = []
        for object in objects where object._state & ObjectState.inaccessible == 0 {
            // Only a subentity of the request's entity may have the property.
            guard let property = object._entity.property(named: name) else { continue }
            if property.isToMany, let link = binding.link(property.id) {
                owners.append(toManyState(link, object.objectID))
            } else if property.isToOne, property.isInRow {
                let target = object.reference(property.location)
                if !target.isNil { targets.append(target) }
            }
        }
        try readMembers(of: owners)
        for state in owners { targets += try members(state) }
        var seen: Set<ObjectID> = []
        let found = targets.filter { seen.insert($0).inserted }.compactMap(registeredOrFault)
        try fill(found)
        return found
    }

    /// Lists the members of many owners in one read of the store.
    private func readMembers(of states: [ToManyState]) throws {
        let unread = states.filter { $0.members == nil && !isNew($0.owner) }
        guard !unread.isEmpty else { return }
        try read { snapshot in
            for state in unread { state.setMembers(base: try listedMembers(state, snapshot)) }
        }
    }
}
