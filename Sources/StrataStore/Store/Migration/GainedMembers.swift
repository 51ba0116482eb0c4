import StrataModel

/// The members that to-manys get again in a migration, because an entity returns or has its relationship again. Only those
/// are kept whose number the model bounds.
struct GainedMembers {
    private let schema: Schema
    private var members: [ObjectID: [PropertyID: Set<ObjectID>]] = [:]
    private var relationships: Set<PropertyID> = []

    init(_ schema: Schema) { self.schema = schema }

    var isNeeded: Bool { schema.links.all.contains(where: \.isBounded) }

    mutating func add(_ key: PairKey) {
        guard let link = schema.links.link(key.property), case .pairs(_, _, _, let inverse) = link.source
        else { return }
        for (owner, number, member) in [(key.source, link.id, key.target), (key.target, inverse, key.source)]
        where schema.links.link(number)?.isBounded ?? false {
            members[owner, default: [:]][number, default: []].insert(member)
            relationships.insert(number)
        }
    }

    /// Whether some owner gets members.
    func concern(_ relationship: PropertyID) -> Bool { relationships.contains(relationship) }

    func members(of relationship: PropertyID, owner: ObjectID) -> Set<ObjectID> { members[owner]?[relationship] ?? [] }
}
