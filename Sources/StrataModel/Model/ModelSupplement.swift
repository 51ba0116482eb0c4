/// The content of a model besides its entities, as a store keeps it: requests, fetched properties, configurations and
/// views.
package struct ModelSupplement: Sendable, Hashable {
    package var fetchRequestTemplates: [FetchRequestTemplate] = []
    package var fetchedProperties: [FetchedPropertyDescription] = []
    package var configurations: [ModelConfiguration] = []
    package var views: [ViewDescription] = []
    package var versionIdentifier: String?
    package var editorInfo: EditorInfo = [:]

    package init() {}

    package init(_ model: ManagedObjectModel) {
        fetchRequestTemplates = model.fetchRequestTemplates.values.sorted { $0.name < $1.name }
        fetchedProperties = model.fetchedProperties
        configurations = model.configurations
        views = model.views
        versionIdentifier = model.versionIdentifier
        editorInfo = model.editorInfo
    }

    package var isEmpty: Bool { self == ModelSupplement() }
}

extension ModelSupplement: Codable {
    private enum Key: String, CodingKey {
        case fetchRequestTemplates, fetchedProperties, configurations, views, versionIdentifier, editorInfo
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        fetchRequestTemplates = try container.decode([FetchRequestTemplate].self, forKey: .fetchRequestTemplates)
        fetchedProperties = try container.decode([FetchedPropertyDescription].self, forKey: .fetchedProperties)
        configurations = try container.decode([ModelConfiguration].self, forKey: .configurations)
        views = try container.decodeIfPresent([ViewDescription].self, forKey: .views) ?? []
        versionIdentifier = try container.decodeIfPresent(String.self, forKey: .versionIdentifier)
        editorInfo = try container.decode(EditorInfo.self, forKey: .editorInfo)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(fetchRequestTemplates, forKey: .fetchRequestTemplates)
        try container.encode(fetchedProperties, forKey: .fetchedProperties)
        try container.encode(configurations, forKey: .configurations)
        // Omitted if empty, as before there were views.
        if !views.isEmpty { try container.encode(views, forKey: .views) }
        try container.encodeIfPresent(versionIdentifier, forKey: .versionIdentifier)
        try container.encode(editorInfo, forKey: .editorInfo)
    }
}

extension ManagedObjectModel {
    /// The model with named requests, fetched properties, configurations and views added.
    ///
    /// - Throws: `invalidModel`; its `details` have all problems, such as missing or duplicate names and unknown
    ///   entities.
    public func adding(
        fetchRequestTemplates templates: [FetchRequestTemplate] = [],
        fetchedProperties: [FetchedPropertyDescription] = [], configurations: [ModelConfiguration] = [],
        views: [ViewDescription] = [], versionIdentifier: String? = nil, editorInfo: EditorInfo = [:]
    ) throws(StrataError) -> ManagedObjectModel {
        var check = SupplementCheck(self)
        for template in templates { check.add(template) }
        for property in fetchedProperties { check.add(property) }
        for configuration in configurations { check.add(configuration) }
        check.add(views)
        guard check.problems.isEmpty else {
            let count = check.problems.count == 1 ? "a problem" : "\(check.problems.count) problems"
            throw StrataError(
                .invalidModel, "The model has \(count) in its requests, configurations or views.",
                details: check.problems)
        }
        var supplement = check.supplement
        if let versionIdentifier, !versionIdentifier.isEmpty { supplement.versionIdentifier = versionIdentifier }
        supplement.editorInfo.values.merge(editorInfo.values) { $1 }
        return ManagedObjectModel(checked: entities, supplement)
    }

    /// The model without a view.
    package func without(view name: String) -> ManagedObjectModel {
        var supplement = ModelSupplement(self)
        supplement.views.removeAll { $0.name == name }
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
