import StrataModel

/// Pairs that a migration unlinked because an entity lost their relationship, which lived on for others, or because the
/// entity was removed and came back without it. A later migration gives them back with the relationship.
///
/// The log has them. Pairs that an earlier version of Strata has left linked are not among them.
struct DepartedLinks {
    private var members: [ObjectID: [PropertyID: [OldLinks.Target]]] = [:]

    /// - Parameters:
    ///   - hidden: by entity and number, relationships that the entity had in earlier models only.
    ///   - last: the newest transaction.
    init(
        _ hidden: [EntityID: [PropertyID: (last: RelationshipSchema, values: PastValues)]], _ log: LogReader,
        _ last: TransactionNumber
    ) throws {
        var departures: [ModelVersion: [PropertyID: [End]]] = [:]
        for (entity, relationships) in hidden {
            for (number, (relationship, values)) in relationships {
                guard case .pair(let canonical) = relationship.truth,
                    let version = log.histories.versions.first(where: { $0 > values.version })
                else { continue }
                let end = End(
                    entity: entity, number: number, canonical: canonical,
                    isSymmetric: relationship.inverse == number)
                departures[version, default: [:]][canonical, default: []].append(end)
            }
        }
        for (version, ends) in departures {
            guard let moments = try log.migration(to: version, last) else { continue }
            try log.events(from: moments.before.advanced(by: 1), through: moments.after) { event, _ in
                guard event.header.kind == .unlinked else { return true }
                let pair = try event.pair()
                for end in ends[pair.key.property] ?? [] { note(pair, end) }
                return true
            }
        }
    }

    /// One end of a relationship that an entity lost.
    private struct End {
        let entity: EntityID
        let number: PropertyID
        let canonical: PropertyID
        let isSymmetric: Bool
    }

    private mutating func note(_ pair: PairEvent, _ end: End) {
        let (source, target) = (pair.key.source, pair.key.target)
        if source.entityID == end.entity, end.isSymmetric || end.number == end.canonical {
            members[source, default: [:]][end.number, default: []].append(
                OldLinks.Target(id: target, position: pair.positions.inSource, back: pair.positions.inTarget))
        }
        if target.entityID == end.entity, end.isSymmetric && source != target || end.number != end.canonical {
            members[target, default: [:]][end.number, default: []].append(
                OldLinks.Target(id: source, position: pair.positions.inTarget, back: pair.positions.inSource))
        }
    }

    /// The members that an object had under a number when its entity lost the relationship.
    func members(of owner: ObjectID, _ number: PropertyID) -> [OldLinks.Target] { members[owner]?[number] ?? [] }
}
