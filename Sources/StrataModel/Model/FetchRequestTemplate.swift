/// A request that the model has under a name, with variables to be filled in when it is used.
///
/// ```swift
/// let template = FetchRequestTemplate(
///     name: "FilmsSince", entityName: "Film", where: try FetchPredicate(format: "year >= $YEAR"))
/// ```
public struct FetchRequestTemplate: Sendable, Hashable, Codable {
    public var name: String
    public var entityName: String
    /// `$NAME` stands for a value that is given later.
    public var predicate: FetchPredicate?
    public var sortDescriptors: [SortDescription]
    /// Most objects to return; 0 is no limit.
    public var fetchLimit: Int
    public var includesSubentities: Bool
    /// How many objects are made at a time; 0 leaves it to the context.
    public var fetchBatchSize = 0
    public var includesPendingChanges = true
    public var includesPropertyValues = true
    public var returnsObjectsAsFaults = true
    public var editorInfo: EditorInfo = [:]

    public init(
        name: String, entityName: String, where predicate: FetchPredicate? = nil,
        sortedBy sortDescriptors: [SortDescription] = [], limit: Int = 0, includesSubentities: Bool = true
    ) {
        self.name = name
        self.entityName = entityName
        self.predicate = predicate
        self.sortDescriptors = sortDescriptors
        fetchLimit = limit
        self.includesSubentities = includesSubentities
    }
}

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

extension ManagedObjectModel {
    /// The same model with requests that have names, with fetched properties, and with configurations.
    ///
    /// - Throws: `invalidModel`, naming each that has no name, the name of another, or an unknown entity.
    public func adding(
        fetchRequestTemplates templates: [FetchRequestTemplate] = [],
        fetchedProperties: [FetchedPropertyDescription] = [], configurations: [ModelConfiguration] = [],
        versionIdentifier: String? = nil, editorInfo: EditorInfo = [:]
    ) throws(StrataError) -> ManagedObjectModel {
        var check = SupplementCheck(self)
        for template in templates { check.add(template) }
        for property in fetchedProperties { check.add(property) }
        for configuration in configurations { check.add(configuration) }
        guard check.faults.isEmpty else {
            let count = check.faults.count == 1 ? "a fault" : "\(check.faults.count) faults"
            throw StrataError(
                .invalidModel, "The model has \(count) in its requests or configurations.", details: check.faults)
        }
        var supplement = check.supplement
        if let versionIdentifier, !versionIdentifier.isEmpty { supplement.versionIdentifier = versionIdentifier }
        supplement.editorInfo.values.merge(editorInfo.values) { $1 }
        return ManagedObjectModel(checked: entities, supplement)
    }

    /// The fetched property that objects of an entity have under a name, its own or a parent's.
    package func fetchedProperty(_ name: String, ofEntityNamed entityName: String) -> FetchedPropertyDescription? {
        fetchedProperties.first { $0.name == name && hierarchy.isKind(entityName, of: $0.entityName) }
    }
}

/// Adds requests and configurations to a model one by one, and collects what is wrong with them.
private struct SupplementCheck {
    let model: ManagedObjectModel
    var supplement: ModelSupplement
    var faults: [StrataError] = []

    init(_ model: ManagedObjectModel) {
        self.model = model
        supplement = ModelSupplement(model)
    }

    private mutating func fault(_ sentence: String, _ entityName: String?, _ key: String) {
        faults.append(StrataError(.invalidModel, sentence, context: .init(entityName: entityName, key: key)))
    }

    mutating func add(_ template: FetchRequestTemplate) {
        let (name, entityName) = (template.name, template.entityName)
        if model.entitiesByName[entityName] == nil {
            fault("The template \(name) asks for an unknown entity.", entityName, name)
        }
        if name.isEmpty { fault("A template has no name.", entityName, "") }
        if supplement.fetchRequestTemplates.contains(where: { $0.name == name }) {
            fault("There are two templates named \(name).", entityName, name)
        }
        supplement.fetchRequestTemplates.append(template)
    }

    mutating func add(_ property: FetchedPropertyDescription) {
        let (name, entityName) = (property.name, property.entityName)
        if model.entitiesByName[entityName] == nil || model.entitiesByName[property.request.entityName] == nil {
            fault("The fetched property \(name) has an unknown entity.", entityName, name)
        }
        let names = model.properties(ofEntityNamed: entityName).map(\.name)
        let isTaken = supplement.fetchedProperties.contains { $0.name == name && $0.entityName == entityName }
        if name.isEmpty || names.contains(name) || isTaken {
            fault("\(entityName) has two properties named \(name).", entityName, name)
        }
        supplement.fetchedProperties.append(property)
    }

    mutating func add(_ configuration: ModelConfiguration) {
        let name = configuration.name
        if name.isEmpty { fault("A configuration has no name.", nil, "") }
        if supplement.configurations.contains(where: { $0.name == name }) {
            fault("There are two configurations named \(name).", nil, name)
        }
        for entityName in configuration.entityNames where model.entitiesByName[entityName] == nil {
            fault("The configuration \(name) has an unknown entity, \(entityName).", entityName, name)
        }
        supplement.configurations.append(configuration)
    }
}
