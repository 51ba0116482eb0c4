import Locking
package import StrataModel

/// A request bound to the entities of a schema, checked, and ready to run any number of times.
///
/// Make one when the request is made, so that what cannot run is refused there and not at the first fetch. How it is
/// run is chosen at the first run, and again when what is known of the store's sizes has changed; `plans` is guarded
/// by its mutex.
package final class CompiledQuery: Sendable {
    let schema: Schema
    let entity: EntitySchema
    /// The concrete entities whose objects may be found.
    let entities: EntitySet
    /// All of them hold for an object that is found.
    let conditions: [CompiledCondition]
    let order: [SortColumn]
    let offset: Int
    /// nil is no limit.
    let limit: Int?
    private let access: Access
    private let plans = Locked<[Use: (generation: UInt64, plan: QueryPlan)]>([:])

    /// - Throws: `unknownEntity`, `unknownKey` (with the nearest name), `wrongType`, `invalidRequest`.
    package init(
        _ request: StoreRequest, _ schema: Schema, access: Access = .planned
    ) throws(StrataError) {
        guard let entity = schema.entity(request.entityID) else {
            throw StrataError(.unknownEntity, "The model has no entity with the number \(request.entityID.rawValue).")
        }
        guard request.offset >= 0, request.limit >= 0 else {
            throw StrataError(
                .invalidRequest, "A limit or offset is negative.", context: .init(entityName: entity.name))
        }
        self.schema = schema
        self.entity = entity
        self.access = access
        entities = EntitySet(
            request.includesSubentities ? entity.concreteEntityIDs : entity.isAbstract ? [] : [entity.id], schema)
        conditions =
            try request.predicate.map { (predicate) throws(StrataError) in
                try PredicateCompiler(entity: entity, schema: schema).conjuncts(of: predicate)
            } ?? []
        var order: [SortColumn] = []
        for description in request.sort { order.append(try SortColumn(description, entity, schema)) }
        self.order = order
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

    /// How many rows in order are enough; nil for all.
    var needed: Int? { limit.map { $0 > Int.max - offset ? Int.max : $0 + offset } }

    /// Whether anything but a scan may be used.
    var isPlanned: Bool { access != .scanOnly }

    /// How the query is run over a view.
    ///
    /// - Parameter wantsEstimates: whether its estimates are looked at.
    func plan(for use: Use, _ view: View, wantsEstimates: Bool = false) throws -> QueryPlan {
        guard schema.version == view.schema.version else {
            throw StrataError(.modelChanged, "The request was made for another version of the model.")
        }
        let generation = view.statistics?.generation ?? 0
        if !wantsEstimates, let known = plans.withLock({ $0[use] }), known.generation == generation {
            return known.plan
        }
        let plan = try makePlan(for: use, view, wantsEstimates)
        // Planning may have drawn samples, of which it knows already.
        let now = view.statistics?.generation ?? 0
        plans.withLock { $0[use] = (now, plan) }
        return plan
    }

    private func makePlan(for use: Use, _ view: View, _ wantsEstimates: Bool) throws -> QueryPlan {
        let purpose = Planner.Purpose(
            order: use == .objects ? order : [], needed: use == .rows ? nil : needed, readsRows: use == .rows,
            wantsEstimates: wantsEstimates)
        switch access {
        case .planned, .avoidingScans, .disturbed:
            var planner = Planner(view, access)
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
