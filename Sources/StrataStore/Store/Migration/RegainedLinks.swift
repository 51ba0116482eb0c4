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
        var removals: [ModelVersion: Set<EntityID>] = [:]
        for (entity, schema) in returned {
            guard let version = versions.first(where: { $0 > schema.version }) else { continue }
            removals[version, default: []].insert(entity)
        }
        for (version, entities) in removals {
            let later = try log.histories.schemas(versions.filter { $0 > version }) + [new]
            guard let moments = try log.migration(to: version, last) else { continue }
            try log.events(from: moments.before.advanced(by: 1), through: moments.after) { event, eventNumber in
                switch event.header.kind {
                case .updated:
                    for change in try event.changes() {
                        guard case .value(.objectID(let target)) = change.before, entities.contains(target.entityID),
                            case .value(.null) = change.after,
                            let number = Schema.last(of: change.property, through: later),
                            new.property(number)?.isSlotLink ?? false
                        else { continue }
                        properties.insert(number)
                        toOnes[event.header.object, default: [:]][number] = ToOne(
                            target: target, event: eventNumber, former: change.property)
                    }
                case .unlinked: note(try event.pair(), eventNumber, entities, new, later)
                default: break
                }
                return true
            }
        }
    }

    private mutating func note(
        _ pair: PairEvent, _ eventNumber: EventNumber, _ entities: Set<EntityID>, _ new: Schema, _ later: [Schema]
    ) {
        let (source, target) = (pair.key.source, pair.key.target)
        guard let owner = [source, target].first(where: { entities.contains($0.entityID) }),
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
