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
        /// The event that unlinked it.
        let event: EventNumber
    }

    /// What one migration took away.
    private struct Removal {
        /// The entities that it removed.
        var entities: Set<EntityID> = []
        /// The entities that return, each with the relationship and the other ends of the pairs that it ended.
        var ends: [(entity: EntityID, link: Link, others: Set<EntityID>)] = []

        /// The end of a pair that returns; nil if neither does.
        func owner(of key: PairKey) -> ObjectID? {
            [(key.source, key.target), (key.target, key.source)].first { owner, other in
                ends.contains { end in
                    end.entity == owner.entityID && end.others.contains(other.entityID)
                        && end.link.pairKey(owner: owner, member: other) == key
                }
            }?.0
        }
    }

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
        let versions = log.histories.versions.filter { $0 <= old.version }
        var removals: [ModelVersion: Removal] = [:]
        for (entity, schema) in returned {
            guard let version = versions.first(where: { $0 > schema.version }) else { continue }
            removals[version, default: Removal()].entities.insert(entity)
            for link in schema.links.links(ofOwners: entity) where link.isPairs {
                for (version, others) in try PairDepartures.ends(
                    of: entity, link.id, upTo: schema.version, log.histories)
                {
                    removals[version, default: Removal()].ends.append((entity, link, others))
                }
            }
        }
        for (version, removal) in removals {
            let later = try log.histories.schemas(versions.filter { $0 > version }) + [new]
            try log.departures(to: version, last) { event, eventNumber in
                switch event.header.kind {
                case .updated:
                    for change in try event.changes() {
                        guard case .value(.objectID(let target)) = change.before,
                            removal.entities.contains(target.entityID),
                            case .value(.null) = change.after,
                            let number = Schema.last(of: change.property, through: later),
                            new.property(number)?.isSlotLink ?? false
                        else { continue }
                        properties.insert(number)
                        toOnes[event.header.object, default: [:]][number] = ToOne(
                            target: target, event: eventNumber, former: change.property)
                    }
                case .unlinked: note(try event.pair(), eventNumber, removal, new, later)
                default: break
                }
            }
        }
    }

    private mutating func note(
        _ pair: PairEvent, _ eventNumber: EventNumber, _ removal: Removal, _ new: Schema, _ later: [Schema]
    ) {
        let (source, target) = (pair.key.source, pair.key.target)
        guard let owner = removal.owner(of: pair.key),
            let number = Schema.last(of: pair.key.property, through: later), let link = new.links.link(number),
            let key = link.pairKey(owner: source, member: target),
            new.links.links(ofOwners: source.entityID).contains(where: { $0.id == number }),
            link.memberEntityIDs.contains(target.entityID)
        else { return }
        let isSame = key.source == source
        let positions = PairPositions(
            inSource: isSame ? pair.positions.inSource : pair.positions.inTarget,
            inTarget: isSame ? pair.positions.inTarget : pair.positions.inSource)
        pairs[owner, default: []].append(Pair(key: key, positions: positions, event: eventNumber))
    }

    func toOne(_ property: PropertyID, of id: ObjectID) -> ToOne? { toOnes[id]?[property] }

    func pairs(of id: ObjectID) -> [Pair] { pairs[id] ?? [] }

    var allPairs: some Sequence<Pair> { pairs.values.joined() }

    /// Whether objects of an entity that returns have pairs again.
    func hasPairs(of entity: EntityID) -> Bool { pairs.keys.contains { $0.entityID == entity } }
}

extension LogReader {
    /// The states just before and just after the migration to a model; nil if its log is no longer kept.
    func migration(
        to version: ModelVersion, _ last: TransactionNumber
    ) throws -> (before: EventNumber, after: EventNumber)? {
        guard var record = try lastTransaction(upTo: last, where: { $0.modelVersion < version }) else { return nil }
        let before = EventNumber(rawValue: record.firstEvent.rawValue - 1)
        while record.number < last,
            let next = try transaction(TransactionNumber(rawValue: record.number.rawValue + 1)),
            MigrationRun.isStep(next, to: version)
        {
            record = next
        }
        return (before, record.lastEvent)
    }
}
