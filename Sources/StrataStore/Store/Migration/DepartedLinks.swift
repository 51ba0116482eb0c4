import StrataModel

/// Pairs that a migration unlinked because an entity lost their relationship, which lived on for others, or because the
/// entity was removed and came back without it. A later migration gives them back with the relationship.
///
/// The log has them. Those that an earlier version of Strata left linked are among them once an opening has unlinked them.
struct DepartedLinks {
    private var members: [ObjectID: [PropertyID: [OldLinks.Target]]] = [:]
    private var departures: [EntityID: [PropertyID: [PairDeparture]]] = [:]

    /// - Parameters:
    ///   - former: by entity and number, relationships that the entity had in earlier models only.
    ///   - last: the newest transaction.
    init(
        _ former: [EntityID: [PropertyID: (last: RelationshipSchema, values: PastValues)]], _ log: LogReader,
        _ last: TransactionNumber
    ) throws {
        var ends: [ModelVersion: [PropertyID: [End]]] = [:]
        for (entity, relationships) in former {
            for (number, (relationship, values)) in relationships {
                guard case .pair(let canonical) = relationship.truth else { continue }
                let found = try PairDeparture.all(of: entity, number, upTo: values.version, log.histories)
                departures[entity, default: [:]][number] = found
                for departure in found {
                    // A relationship that left for good kept its pairs.
                    guard try log.histories.schema(departure.version)?.property(canonical) != nil else { continue }
                    let end = End(
                        entity: entity, number: number, canonical: canonical,
                        isSymmetric: relationship.inverse == number, others: departure.others)
                    ends[departure.version, default: [:]][canonical, default: []].append(end)
                }
            }
        }
        for (version, ends) in ends {
            try log.departures(to: version, last) { event, _ in
                guard event.header.kind == .unlinked else { return }
                let pair = try event.pair()
                for end in ends[pair.key.property] ?? [] { note(pair, end) }
            }
        }
    }

    /// One end of a relationship that an entity lost.
    private struct End {
        let entity: EntityID
        let number: PropertyID
        let canonical: PropertyID
        let isSymmetric: Bool
        /// The entities at the other end.
        let others: Set<EntityID>
    }

    private mutating func note(_ pair: PairEvent, _ end: End) {
        let (source, target) = (pair.key.source, pair.key.target)
        if source.entityID == end.entity, end.others.contains(target.entityID),
            end.isSymmetric || end.number == end.canonical
        {
            members[source, default: [:]][end.number, default: []].append(
                OldLinks.Target(id: target, position: pair.positions.inSource, back: pair.positions.inTarget))
        }
        if target.entityID == end.entity, end.others.contains(source.entityID),
            end.isSymmetric && source != target || end.number != end.canonical
        {
            members[target, default: [:]][end.number, default: []].append(
                OldLinks.Target(id: source, position: pair.positions.inTarget, back: pair.positions.inSource))
        }
    }

    /// Calls `body` with each object of an entity and each member that it had under a number.
    func forEachMember(of entity: EntityID, _ number: PropertyID, _ body: (ObjectID, ObjectID) -> Void) {
        for (owner, members) in members where owner.entityID == entity {
            for member in members[number] ?? [] { body(owner, member.id) }
        }
    }

    /// The departures of the pairs that objects of an entity had under a number, the newest first.
    func departures(of entity: EntityID, _ number: PropertyID) -> [PairDeparture] {
        departures[entity]?[number] ?? []
    }

    /// The members that an object lost under a number in a departure.
    func members(of owner: ObjectID, _ number: PropertyID, in departure: PairDeparture) -> [OldLinks.Target] {
        (members[owner]?[number] ?? []).filter { departure.others.contains($0.id.entityID) }
    }
}
