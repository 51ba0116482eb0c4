// The description of a relationship, and its delete rule.

/// The effect of a deletion on the objects that a relationship leads to. Raw values are Core Data's.
public enum DeleteRule: UInt8, Sendable, Hashable, Codable {
    /// Changes nothing. A to-one of those objects may then lead to the deleted object.
    case noAction = 0
    /// Removes the links of those objects to the deleted object.
    case nullify = 1
    /// Deletes those objects too.
    case cascade = 2
    /// Forbids the deletion as long as there are such objects.
    case deny = 3
}

/// A relationship to one or many objects of another (or the same) entity.
public struct RelationshipDescription: Sendable, Hashable, Codable {
    /// The name, unique in the entity.
    public var name: String
    /// The name of the entity that it leads to.
    public var destinationEntityName: String
    /// The name of the inverse relationship of the destination. It is enough if one of the two names the other.
    public var inverseName: String?
    /// Declares that there is no inverse. Without it, a missing inverse is a problem of the model.
    public var hasNoInverse: Bool
    /// Whether the relationship leads to any number of objects.
    public var isToMany: Bool
    /// Whether the members of a to-many have an order.
    public var isOrdered: Bool
    /// Whether the relationship may lead to no object. A to-many may be empty in any case if its `minCount` is 0.
    public var isOptional: Bool
    /// Whether the relationship is kept in memory only and never saved.
    public var isTransient: Bool
    /// The smallest number of members of a to-many; 0 for no limit. An optional to-many may also be empty.
    public var minCount: Int
    /// The largest number of members; 0 for no limit.
    public var maxCount: Int
    /// The effect of a deletion on the objects that the relationship leads to.
    public var deleteRule: DeleteRule
    /// The name in the previous model, if the relationship was renamed.
    public var renamingIdentifier: String?
    /// A text that distinguishes versions of an otherwise equal relationship.
    public var versionHashModifier: String?
    /// Entries of the app's own.
    public var userInfo: [String: String]
    /// Entries of the model editor.
    public var editorInfo: EditorInfo

    /// A relationship, an optional to-one unless the parameters say otherwise.
    public init(
        name: String, destinationEntityName: String, inverseName: String? = nil, hasNoInverse: Bool = false,
        isToMany: Bool = false, isOrdered: Bool = false, isOptional: Bool = true, isTransient: Bool = false,
        minCount: Int = 0, maxCount: Int = 0, deleteRule: DeleteRule = .nullify, renamingIdentifier: String? = nil,
        versionHashModifier: String? = nil, userInfo: [String: String] = [:],
        editorInfo: EditorInfo = [:]
    ) {
        self.name = name
        self.destinationEntityName = destinationEntityName
        self.inverseName = inverseName
        self.hasNoInverse = hasNoInverse
        self.isToMany = isToMany
        self.isOrdered = isOrdered
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.minCount = minCount
        self.maxCount = maxCount
        self.deleteRule = deleteRule
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
        self.userInfo = userInfo
        self.editorInfo = editorInfo
    }
}
