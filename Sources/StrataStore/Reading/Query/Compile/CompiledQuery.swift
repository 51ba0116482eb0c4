import Locking
package import StrataModel

/// A request that is checked and ready to run any number of times: a `QueryShape` bound to the request's constants.
///
/// The first run makes a plan. A later run makes another if a sample was drawn since then, or the entity has doubled or
/// halved. The mutex guards `plans`.
package final class CompiledQuery: Sendable {
    let shape: QueryShape
    /// The conditions that every result meets.
    let conditions: [CompiledCondition]
    let offset: Int
    /// nil for no limit.
    let limit: Int?
    private let plans = Locked(Plans())

    private struct Plans {
        var objects: KnownPlan?
        var count: KnownPlan?
        var rows: KnownPlan?

        subscript(_ use: Use) -> KnownPlan? {
            get {
                switch use {
                case .objects: objects
                case .count: count
                case .rows: rows
                }
            }
            set {
                switch use {
                case .objects: objects = newValue
                case .count: count = newValue
                case .rows: rows = newValue
                }
            }
        }
    }

    private struct KnownPlan {
        let plan: QueryPlan
        /// The generation of the statistics that it was made with.
        let generation: UInt64
        /// The number of rows of the entities when it was made.
        let rows: Int
    }

    /// - Throws: `unknownEntity`, `unknownKey` (with the nearest name), `wrongType`, `invalidRequest`.
    package convenience init(
        _ request: StoreRequest, _ schema: Schema, access: Access = .planned
    ) throws(StrataError) {
        try self.init(request, try QueryShape(request, schema, access: access))
    }

    /// Binds a request to its shape.
    ///
    /// - Throws: `wrongType`, `invalidRequest`.
    init(_ request: StoreRequest, _ shape: QueryShape) throws(StrataError) {
        guard request.offset >= 0, request.limit >= 0 else {
            throw StrataError(
                .invalidRequest, "A limit or offset is negative.", context: .init(entityName: shape.entity.name))
        }
        if let conditions = try shape.conditions(of: request) {
            self.shape = shape
            self.conditions = conditions
        } else {
            // Compiling the request by itself gives the reason why a constant is refused.
            let own = try QueryShape(request, shape.schema, access: shape.access)
            guard let conditions = try own.conditions(of: request) else {
                throw StrataError(
                    .invalidRequest, "The predicate cannot be evaluated by the store.",
                    context: .init(entityName: own.entity.name, predicate: request.predicate?.description))
            }
            self.shape = own
            self.conditions = conditions
        }
        if shape.relevance != nil, !conditions.contains(where: { $0.row is TextCondition }) {
            throw StrataError(
                .invalidRequest, "An order by relevance needs a condition on text that every result meets.",
                context: .init(entityName: shape.entity.name))
        }
        offset = request.offset
        limit = request.limit == 0 ? nil : request.limit
    }

    /// Whether indexes may be used.
    package enum Access: Sendable, Hashable {
        case planned
        /// Reads every row of the entities. Tests compare all other plans with it.
        case scanOnly
        /// Scans only if nothing else finds the objects, however few rows there are.
        case avoidingScans
        /// Plans with wrong costs, for tests: every plan must give the same results.
        case disturbed(UInt64)
    }

    /// The result that a run returns.
    enum Use: Sendable, Hashable {
        /// The ids in order.
        case objects
        case count
        /// The rows themselves, in no order.
        case rows
    }

    /// Whether the query fits the model and can be run more than once.
    package func isGood(for schema: Schema) -> Bool { shape.schema === schema && !shape.isVolatile }

    var schema: Schema { shape.schema }
    var entity: EntitySchema { shape.entity }
    /// The concrete entities whose objects can be results.
    var entities: EntitySet { shape.entities }
    var order: [SortColumn] { shape.order }
    /// The text queries that every result meets.
    var texts: [TextCondition] { conditions.compactMap { $0.row as? TextCondition } }

    /// The number of rows that are needed; nil for all.
    var needed: Int? { StoreRequest.needed(limit: limit, offset: offset) }

    /// Whether plans other than a scan are allowed.
    var isPlanned: Bool { shape.access != .scanOnly }

    /// The plan by which the query is run on a snapshot.
    ///
    /// - Parameter wantsEstimates: whether the caller uses the plan's estimates.
    func plan(for use: Use, _ snapshot: Snapshot, wantsEstimates: Bool = false) throws -> QueryPlan {
        guard schema.version == snapshot.schema.version else {
            throw StrataError(.modelChanged, "The request was made for another version of the model.")
        }
        if !wantsEstimates, let known = plans.withLock({ $0[use] }), try isFresh(known, snapshot) { return known.plan }
        let plan = try makePlan(for: use, snapshot, wantsEstimates)
        let rows = plan.isSettled ? 0 : try snapshot.roughCount(of: entities.schemas)
        // Planning may have drawn samples, which the plan takes into account.
        let now = snapshot.statistics?.generation ?? 0
        plans.withLock { $0[use] = KnownPlan(plan: plan, generation: now, rows: rows) }
        return plan
    }

    /// Whether a plan is up to date: no sample was drawn since, and the entity has neither doubled nor halved.
    private func isFresh(_ known: KnownPlan, _ snapshot: Snapshot) throws -> Bool {
        if known.plan.isSettled { return true }
        guard known.generation == snapshot.statistics?.generation ?? 0 else { return false }
        let rows = try snapshot.roughCount(of: entities.schemas)
        return rows <= known.rows * 2 && rows >= known.rows / 2
    }

    private func makePlan(for use: Use, _ snapshot: Snapshot, _ wantsEstimates: Bool) throws -> QueryPlan {
        let isRanked = use == .objects && shape.relevance != nil
        let purpose = Planner.Purpose(
            order: use == .objects ? order : [], needed: use == .rows || isRanked ? nil : needed,
            readsRows: use == .rows, wantsEstimates: wantsEstimates)
        let plan = try makePlan(for: purpose, snapshot)
        return isRanked ? QueryPlan(root: plan.root, order: .relevance, cost: plan.cost) : plan
    }

    private func makePlan(for purpose: Planner.Purpose, _ snapshot: Snapshot) throws -> QueryPlan {
        switch shape.access {
        case .planned, .avoidingScans, .disturbed:
            var planner = Planner(snapshot, shape.access)
            return try planner.plan(conditions, of: entity, entities, for: purpose)
        case .scanOnly:
            let scan = PlanStep(.scan, entities, rows: 0, cost: 0)
            let isBare = conditions.isEmpty && purpose.order.isEmpty && !purpose.readsRows
            let root =
                isBare
                ? scan : PlanStep(.filter(scan, RowFilter(conditions, of: conditions)), entities, rows: 0, cost: 0)
            return QueryPlan(root: root, order: purpose.order.isEmpty ? .byID : .sort, cost: 0)
        }
    }
}
