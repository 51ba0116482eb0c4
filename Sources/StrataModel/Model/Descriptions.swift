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

/// A property of an entity.
public enum PropertyDescription: Sendable, Hashable, Codable {
    case attribute(AttributeDescription)
    case relationship(RelationshipDescription)

    public var name: String {
        switch self {
        case .attribute(let attribute): attribute.name
        case .relationship(let relationship): relationship.name
        }
    }
}

/// An attribute: its type, default, rules and storage.
public struct AttributeDescription: Sendable, Hashable, Codable {
    public var name: String
    public var type: AttributeType
    public var isOptional: Bool
    /// Kept in memory only, never stored.
    public var isTransient: Bool
    public var defaultValue: AttributeValue?
    /// What the store computes the value from whenever it saves; nil for an attribute that the app sets.
    ///
    /// A path of to-ones that ends at an attribute (`author.name`), alone or as `canonical:(…)`, `uppercase:(…)` or
    /// `lowercase:(…)`; a to-many's `@count` (`items.@count`); the sum over an attribute of its members
    /// (`items.price.@sum`); `now()`, the time of the save that last wrote the object's own values. Validation rules do
    /// not go with it, and setting the attribute has no effect.
    public var derivationExpression: FetchExpression?
    /// Large values are kept in files beside the store. Binary data only.
    public var allowsExternalBinaryDataStorage: Bool
    /// The name under which the transformable's `ValueTransformer` is registered.
    public var valueTransformerName: String?
    /// The Swift type of a transformable, composite or enum, for readers and code generators.
    public var attributeValueClassName: String?
    /// The parts of a composite.
    public var elements: [AttributeDescription]
    public var validationRules: [ValidationRule]
    public var preservesValueInHistoryOnDeletion: Bool
    public var renamingIdentifier: String?
    public var versionHashModifier: String?
    public var userInfo: [String: String]
    public var editorInfo: EditorInfo

    public init(
        name: String, type: AttributeType, isOptional: Bool = false, isTransient: Bool = false,
        defaultValue: AttributeValue? = nil, derivationExpression: FetchExpression? = nil,
        allowsExternalBinaryDataStorage: Bool = false,
        valueTransformerName: String? = nil, attributeValueClassName: String? = nil,
        elements: [AttributeDescription] = [], validationRules: [ValidationRule] = [],
        preservesValueInHistoryOnDeletion: Bool = false, renamingIdentifier: String? = nil,
        versionHashModifier: String? = nil, userInfo: [String: String] = [:],
        editorInfo: EditorInfo = [:]
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.defaultValue = defaultValue
        self.derivationExpression = derivationExpression
        self.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
        self.valueTransformerName = valueTransformerName
        self.attributeValueClassName = attributeValueClassName
        self.elements = elements
        self.validationRules = validationRules
        self.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
        self.userInfo = userInfo
        self.editorInfo = editorInfo
    }
}

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

/// A rule that a value of one attribute must keep.
public enum ValidationRule: Sendable, Hashable, Codable {
    /// Bounds for numbers and dates, both inclusive; nil is open.
    case range(minimum: AttributeValue?, maximum: AttributeValue?)
    /// Bounds for the number of characters of a string (or bytes of data).
    case length(minimum: Int?, maximum: Int?)
    /// A regular expression that the whole string must match.
    case pattern(String)
    /// A predicate over the value as `SELF`, with the message shown when it fails.
    case predicate(ValidationPredicate)
}

/// A predicate that must hold, and what is said when it does not.
public struct ValidationPredicate: Sendable, Hashable, Codable {
    public var predicate: FetchPredicate
    public var message: String

    public init(_ predicate: FetchPredicate, message: String) {
        self.predicate = predicate
        self.message = message
    }
}

/// How strings are compared in a key or by an operator.
public struct StringFolding: OptionSet, Sendable, Hashable, Codable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `[c]`
    public static let caseInsensitive = StringFolding(rawValue: 1)
    /// `[d]`
    public static let diacriticInsensitive = StringFolding(rawValue: 2)
}

/// An index over one or more properties of an entity and its subentities.
public struct FetchIndexDescription: Sendable, Hashable, Codable {
    public var name: String
    public var elements: [FetchIndexElement]
    /// Only objects for which this holds are in the index; it may look at the object's own attributes only.
    public var partialIndexPredicate: FetchPredicate?
    public var editorInfo: EditorInfo

    public init(
        name: String, elements: [FetchIndexElement], partialIndexPredicate: FetchPredicate? = nil,
        editorInfo: EditorInfo = [:]
    ) {
        self.name = name
        self.elements = elements
        self.partialIndexPredicate = partialIndexPredicate
        self.editorInfo = editorInfo
    }
}

/// One part of an index key.
public struct FetchIndexElement: Sendable, Hashable, Codable {
    /// An attribute, a to-one relationship, or `composite.element`.
    public var propertyPath: String
    public var isAscending: Bool
    public var folding: StringFolding

    public init(_ propertyPath: String, isAscending: Bool = true, folding: StringFolding = []) {
        self.propertyPath = propertyPath
        self.isAscending = isAscending
        self.folding = folding
    }
}
