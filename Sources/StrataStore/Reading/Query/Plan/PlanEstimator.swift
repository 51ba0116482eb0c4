import StrataModel

/// Estimates sizes for planning: rows of entities, entries of an index in ranges, members of an owner.
///
/// Belongs to one planning, on one thread.
final class PlanEstimator {
    let snapshot: Snapshot
    private let cache: StatisticsCache?
    /// The assumed parts of rows without statistics.
    enum Guess {
        static let equal = 0.02
        static let halfOpen = 0.33
        static let closed = 0.1
        static let prefix = 0.05
        static let other = 0.3
    }

    init(_ snapshot: Snapshot) {
        self.snapshot = snapshot
        cache = snapshot.statistics
    }

    func rows(of entities: EntitySet) throws -> Double {
        var total = 0
        for entity in entities.schemas { total += try count(of: entity.id) }
        return Double(total)
    }

    private func rows(of entities: [EntityID]) throws -> Int {
        var total = 0
        for entity in entities { total += try count(of: entity) }
        return total
    }

    /// Reads the counter in the base tables.
    private func count(of entity: EntityID) throws -> Int {
        try cache?.count(of: entity, snapshot) ?? snapshot.counter(.entity(entity))
    }

    /// The statistics of an index over entities with `rows` rows.
    func statistics(of index: IndexSchema) throws -> IndexStatistics? {
        guard let cache, let entity = snapshot.schema.entity(index.entityID) else { return nil }
        return try cache.index(index, rows: try rows(of: entity.concreteEntityIDs), snapshot)
    }

    /// The average number of members of one owner.
    func members(of link: PropertyID, near: EntitySet, far: EntitySchema) throws -> Double {
        if case .rows? = snapshot.schema.links.link(link)?.source {
            return try rows(of: near) / max(1, Double(try rows(of: far.concreteEntityIDs)))
        }
        let owners = far.concreteEntityIDs.compactMap(snapshot.schema.entity)
        return try cache?.members(of: link, owners: owners, snapshot) ?? 2
    }
}
