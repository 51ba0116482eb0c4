/// A property whose value is what a request finds: objects that belong to an object without being linked to it.
///
/// In the predicate `$FETCH_SOURCE` is the object, and `$FETCHED_PROPERTY` the property's name.
public struct FetchedPropertyDescription: Sendable, Hashable, Codable {
    public var name: String
    /// The entity that has the property; its subentities have it too.
    public var entityName: String
    /// What the request asks; its own name is not used.
    public var request: FetchRequestTemplate
    /// Always true in what it means: it may find nothing.
    public var isOptional = true
    public var userInfo: [String: String] = [:]
    public var editorInfo: EditorInfo = [:]

    public init(_ name: String, of entityName: String, _ request: FetchRequestTemplate) {
        self.name = name
        self.entityName = entityName
        self.request = request
    }
}
