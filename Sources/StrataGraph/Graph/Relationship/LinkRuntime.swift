import StrataModel

/// A number under which objects have members: a to-many relationship, or the hidden way back of one without inverse.
final class LinkRuntime: Sendable {
    enum Source: Sendable {
        /// The members' rows point at the owner with this to-one.
        case rows(toOne: PropertyID)
        /// Pairs under the canonical number. `isForward` when the owner is the pair's source; `isSymmetric` when the
        /// relationship is its own inverse and the owner may be either end. `inverse` is the other end's number.
        case pairs(canonical: PropertyID, isForward: Bool, isSymmetric: Bool, inverse: PropertyID)
    }

    let id: PropertyID
    let name: String
    let source: Source
    let isOrdered: Bool
    /// Of the owner; subentities too.
    let ownerEntity: EntityID
    /// Of the members; subentities too.
    let memberEntity: EntityID
    let deleteRule: DeleteRule
    /// nil for a hidden one.
    let description: RelationshipDescription?
    /// Whether a save must count the members.
    let isBounded: Bool

    private init(
        id: PropertyID, name: String, source: Source, ownerEntity: EntityID, memberEntity: EntityID,
        _ description: RelationshipDescription?
    ) {
        self.id = id
        self.name = name
        self.source = source
        self.ownerEntity = ownerEntity
        self.memberEntity = memberEntity
        isOrdered = description?.isOrdered ?? false
        deleteRule = description?.deleteRule ?? .nullify
        self.description = description
        isBounded = description.map { $0.minCount > 0 || $0.maxCount > 0 } ?? false
    }

    var isPairs: Bool { if case .pairs = source { true } else { false } }

    /// The pair that links `owner` and `member`; nil when the link's truth is a row.
    func pairKey(owner: ObjectID, member: ObjectID) -> PairKey? {
        guard case .pairs(let canonical, let isForward, let isSymmetric, _) = source else { return nil }
        if isSymmetric {
            return PairKey(property: canonical, source: min(owner, member), target: max(owner, member))
        }
        return isForward
            ? PairKey(property: canonical, source: owner, target: member)
            : PairKey(property: canonical, source: member, target: owner)
    }

    /// Whether the owner's end of a pair is its source: of an object that is its own member both ends are the owner.
    func isSource(_ owner: ObjectID, of key: PairKey) -> Bool {
        guard case .pairs(_, let isForward, let isSymmetric, _) = source else { return false }
        return isSymmetric ? key.source == owner : isForward
    }

    static func all(in schema: Schema) -> [PropertyID: LinkRuntime] {
        var links: [PropertyID: LinkRuntime] = [:]
        for entity in schema.entities {
            for property in entity.properties where links[property.id] == nil {
                guard let relationship = property.relationship, !relationship.description.isTransient else { continue }
                add(property, relationship, of: entity, to: &links)
            }
        }
        return links
    }

    private static func add(
        _ property: PropertySchema, _ relationship: RelationshipSchema, of entity: EntitySchema,
        to links: inout [PropertyID: LinkRuntime]
    ) {
        let hidden = property.id.hiddenInverse
        switch relationship.truth {
        case .slot:
            // A subentity declares nothing of its own here: the first entity in the model's order is the declaring one.
            guard relationship.inverse == nil, links[hidden] == nil else { return }
            links[hidden] = LinkRuntime(
                id: hidden, name: property.name, source: .rows(toOne: property.id),
                ownerEntity: relationship.destination, memberEntity: entity.id, nil)
        case .inverseSlot:
            guard let toOne = relationship.inverse else { return }
            links[property.id] = LinkRuntime(
                id: property.id, name: property.name, source: .rows(toOne: toOne), ownerEntity: entity.id,
                memberEntity: relationship.destination, relationship.description)
        case .pair(let canonical):
            let isSymmetric = relationship.inverse == property.id
            links[property.id] = LinkRuntime(
                id: property.id, name: property.name,
                source: .pairs(
                    canonical: canonical, isForward: canonical == property.id, isSymmetric: isSymmetric,
                    inverse: relationship.inverse ?? hidden),
                ownerEntity: entity.id, memberEntity: relationship.destination, relationship.description)
            guard relationship.inverse == nil else { return }
            links[hidden] = LinkRuntime(
                id: hidden, name: property.name,
                source: .pairs(canonical: canonical, isForward: false, isSymmetric: false, inverse: property.id),
                ownerEntity: relationship.destination, memberEntity: entity.id, nil)
        }
    }
}
