/// A named choice of a model's entities.
public struct ModelConfiguration: Sendable, Hashable, Codable {
    public var name: String
    public var entityNames: [String]
    public var editorInfo: EditorInfo

    public init(name: String, entityNames: [String], editorInfo: EditorInfo = [:]) {
        self.name = name
        self.entityNames = entityNames
        self.editorInfo = editorInfo
    }
}
