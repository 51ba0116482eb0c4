/// An index over one or more properties of an entity and its subentities.
public struct FetchIndexDescription: Sendable, Hashable, Codable {
    /// The name, unique in the entity.
    public var name: String
    /// The parts of the key, in order.
    public var elements: [FetchIndexElement]
    /// The condition for objects in the index; nil for all objects. It may use only the object's own attributes and
    /// to-ones.
    public var partialIndexPredicate: FetchPredicate?
    /// Entries of the model editor.
    public var editorInfo: EditorInfo

    /// An index with a name and elements.
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
    /// The name of an attribute or to-one relationship, or `composite.element`.
    public var propertyPath: String
    /// Whether smaller values come first.
    public var isAscending: Bool
    /// The differences of text that the index ignores.
    public var folding: StringFolding

    /// A part of an index key.
    public init(_ propertyPath: String, isAscending: Bool = true, folding: StringFolding = []) {
        self.propertyPath = propertyPath
        self.isAscending = isAscending
        self.folding = folding
    }
}
