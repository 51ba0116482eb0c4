/// A property whose value is the result of a request, such as objects with a common value but no relationship.
///
/// In the predicate, `$FETCH_SOURCE` is the object, `$FETCHED_PROPERTY` the property's name, and
/// `$FETCHED_PROPERTY.userInfo.key` an entry of `userInfo`.
public struct FetchedPropertyDescription: Sendable, Hashable, Codable {
    /// The name, unique in the entity.
    public var name: String
    /// The name of the entity that has the property; its subentities inherit it.
    public var entityName: String
    /// The request. Its own name is not used.
    public var request: FetchRequestTemplate
    /// Kept for model files. A fetched property can always be empty.
    public var isOptional = true
    /// Entries of the app's own.
    public var userInfo: [String: String] = [:]
    /// Entries of the model editor.
    public var editorInfo: EditorInfo = [:]

    /// A fetched property of an entity.
    public init(_ name: String, of entityName: String, _ request: FetchRequestTemplate) {
        self.name = name
        self.entityName = entityName
        self.request = request
    }
}
