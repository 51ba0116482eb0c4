/// The content of a model besides its entities, as a store keeps it: requests, fetched properties and configurations.
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

extension ManagedObjectModel {
    /// The model with named requests, fetched properties and configurations added.
    ///
    /// - Throws: `invalidModel`; its `details` have all problems, such as missing or duplicate names and unknown
    ///   entities.
    public func adding(
        fetchRequestTemplates templates: [FetchRequestTemplate] = [],
        fetchedProperties: [FetchedPropertyDescription] = [], configurations: [ModelConfiguration] = [],
        versionIdentifier: String? = nil, editorInfo: EditorInfo = [:]
    ) throws(StrataError) -> ManagedObjectModel {
        var check = SupplementCheck(self)
        for template in templates { check.add(template) }
        for property in fetchedProperties { check.add(property) }
        for configuration in configurations { check.add(configuration) }
        guard check.problems.isEmpty else {
            let count = check.problems.count == 1 ? "a problem" : "\(check.problems.count) problems"
            throw StrataError(
                .invalidModel, "The model has \(count) in its requests or configurations.", details: check.problems)
        }
        var supplement = check.supplement
        if let versionIdentifier, !versionIdentifier.isEmpty { supplement.versionIdentifier = versionIdentifier }
        supplement.editorInfo.values.merge(editorInfo.values) { $1 }
        return ManagedObjectModel(checked: entities, supplement)
    }

    /// The fetched property of an entity with a name, its own or inherited.
    package func fetchedProperty(_ name: String, ofEntityNamed entityName: String) -> FetchedPropertyDescription? {
        fetchedProperties.first { $0.name == name && hierarchy.isKind(entityName, of: $0.entityName) }
    }
}

extension ManagedObjectModel {
    /// The entities of a configuration, in the model's order. The configuration `Default` has all of them.
    ///
    /// - Returns: nil if the model has no configuration of this name.
    public func entities(forConfiguration name: String) -> [EntityDescription]? {
        if let configuration = configurations.first(where: { $0.name == name }) {
            let names = Set(configuration.entityNames)
            return entities.filter { names.contains($0.name) }
        }
        return name == Self.defaultConfiguration ? entities : nil
    }

    /// The name of the configuration that every model has.
    public static let defaultConfiguration = "Default"
}
