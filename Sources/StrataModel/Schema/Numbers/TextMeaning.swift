/// Everything that determines the lists of words of a full text. One with the same meaning in the next model keeps them;
/// with another one they are made again.
struct TextMeaning: Hashable {
    private let properties: [PropertyID?]
    private let entities: Set<EntityID>

    init(_ entity: EntityDescription, model: ManagedObjectModel, assignment: ModelAssignment) {
        properties = entity.fullText.map { name in
            model.hierarchy.declaration(of: name, in: entity.name).flatMap { assignment.id(of: $0.key) }
        }
        let covered = [entity] + model.hierarchy.subentities(of: entity.name)
        entities = Set(covered.filter { !$0.isAbstract }.compactMap { assignment.entities[$0.name] })
    }
}
