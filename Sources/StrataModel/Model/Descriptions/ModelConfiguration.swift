/// A named subset of a model's entities.
public struct ModelConfiguration: Sendable, Hashable, Codable {
    /// The name, unique in the model.
    public var name: String
    /// The names of its entities.
    public var entityNames: [String]
    /// Entries of the model editor.
    public var editorInfo: EditorInfo

    /// A configuration with a name and entities.
    public init(name: String, entityNames: [String], editorInfo: EditorInfo = [:]) {
        self.name = name
        self.entityNames = entityNames
        self.editorInfo = editorInfo
    }
}
