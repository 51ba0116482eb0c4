import StrataModel
import StrataStore

extension StoreFixture {
    /// Links two objects through a many-to-many of the first one's entity; `place` counts where a side is ordered.
    func link(_ object: ObjectID, _ relationship: String, _ other: ObjectID, place: Int64 = 0) throws {
        try pair(object, relationship, other, .link(PairPositions(inSource: place, inTarget: place)))
    }

    func unlink(_ object: ObjectID, _ relationship: String, _ other: ObjectID) throws {
        try pair(object, relationship, other, .unlink)
    }

    /// Gives a pair another place where a side is ordered.
    func move(_ object: ObjectID, _ relationship: String, _ other: ObjectID, place: Int64) throws {
        try pair(object, relationship, other, .move(PairPositions(inSource: place, inTarget: place)))
    }

    func link(
        _ object: ObjectID, _ relationship: String, _ other: ObjectID, place: Int64, in changes: inout ChangeSet
    ) throws {
        try pair(
            object, relationship, other, .link(PairPositions(inSource: place, inTarget: place)), in: &changes)
    }

    private func pair(
        _ object: ObjectID, _ relationship: String, _ other: ObjectID, _ kind: ChangeSet.PairChange.Kind
    ) throws {
        var changes = try changes()
        try pair(object, relationship, other, kind, in: &changes)
        try save(changes)
    }

    private func pair(
        _ object: ObjectID, _ relationship: String, _ other: ObjectID, _ kind: ChangeSet.PairChange.Kind,
        in changes: inout ChangeSet
    ) throws {
        let property = try property(try name(of: object), relationship)
        guard let key = schema.links.link(property.id)?.pairKey(owner: object, member: other) else {
            throw StrataError(.unknownKey, relationship)
        }
        changes.pairs.append(.init(key: key, kind: kind))
    }
}
