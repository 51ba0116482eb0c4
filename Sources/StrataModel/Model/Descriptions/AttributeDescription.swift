/// An attribute of an entity: its name, type, default, rules and storage.
public struct AttributeDescription: Sendable, Hashable, Codable {
    /// The name, unique in the entity.
    public var name: String
    /// The type of the values.
    public var type: AttributeType
    /// Whether the value may be nil.
    public var isOptional: Bool
    /// Whether the value is kept in memory only and never saved.
    public var isTransient: Bool
    /// The value of a new object; nil for none.
    public var defaultValue: AttributeValue?
    /// The expression from which each save computes the value; nil for an attribute that the app sets.
    ///
    /// It is a path of to-ones that ends at an attribute (`author.name`), alone or in `canonical:(…)`, `uppercase:(…)`
    /// or `lowercase:(…)`; a to-many's `@count` (`items.@count`); the sum of an attribute of its members
    /// (`items.price.@sum`); or `now()`, the time of the last save that changed the object's own values. A derived
    /// attribute cannot have validation rules, and setting it has no effect.
    public var derivationExpression: FetchExpression?
    /// Whether large values are stored in files beside the store. For binary data only.
    public var allowsExternalBinaryDataStorage: Bool
    /// The name of the `ValueTransformer` of a transformable.
    public var valueTransformerName: String?
    /// The Swift type of a transformable, composite or enum, used by code generators.
    public var attributeValueClassName: String?
    /// The elements of a composite.
    public var elements: [AttributeDescription]
    /// The rules that a value must meet when it is saved.
    public var validationRules: [ValidationRule]
    /// The encryption of the values; nil for an attribute that is stored in the clear.
    ///
    /// An encrypted attribute can be compared with `==`, `!=` and `IN`, and be in indexes and uniqueness constraints. It
    /// has no order and no parts, and no default.
    public var encryption: AttributeEncryption?
    /// Whether the history keeps the last value when an object is deleted.
    public var preservesValueInHistoryOnDeletion: Bool
    /// The name in the previous model, if the attribute was renamed.
    public var renamingIdentifier: String?
    /// A text that distinguishes versions of an otherwise equal attribute.
    public var versionHashModifier: String?
    /// Entries of the app's own.
    public var userInfo: [String: String]
    /// Entries of the model editor.
    public var editorInfo: EditorInfo

    /// An attribute, required unless `isOptional` is true.
    public init(
        name: String, type: AttributeType, isOptional: Bool = false, isTransient: Bool = false,
        defaultValue: AttributeValue? = nil, derivationExpression: FetchExpression? = nil,
        allowsExternalBinaryDataStorage: Bool = false,
        valueTransformerName: String? = nil, attributeValueClassName: String? = nil,
        elements: [AttributeDescription] = [], validationRules: [ValidationRule] = [],
        encryption: AttributeEncryption? = nil, preservesValueInHistoryOnDeletion: Bool = false,
        renamingIdentifier: String? = nil,
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
        self.encryption = encryption
        self.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
        self.userInfo = userInfo
        self.editorInfo = editorInfo
    }
}
