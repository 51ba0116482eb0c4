/// Adds requests, fetched properties, configurations and views to a model one by one, and collects problems.
struct SupplementCheck {
    let model: ManagedObjectModel
    private(set) var supplement: ModelSupplement
    private(set) var problems: [StrataError] = []

    init(_ model: ManagedObjectModel) {
        self.model = model
        supplement = ModelSupplement(model)
    }

    private mutating func report(_ sentence: String, _ entityName: String?, _ key: String) {
        problems.append(StrataError(.invalidModel, sentence, context: .init(entityName: entityName, key: key)))
    }

    mutating func add(_ template: FetchRequestTemplate) {
        let (name, entityName) = (template.name, template.entityName)
        if model.entitiesByName[entityName] == nil {
            let ending = model.hierarchy.ending(forEntity: entityName)
            report("The template \(name) has an unknown entity, \(entityName)\(ending)", entityName, name)
        }
        if name.isEmpty { report("A template has no name.", entityName, "") }
        if supplement.fetchRequestTemplates.contains(where: { $0.name == name }) {
            report("There are two templates named \(name).", entityName, name)
        }
        supplement.fetchRequestTemplates.append(template)
    }

    mutating func add(_ property: FetchedPropertyDescription) {
        let (name, entityName) = (property.name, property.entityName)
        for unknown in [entityName, property.request.entityName] where model.entitiesByName[unknown] == nil {
            let ending = model.hierarchy.ending(forEntity: unknown)
            report("The fetched property \(name) has an unknown entity, \(unknown)\(ending)", entityName, name)
        }
        let names = model.properties(ofEntityNamed: entityName).map(\.name)
        let isTaken = supplement.fetchedProperties.contains { $0.name == name && $0.entityName == entityName }
        if name.isEmpty || names.contains(name) || isTaken {
            report("\(entityName) has two properties named \(name).", entityName, name)
        }
        supplement.fetchedProperties.append(property)
    }

    mutating func add(_ configuration: ModelConfiguration) {
        let name = configuration.name
        if name.isEmpty { report("A configuration has no name.", nil, "") }
        if supplement.configurations.contains(where: { $0.name == name }) {
            report("There are two configurations named \(name).", nil, name)
        }
        for entityName in configuration.entityNames where model.entitiesByName[entityName] == nil {
            let ending = model.hierarchy.ending(forEntity: entityName)
            report("The configuration \(name) has an unknown entity, \(entityName)\(ending)", entityName, name)
        }
        supplement.configurations.append(configuration)
    }

    /// Views are checked together with those that the model has.
    mutating func add(_ views: [ViewDescription]) {
        guard !views.isEmpty else { return }
        supplement.views += views
        var check = ModelCheck(model.entities)
        check.check(supplement.views)
        problems += check.sortedProblems
    }
}
