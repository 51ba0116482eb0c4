/// An entity of a model: its name, its properties in order, its indexes, and the rules for its objects.
public struct EntityDescription: Sendable, Hashable, Codable {
    /// The name, unique in the model.
    public var name: String
    /// The class of its objects; nil for `ManagedObject`.
    public var managedObjectClassName: String?
    /// Whether the entity has no objects of its own, only those of its subentities.
    public var isAbstract: Bool
    /// The name of the parent entity.
    public var superentityName: String?
    /// The entity's own properties in declared order, without inherited ones.
    public var properties: [PropertyDescription]
    /// The indexes over its objects and those of its subentities.
    public var indexes: [FetchIndexDescription]
    /// Lists of attributes and to-ones. No two objects may have the same values in all properties of a list.
    public var uniquenessConstraints: [[String]]
    /// Predicates that every object must meet when it is saved.
    public var validationPredicates: [ValidationPredicate]
    /// The name in the previous model, if the entity was renamed.
    public var renamingIdentifier: String?
    /// A text that distinguishes versions of an otherwise equal entity.
    public var versionHashModifier: String?
    /// Entries of the app's own.
    public var userInfo: [String: String]
    /// Entries of the model editor.
    public var editorInfo: EditorInfo
    /// `fullText`; nil for none, so that models without it are written as before there was any.
    private var fullTextNames: [String]?

    /// An entity with a name and properties.
    public init(
        name: String, managedObjectClassName: String? = nil, isAbstract: Bool = false, superentityName: String? = nil,
        properties: [PropertyDescription] = [], indexes: [FetchIndexDescription] = [],
        uniquenessConstraints: [[String]] = [], validationPredicates: [ValidationPredicate] = [],
        renamingIdentifier: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:],
        editorInfo: EditorInfo = [:], fullText: [String] = []
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
        self.fullText = fullText
    }
}

extension EntityDescription {
    /// The names of the attributes, own or inherited ones, whose words the store lists, so that `FullTextQuery` finds the
    /// objects of the entity and its subentities. All are strings that rows hold, 32 at most. An entity above or below
    /// must not list words too.
    public var fullText: [String] {
        get { fullTextNames ?? [] }
        set { fullTextNames = newValue.isEmpty ? nil : newValue }
    }

    /// The entity's own properties by name, without inherited ones.
    public var propertiesByName: [String: PropertyDescription] {
        Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The entity's own attributes by name, without inherited ones.
    public var attributesByName: [String: AttributeDescription] { propertiesByName.compactMapValues(\.attribute) }

    /// The entity's own relationships by name, without inherited ones.
    public var relationshipsByName: [String: RelationshipDescription] {
        propertiesByName.compactMapValues(\.relationship)
    }
}
