/// Everything that determines the groups of a declared view.
///
/// `AssignmentExtender` compares it between two models: a view with the same meaning keeps its number and its groups.
/// Any other gets a new number and is rebuilt.
struct ViewMeaning: Hashable {
    private struct Part: Hashable {
        /// The to-ones on the path, then the property at its end.
        let properties: [PropertyID?]
        let composite: [String]
        let type: AttributeType?
        /// The entities of the objects behind the to-ones, as far as the other model has them too.
        let destinations: [Set<EntityID>]
    }

    /// Texts are part of it too, because a predicate names properties by text.
    private let description: ViewDescription
    /// The properties that the key paths of keys, aggregates and predicate mean, in this order.
    private let parts: [Part]
    private let entities: Set<EntityID>

    init(
        _ view: ViewDescription, model: ManagedObjectModel, assignment: ModelAssignment, knownEntities: Set<EntityID>
    ) {
        description = view
        let paths =
            view.keys.map(\.keyPath) + view.aggregates.compactMap(\.keyPath)
            + view.aggregates.compactMap(\.orderPath) + view.aggregates.flatMap { $0.projection?.inputs ?? [] }
            + (view.predicate?.keyPaths.sorted() ?? [])
        parts = paths.map { path in
            let end = model.hierarchy.behindToOnes(path, in: view.entityName)
            let part = model.hierarchy.keyPart(end.path, in: end.entityName)
            var properties: [PropertyID?] = []
            var destinations: [Set<EntityID>] = []
            var entityName = view.entityName
            for step in path.split(separator: ".") {
                guard let declaration = model.hierarchy.declaration(of: String(step), in: entityName) else { break }
                properties.append(assignment.id(of: declaration.key))
                guard let relationship = declaration.property.relationship else { break }
                entityName = relationship.destinationEntityName
                let covered =
                    [model.hierarchy.entity(named: entityName)].compactMap(\.self)
                    + model.hierarchy.subentities(of: entityName)
                destinations.append(
                    Set(covered.filter { !$0.isAbstract }.compactMap { assignment.entities[$0.name] })
                        .intersection(knownEntities))
            }
            return Part(
                properties: properties, composite: part?.elements.map(\.name) ?? [],
                type: model.hierarchy.valueType(of: path, in: view.entityName), destinations: destinations)
        }
        let below = view.includesSubentities ? model.hierarchy.subentities(of: view.entityName) : []
        let covered = [model.hierarchy.entity(named: view.entityName)].compactMap(\.self) + below
        entities = Set(covered.filter { !$0.isAbstract }.compactMap { assignment.entities[$0.name] })
    }
}
