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
