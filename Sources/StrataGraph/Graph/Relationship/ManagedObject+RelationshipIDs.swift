public import StrataModel

// The ids of a relationship's targets, without making or reading an object.

extension ManagedObject {
    /// Whether a relationship has still to be read: a to-one whose target's values are not in memory, a to-many whose
    /// members were not listed. Reads nothing of the relationship; the object's own fault fires for a to-one.
    ///
    /// - Throws: `unknownKey`; `wrongType` for an attribute.
    public final func hasFault(forRelationshipNamed key: String) throws -> Bool {
        let property = try relationship(key)
        guard let context = _context, property.isInRow || property.isToMany else { return false }
        if property.isToMany {
            context.foldLinkChanges()
            guard let link = context.binding.link(property.id), !context.isNew(objectID) else { return false }
            return context.knownState(link, objectID)?.members == nil
        }
        fireFault()
        let target = reference(property.location)
        return !target.isNil && context.map[target]?.isFault ?? true
    }

    /// The ids of the objects that a relationship leads to, in order if it is ordered. Makes no object.
    ///
    /// - Throws: `unknownKey`; `wrongType` for an attribute; `corrupt`, and what else reading the store throws.
    public final func objectIDs(forRelationshipNamed key: String) throws -> [ObjectID] {
        let property = try relationship(key)
        if property.isToMany { return try readMembers(at: property.index) }
        guard property.isInRow else { return [] }
        fireFault()
        try throwIfUnreadable(key)
        let target = reference(property.location)
        return target.isNil ? [] : [target]
    }

    private final func relationship(_ key: String) throws -> PropertyRuntime {
        let property = try declared(key)
        guard property.relationship != nil else {
            throw StrataError(.wrongType, "\(key) is not a relationship.", context: errorContext(key))
        }
        return property
    }
}
