import StrataModel

// Members by name, one at a time, for code that has no class: `setValue(_:forKey:)` looks at all of them.

extension ManagedObject {
    /// Adds a member to a to-many, in a place of an ordered one; nil is the end.
    ///
    /// - Throws: `unknownKey`, `wrongType`, also for what is no to-many; `deletedObject`, `readOnly`.
    package final func insertMember(_ member: ManagedObject, forKey key: String, at position: Int? = nil) throws {
        let property = try toMany(key)
        if let position {
            let last = toManyCount(at: property.index)
            guard 0...last ~= position else {
                throw StrataError(
                    .invalidRequest, "\(key) has \(last) members, and no place \(position).", context: place(key))
            }
        }
        try addMember(member, at: property.index, position: position)
    }

    /// Takes a member of a to-many away.
    ///
    /// - Returns: whether it was one.
    /// - Throws: as `insertMember`.
    package final func removeMember(_ member: ManagedObject, forKey key: String) throws -> Bool {
        let property = try toMany(key)
        guard toManyContains(member, at: property.index) else { return false }
        try removeMember(member, at: property.index)
        return true
    }

    private final func toMany(_ key: String) throws -> PropertyRuntime {
        let property = try declared(key)
        guard property.isToMany else {
            throw StrataError(.wrongType, "\(key) is no to-many relationship.", context: place(key))
        }
        return property
    }
}
