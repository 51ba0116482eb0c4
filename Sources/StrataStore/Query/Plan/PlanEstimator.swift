import StrataModel

/// Sizes that planning asks for: rows of entities, entries of an index in ranges, members of an owner.
struct PlanEstimator {
    let view: View
    private let cache: StatisticsCache?
    /// Usual parts where nothing is known.
    enum Guess {
        static let equal = 0.02
        static let halfOpen = 0.33
        static let closed = 0.1
        static let prefix = 0.05
        static let other = 0.3
    }

    init(_ view: View) {
        self.view = view
        cache = view.statistics
    }

    func rows(of entities: EntitySet) throws -> Double { Double(try view.roughCount(of: entities.schemas)) }

    /// The statistics of an index over entities that have `rows` rows now.
    func statistics(of index: IndexSchema) throws -> IndexStatistics? {
        guard let cache, let entity = view.schema.entity(index.entityID) else { return nil }
        let rows = try view.roughCount(of: entity.concreteEntityIDs.compactMap(view.schema.entity))
        return try cache.index(index, rows: rows, view)
    }

    /// Members of one owner on average, of a link that rows or pairs make.
    func members(of link: PropertyID, near: EntitySet, far: EntitySchema) throws -> Double {
        let owners = far.concreteEntityIDs.compactMap(view.schema.entity)
        if case .rows? = view.plan.source(of: link) {
            return try rows(of: near) / max(1, Double(try view.roughCount(of: owners)))
        }
        return try cache?.members(of: link, owners: owners, view) ?? 2
    }
}
