import StrataModel

// Adds and removes single members of a to-many by its name, for code that has no class. `setValue(_:forKey:)` would
// read all members.

extension ManagedObject {
    /// Adds a member to a to-many, at the end of an ordered one. An object that is a member already stays where it is.
    ///
    /// - Throws: `unknownKey`, `wrongType`, also for what is no to-many; `deletedObject`, `readOnly`.
    package final func insertMember(_ member: ManagedObject, forKey key: String) throws {
        try addMember(member, at: try toMany(key).index, position: nil)
    }

    /// Puts objects side by side into an ordered to-many, in their order. Objects that are members already are moved.
    ///
    /// - Parameter position: the position of the first of them afterwards, counted from 0.
    /// - Throws: as `insertMember`; `invalidRequest` where the other members are too few for the position.
    package final func insertMembers(_ members: [ManagedObject], forKey key: String, at position: Int) throws {
        let property = try toMany(key)
        var seen: Set<ObjectID> = []
        let members = members.filter { seen.insert($0.objectID).inserted }
        let moved = try members.filter { try readContains($0, at: property.index) }
        let count = try readCount(at: property.index)
        guard 0...(count - moved.count) ~= position else {
            throw StrataError(
                .invalidRequest, "\(key) has \(count - moved.count) other members, and no position \(position).",
                context: errorContext(key))
        }
        // Moved to the end first: a member that leaves from in front of the position would shift the others.
        for member in moved { try addMember(member, at: property.index, position: count - 1) }
        for (number, member) in members.enumerated() {
            try addMember(member, at: property.index, position: position + number)
        }
    }

    /// Removes a member from a to-many.
    ///
    /// - Returns: whether it was a member.
    /// - Throws: as `insertMember`.
    package final func removeMember(_ member: ManagedObject, forKey key: String) throws -> Bool {
        let property = try toMany(key)
        guard try readContains(member, at: property.index) else { return false }
        try removeMember(member, at: property.index)
        return true
    }

    private final func toMany(_ key: String) throws -> PropertyRuntime {
        let property = try declared(key)
        guard property.isToMany else {
            throw StrataError(.wrongType, "\(key) is not a to-many relationship.", context: errorContext(key))
        }
        return property
    }
}
