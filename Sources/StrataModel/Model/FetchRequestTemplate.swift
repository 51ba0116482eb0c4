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

    public init(_ name: String, of entityName: String, _ request: FetchRequestTemplate) {
        self.name = name
        self.entityName = entityName
        self.request = request
    }
}

extension ManagedObjectModel {
    /// The same model with requests that have names, and with fetched properties.
    ///
    /// - Throws: `invalidModel`, naming each that has no name, the name of another, or an unknown entity.
    public func adding(
        fetchRequestTemplates templates: [FetchRequestTemplate] = [],
        fetchedProperties: [FetchedPropertyDescription] = []
    ) throws(StrataError) -> ManagedObjectModel {
        var faults: [StrataError] = []
        func fault(_ sentence: String, _ entityName: String, _ key: String) {
            faults.append(
                StrataError(.invalidModel, sentence, context: .init(entityName: entityName, key: key)))
        }
        var byName = fetchRequestTemplates
        for template in templates {
            if entitiesByName[template.entityName] == nil {
                fault("The template \(template.name) asks for an unknown entity.", template.entityName, template.name)
            }
            if template.name.isEmpty { fault("A template has no name.", template.entityName, "") }
            if byName.updateValue(template, forKey: template.name) != nil {
                fault("There are two templates named \(template.name).", template.entityName, template.name)
            }
        }
        var properties = self.fetchedProperties
        for property in fetchedProperties {
            let names = self.properties(ofEntityNamed: property.entityName).map(\.name)
            if entitiesByName[property.entityName] == nil || entitiesByName[property.request.entityName] == nil {
                fault(
                    "The fetched property \(property.name) has an unknown entity.", property.entityName, property.name)
            }
            let isTaken = properties.contains { $0.name == property.name && $0.entityName == property.entityName }
            if property.name.isEmpty || names.contains(property.name) || isTaken {
                fault(
                    "\(property.entityName) has two properties named \(property.name).", property.entityName,
                    property.name)
            }
            properties.append(property)
        }
        guard faults.isEmpty else {
            throw StrataError(.invalidModel, "The model has faults in its requests.", details: faults)
        }
        return ManagedObjectModel(checked: entities, fetchRequestTemplates: byName, fetchedProperties: properties)
    }

    /// The fetched property that objects of an entity have under a name, its own or a parent's.
    package func fetchedProperty(_ name: String, ofEntityNamed entityName: String) -> FetchedPropertyDescription? {
        fetchedProperties.first { $0.name == name && hierarchy.isKind(entityName, of: $0.entityName) }
    }
}
