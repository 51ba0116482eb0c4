import StrataModel

/// Links that migrations took away because an entity was removed, and that a later one gives back with the entity.
///
/// The log has them: the migration that removed the entity made to-ones nil and unlinked pairs.
struct RegainedLinks {
    /// A to-one that led to an object of the entity.
    struct ToOne {
        let target: ObjectID
        /// The event that made it nil.
        let event: EventNumber
        /// Its number then.
        let former: PropertyID
    }

    /// A pair with an object of the entity, under its number in the new model.
    struct Pair {
        let key: PairKey
        let positions: PairPositions
        /// The last model that had both of its ends.
        let last: ModelVersion
    }

    /// The relationship of an entity that returns, with the other ends that it lost in one migration.
    private struct End {
        let link: Link
        let departure: PairDeparture
        /// Whether the relationship left for good, so that its pairs were not unlinked.
        let isKept: Bool
        /// What has the links in the new model; nil if nothing does.
        let heir: Link?

        func holds(_ key: PairKey, of owner: ObjectID, _ other: ObjectID) -> Bool {
            departure.others.contains(other.entityID) && link.pairKey(owner: owner, member: other) == key
        }

        /// A pair as the new model has it; nil if it cannot.
        func pair(_ key: PairKey, _ positions: PairPositions, _ new: Schema) -> Pair? {
            let (source, target) = (key.source, key.target)
            guard let heir, let key = heir.pairKey(owner: source, member: target),
                new.links.links(ofOwners: source.entityID).contains(where: { $0.id == heir.id }),
                heir.memberEntityIDs.contains(target.entityID)
            else { return nil }
            let isSame = key.source == source
            let renumbered = PairPositions(
                inSource: isSame ? positions.inSource : positions.inTarget,
                inTarget: isSame ? positions.inTarget : positions.inSource)
            return Pair(key: key, positions: renumbered, last: departure.last)
        }
    }

    private let new: Schema
    /// By the entity that returns.
    private var ends: [EntityID: [End]] = [:]
    /// The to-ones among `toOnes`.
    private(set) var properties: Set<PropertyID> = []
    private var toOnes: [ObjectID: [PropertyID: ToOne]] = [:]
    /// By the object of the entity that returns, the source if both ends are.
    private var pairs: [ObjectID: [Pair]] = [:]

    /// - Parameters:
    ///   - returned: the last model that had each entity which the new one has again.
    ///   - last: the newest transaction.
    init(
        _ returned: [EntityID: Schema], from old: Schema, to new: Schema, _ log: LogReader, _ last: TransactionNumber
    ) throws {
        self.new = new
        let versions = log.histories.versions.filter { $0 <= old.version }
        func later(_ version: ModelVersion) throws -> [Schema] {
            try log.histories.schemas(versions.filter { $0 > version }) + [new]
        }
        /// The entities that each migration removed.
        var removed: [ModelVersion: Set<EntityID>] = [:]
        for (entity, schema) in returned {
            guard let version = versions.first(where: { $0 > schema.version }) else { continue }
            removed[version, default: []].insert(entity)
            let models = try log.histories.schemas(versions).filter { $0.entity(entity) != nil }
            for (link, canonical, last) in Self.pairLinks(of: entity, models) {
                for departure in try PairDeparture.all(of: entity, link.id, upTo: last, log.histories) {
                    let isKept = try log.histories.schema(departure.version)?.property(canonical) == nil
                    let number = try Schema.last(of: canonical, through: later(departure.version))
                    let end = End(
                        link: link, departure: departure, isKept: isKept, heir: number.flatMap(new.links.link))
                    ends[entity, default: []].append(end)
                    if !isKept, removed[departure.version] == nil { removed[departure.version] = [] }
                }
            }
        }
        for (version, entities) in removed {
            let later = try later(version)
            try log.departures(to: version, last) { event, eventNumber in
                switch event.header.kind {
                case .updated:
                    for change in try event.changes() {
                        guard case .value(.objectID(let target)) = change.before,
                            entities.contains(target.entityID),
                            case .value(.null) = change.after,
                            let number = Schema.last(of: change.property, through: later),
                            new.property(number)?.isSlotLink ?? false
                        else { continue }
                        properties.insert(number)
                        toOnes[event.header.object, default: [:]][number] = ToOne(
                            target: target, event: eventNumber, former: change.property)
                    }
                case .unlinked: note(try event.pair(), version)
                default: break
                }
            }
        }
    }

    /// The many-to-manys that objects of an entity had under some models and no other number took over, with the last of
    /// these models.
    private static func pairLinks(
        of entity: EntityID, _ models: [Schema]
    ) -> [(link: Link, canonical: PropertyID, last: ModelVersion)] {
        var found: [PropertyID: (link: Link, canonical: PropertyID, last: ModelVersion)] = [:]
        for schema in models {
            for link in schema.links.links(ofOwners: entity) {
                guard case .pairs(let canonical, _, _, _) = link.source else { continue }
                found[link.id] = (link, canonical, schema.version)
            }
        }
        return found.values.filter { link, canonical, last in
            let since = models.filter { $0.version >= last }
            return link.id.isHiddenInverse
                ? Schema.last(of: canonical, through: since) == canonical
                : Schema.last(of: link.id, in: entity, through: since) == link.id
        }
    }

    private mutating func note(_ pair: PairEvent, _ version: ModelVersion) {
        for (owner, other) in [(pair.key.source, pair.key.target), (pair.key.target, pair.key.source)] {
            let end = ends[owner.entityID]?.first { end in
                end.departure.version == version && end.holds(pair.key, of: owner, other)
            }
            guard let end else { continue }
            if let pair = end.pair(pair.key, pair.positions, new) { pairs[owner, default: []].append(pair) }
            return
        }
    }

    func toOne(_ property: PropertyID, of id: ObjectID) -> ToOne? { toOnes[id]?[property] }

    /// The pairs that an object of an entity which returns had.
    ///
    /// - Parameter former: for a past state. Its pairs are those that departed before it, and those of the state itself.
    func pairs(
        of id: ObjectID, _ snapshot: Snapshot, _ former: FormerStates?, _ cut: CutPairs?
    ) throws -> [Pair] {
        var found = try (pairs[id] ?? []).filter { try former?.snapshot($0.last) == nil }
        for end in ends[id.entityID] ?? [] where end.heir != nil {
            guard let state = try former?.snapshot(end.departure.last) ?? (end.isKept ? snapshot : nil) else {
                continue
            }
            let cutMembers = try cut?.members(of: end.link.id, owner: id)?.map(\.id)
            for member in try cutMembers ?? state.members(of: end.link.id, owner: id) {
                guard let key = end.link.pairKey(owner: id, member: member), end.holds(key, of: id, member),
                    let positions = try state.pair(key), let pair = end.pair(key, positions, new)
                else { continue }
                found.append(pair)
            }
        }
        return found
    }

    var allPairs: some Sequence<Pair> { pairs.values.joined() }

    /// Whether objects of an entity that returns may have pairs again.
    ///
    /// - Parameter isPast: whether for a past state, which may have pairs that were unlinked later.
    func mayHavePairs(of entity: EntityID, isPast: Bool) -> Bool {
        pairs.keys.contains { $0.entityID == entity }
            || ends[entity]?.contains { $0.heir != nil && (isPast || $0.isKept) } ?? false
    }
}

extension LogReader {
    /// The states just before and just after the migration to a model, and its last transaction. A truncation may have
    /// left the end of the migration only, or nothing; then the first state is that of the baseline.
    func migration(
        to version: ModelVersion, _ last: TransactionNumber
    ) throws -> (before: EventNumber, after: EventNumber, last: TransactionNumber) {
        let installation = try lastTransaction(upTo: last, where: { $0.modelVersion < version })
        var end: (event: EventNumber, number: TransactionNumber)
        let before: EventNumber
        if let installation {
            before = EventNumber(rawValue: installation.firstEvent.rawValue - 1)
            end = (installation.lastEvent, installation.number)
        } else {
            let baseline = try baseline() ?? .start
            before = baseline.event
            end = (baseline.event, baseline.transaction)
        }
        while end.number < last,
            let next = try transaction(TransactionNumber(rawValue: end.number.rawValue + 1)),
            MigrationRun.isStep(next, to: version)
        {
            end = (next.lastEvent, next.number)
        }
        return (before, end.event, end.number)
    }
}
