import Locking
package import StrataModel

/// A request bound to the entities of a schema, checked, and ready to run any number of times.
///
/// Make one when the request is made, so that what cannot run is refused there and not at the first fetch. How it is
/// run is chosen at the first run, and again when what is known of the store's sizes has changed; `plans` is guarded
/// by its mutex.
package final class CompiledQuery: Sendable {
    let prepared: QueryShape
    /// All of them hold for an object that is found.
    let conditions: [CompiledCondition]
    let offset: Int
    /// nil is no limit.
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
        /// Of the statistics it was made by.
        let generation: UInt64
        /// Rows of the entities when it was made.
        let rows: Int
    }

    /// - Throws: `unknownEntity`, `unknownKey` (with the nearest name), `wrongType`, `invalidRequest`.
    package convenience init(
        _ request: StoreRequest, _ schema: Schema, access: Access = .planned
    ) throws(StrataError) {
        try self.init(request, try QueryShape(request, schema, access: access))
    }

    /// Binds a request to what was prepared for its shape.
    ///
    /// - Throws: `wrongType`, `invalidRequest`.
    init(_ request: StoreRequest, _ prepared: QueryShape) throws(StrataError) {
        guard request.offset >= 0, request.limit >= 0 else {
            throw StrataError(
                .invalidRequest, "A limit or offset is negative.", context: .init(entityName: prepared.entity.name))
        }
        if let conditions = try prepared.conditions(of: request) {
            self.prepared = prepared
            self.conditions = conditions
        } else {
            // Constants that cannot stand there are refused with a reason by whoever compiles them.
            let own = try QueryShape(request, prepared.schema, access: prepared.access)
            guard let conditions = try own.conditions(of: request) else {
                throw StrataError(
                    .invalidRequest, "The predicate cannot be evaluated by the store.",
                    context: .init(entityName: own.entity.name, predicate: request.predicate?.description))
            }
            self.prepared = own
            self.conditions = conditions
        }
        offset = request.offset
        limit = request.limit == 0 ? nil : request.limit
    }

    /// Whether indexes may be used.
    package enum Access: Sendable, Hashable {
        case planned
        /// Reads every row of the entities, whatever the indexes: what every plan is tested against.
        case scanOnly
        /// Scans only where nothing else finds the objects, however few rows there are.
        case avoidingScans
        /// Plans as if the costs were others: any plan must give the same answer.
        case disturbed(UInt64)
    }

    /// What a run is to give.
    enum Use: Sendable, Hashable {
        /// Ids in order.
        case objects
        case count
        /// The rows themselves, in no order.
        case rows
    }

    /// Whether it can be run again, and through this model.
    package func isGood(for schema: Schema) -> Bool { prepared.schema === schema && !prepared.isVolatile }

    var schema: Schema { prepared.schema }
    var entity: EntitySchema { prepared.entity }
    /// The concrete entities whose objects may be found.
    var entities: EntitySet { prepared.entities }
    var order: [SortColumn] { prepared.order }

    /// How many rows in order are enough; nil for all.
    var needed: Int? { StoreRequest.needed(limit: limit, offset: offset) }

    /// Whether anything but a scan may be used.
    var isPlanned: Bool { prepared.access != .scanOnly }

    /// How the query is run over a snapshot.
    ///
    /// - Parameter wantsEstimates: whether its estimates are looked at.
    func plan(for use: Use, _ snapshot: Snapshot, wantsEstimates: Bool = false) throws -> QueryPlan {
        guard schema.version == snapshot.schema.version else {
            throw StrataError(.modelChanged, "The request was made for another version of the model.")
        }
        if !wantsEstimates, let known = plans.withLock({ $0[use] }), try isFresh(known, snapshot) { return known.plan }
        let plan = try makePlan(for: use, snapshot, wantsEstimates)
        let rows = plan.isSettled ? 0 : try snapshot.roughCount(of: entities.schemas)
        // Planning may have drawn samples, of which it knows already.
        let now = snapshot.statistics?.generation ?? 0
        plans.withLock { $0[use] = KnownPlan(plan: plan, generation: now, rows: rows) }
        return plan
    }

    /// Whether a plan is still worth following: nothing new was sampled, and the entity has neither doubled nor halved.
    private func isFresh(_ known: KnownPlan, _ snapshot: Snapshot) throws -> Bool {
        if known.plan.isSettled { return true }
        guard known.generation == snapshot.statistics?.generation ?? 0 else { return false }
        let rows = try snapshot.roughCount(of: entities.schemas)
        return rows <= known.rows * 2 && rows >= known.rows / 2
    }

    private func makePlan(for use: Use, _ snapshot: Snapshot, _ wantsEstimates: Bool) throws -> QueryPlan {
        let purpose = Planner.Purpose(
            order: use == .objects ? order : [], needed: use == .rows ? nil : needed, readsRows: use == .rows,
            wantsEstimates: wantsEstimates)
        switch prepared.access {
        case .planned, .avoidingScans, .disturbed:
            var planner = Planner(snapshot, prepared.access)
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
