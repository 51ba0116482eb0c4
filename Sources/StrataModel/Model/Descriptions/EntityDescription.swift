/// An entity: a name, its properties in order, and the rules that hold for every object of it.
public struct EntityDescription: Sendable, Hashable, Codable {
    public var name: String
    /// The class of its objects; nil means plain `ManagedObject`.
    public var managedObjectClassName: String?
    public var isAbstract: Bool
    /// The parent entity's name.
    public var superentityName: String?
    /// Its own properties in declared order; inherited ones are the parent's.
    public var properties: [PropertyDescription]
    public var indexes: [FetchIndexDescription]
    /// Each constraint is a list of attribute (or to-one) names that no two objects may share all of.
    public var uniquenessConstraints: [[String]]
    /// Predicates over the whole object with the messages shown when they fail.
    public var validationPredicates: [ValidationPredicate]
    /// The name it had in the model before, if it was renamed.
    public var renamingIdentifier: String?
    public var versionHashModifier: String?
    public var userInfo: [String: String]
    public var editorInfo: EditorInfo

    public init(
        name: String, managedObjectClassName: String? = nil, isAbstract: Bool = false, superentityName: String? = nil,
        properties: [PropertyDescription] = [], indexes: [FetchIndexDescription] = [],
        uniquenessConstraints: [[String]] = [], validationPredicates: [ValidationPredicate] = [],
        renamingIdentifier: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:],
        editorInfo: EditorInfo = [:]
    ) {
        self.name = name
        self.managedObjectClassName = managedObjectClassName
        self.isAbstract = isAbstract
        self.superentityName = superentityName
        self.properties = properties
        self.indexes = indexes
        self.uniquenessConstraints = uniquenessConstraints
        self.validationPredicates = validationPredicates
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
        self.userInfo = userInfo
        self.editorInfo = editorInfo
    }
}
