/// What happens to the objects at the other end when an object is deleted; raw values are Core Data's.
public enum DeleteRule: UInt8, Sendable, Hashable, Codable {
    case noAction = 0
    case nullify = 1
    case cascade = 2
    case deny = 3
}

/// A relationship to one or many objects of another (or the same) entity.
public struct RelationshipDescription: Sendable, Hashable, Codable {
    public var name: String
    public var destinationEntityName: String
    /// The relationship of the destination that is this one read backwards. It may be named on one side only.
    public var inverseName: String?
    /// Said explicitly when there is no inverse; otherwise a missing inverse is a fault of the model.
    public var hasNoInverse: Bool
    public var isToMany: Bool
    public var isOrdered: Bool
    public var isOptional: Bool
    public var isTransient: Bool
    /// Fewest members of a to-many that is not empty or not optional; 0 is no bound.
    public var minCount: Int
    /// Most members; 0 is no bound.
    public var maxCount: Int
    public var deleteRule: DeleteRule
    public var renamingIdentifier: String?
    public var versionHashModifier: String?
    public var userInfo: [String: String]
    public var editorInfo: EditorInfo

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
