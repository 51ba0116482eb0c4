/// The entities of a store, checked: every name resolves and every inverse agrees.
public final class ManagedObjectModel: Sendable {
    /// As given, with inverses filled in on both sides.
    public let entities: [EntityDescription]
    public let entitiesByName: [String: EntityDescription]

    package init(checked entities: [EntityDescription]) {
        self.entities = entities
        entitiesByName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
