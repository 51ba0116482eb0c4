import StrataGraph
import StrataModel
import StrataStore

/// One relationship of one object, which `link` and `unlink` change.
struct RelationshipTarget {
    let object: ManagedObject
    private let property: PropertySchema

    /// - Throws: `UsageError` for a name that is not a relationship.
    init(_ object: String, _ name: String, _ store: Store, _ context: ManagedObjectContext) throws {
        self.object = try TargetArguments().object(object, store, context)
        let entity = try EntityName.find(self.object.entity.name, in: store)
        guard let property = entity.property(named: name), property.relationship != nil else {
            let known = NameSuggestions(entity.properties.filter { $0.relationship != nil }.map(\.name))
            throw UsageError("\(entity.name) has no relationship '\(name)'.\(known.hint(for: name))")
        }
        self.property = property
    }

    var isToMany: Bool { property.relationship?.isToMany ?? false }
    var isOrdered: Bool { property.relationship?.description.isOrdered ?? false }

    /// - Returns: whether the relationship contained the member.
    func unlink(_ member: ManagedObject) throws -> Bool {
        if isToMany { return try object.removeMember(member, forKey: property.name) }
        guard let target = try object.value(forKey: property.name) as? ManagedObject, target === member else {
            return false
        }
        try object.setValue(nil, forKey: property.name)
        return true
    }
}
