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

extension ManagedObjectModel {
    /// The entities of a configuration, in the model's order; `Default` has all of them.
    ///
    /// - Returns: nil when the model has no configuration of this name.
    public func entities(forConfiguration name: String) -> [EntityDescription]? {
        if let configuration = configurations.first(where: { $0.name == name }) {
            let names = Set(configuration.entityNames)
            return entities.filter { names.contains($0.name) }
        }
        return name == Self.defaultConfiguration ? entities : nil
    }

    /// The configuration that every model has.
    public static let defaultConfiguration = "Default"
}

/// What a model has besides its entities, as it is kept in a store: only what there is.
package struct ModelSupplement: Sendable, Hashable, Codable {
    package var fetchRequestTemplates: [FetchRequestTemplate] = []
    package var fetchedProperties: [FetchedPropertyDescription] = []
    package var configurations: [ModelConfiguration] = []
    package var versionIdentifier: String?
    package var editorInfo: EditorInfo = [:]

    package init() {}

    package init(_ model: ManagedObjectModel) {
        fetchRequestTemplates = model.fetchRequestTemplates.values.sorted { $0.name < $1.name }
        fetchedProperties = model.fetchedProperties
        configurations = model.configurations
        versionIdentifier = model.versionIdentifier
        editorInfo = model.editorInfo
    }

    package var isEmpty: Bool { self == ModelSupplement() }
}
