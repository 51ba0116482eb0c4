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
