import Locking
package import StrataModel

/// A request without its constants, limit and offset: entity, order and conditions, checked and compiled for a schema.
///
/// All requests that differ in nothing else share one shape. A `CompiledQuery` is a shape bound to the constants of one
/// request, and a `QueryPlan` says how that is run.
package final class QueryShape: Sendable {
    let schema: Schema
    let entity: EntitySchema
    /// The concrete entities whose objects can be results.
    let entities: EntitySet
    let order: [SortColumn]
    /// The order by the ranks of text queries; nil for another order.
    let relevance: SortDescription?
    let access: CompiledQuery.Access
    /// Whether a part that is computed when compiling depends on the time, so that the shape serves one run only.
    package let isVolatile: Bool
    private let template: PredicateTemplate?
    private let includesSubentities: Bool
    private let sort: [SortDescription]
    /// The single index that answers requests of this shape, if there is one, for each use. It does not depend on the
    /// sizes of entities, so it is valid as long as the schema.
    private let settling = Locked(SettlingIndexes())

    private struct SettlingIndexes {
        var objects: IndexMap.PreparedIndex?
        var count: IndexMap.PreparedIndex?
        var point: IndexPoint?
        var farEnd: FarEnd?
    }

    /// An index over the far end of the only comparison, and the way back from there.
    private struct FarEnd {
        let index: IndexMap.PreparedIndex
        let entities: EntitySet
        let way: LinkAccess.Way
        let name: String
    }

    /// - Throws: `unknownEntity`, `unknownKey` (with the nearest name), `wrongType`, `invalidRequest`.
    init(_ request: StoreRequest, _ schema: Schema, access: CompiledQuery.Access = .planned) throws(StrataError) {
        guard let entity = schema.entity(request.entityID) else {
            throw StrataError(.unknownEntity, "The request is for an entity that the model does not have.")
        }
        self.schema = schema
        self.entity = entity
        self.access = access
        entities = EntitySet(
            request.includesSubentities ? entity.concreteEntityIDs : entity.isAbstract ? [] : [entity.id], schema)
        template =
            try request.predicate.map { (predicate) throws(StrataError) in
                try PredicateCompiler(entity: entity, schema: schema).template(of: predicate)
            }
        var order: [SortColumn] = []
        relevance = try Self.relevance(request.sort, entity)
        for description in request.sort where relevance == nil {
            order.append(try SortColumn(description, entity, schema))
        }
        self.order = order
        var isVolatile = false
        request.predicate?.forEachExpression { if case .function(.now, _) = $0 { isVolatile = true } }
        self.isVolatile = isVolatile
        includesSubentities = request.includesSubentities
        sort = request.sort
    }

    private static func relevance(
        _ sort: [SortDescription], _ entity: EntitySchema
    ) throws(StrataError) -> SortDescription? {
        guard let found = sort.first(where: \.isRelevance) else { return nil }
        if sort.count == 1 { return found }
        throw StrataError(
            .invalidRequest, "An order by relevance has no other key, because hardly two texts are equally relevant.",
            context: .init(entityName: entity.name, key: found.keyPath))
    }

    /// Whether a request through this schema is of the same shape.
    func fits(_ request: StoreRequest, _ schema: Schema) -> Bool {
        guard self.schema === schema, entity.id == request.entityID,
            includesSubentities == request.includesSubentities, sort == request.sort
        else { return false }
        switch (template, request.predicate) {
        case (nil, nil): return true
        case (let template?, let predicate?): return template.fits(predicate)
        default: return false
        }
    }

    /// Whether the constants of a request of this shape are known to be valid.
    func accepts(_ request: StoreRequest) -> Bool {
        guard let template, let predicate = request.predicate else { return true }
        return template.accepts(predicate)
    }

    /// The conditions of a request of this shape; nil if it has constants that must be refused.
    func conditions(of request: StoreRequest) throws(StrataError) -> [CompiledCondition]? {
        guard let template, let predicate = request.predicate else { return [] }
        var conditions: [CompiledCondition] = []
        return try template.bind(predicate, into: &conditions) ? conditions : nil
    }

    // MARK: Settled by one index

    /// The plan of a request of this shape that one range of one index answers, as it did the last time; nil if there
    /// is none. The index is one of the entity, or of the entity at the far end of the only comparison.
    func settledPlan(_ request: StoreRequest, for use: CompiledQuery.Use, _ snapshot: Snapshot) throws -> QueryPlan? {
        let (index, farEnd, point) = settling.withLock {
            (use == .count ? $0.count : $0.objects, $0.farEnd, $0.point)
        }
        guard let template, let predicate = request.predicate else { return nil }
        if let point, use == .count || order.isEmpty, let key = template.key(predicate),
            let plan = point.plan(key, entities)
        {
            return plan
        }
        if let index {
            var columns: [ColumnCondition?] = []
            guard template.appendColumns(predicate, to: &columns) else { return nil }
            return Planner.coveringPlan(index, columns, entities, order: use == .objects ? order : [])
        }
        // With an order an index may be better, and with a limit a scan that ends early.
        guard let farEnd, request.needed == nil, use == .count || order.isEmpty else { return nil }
        return try linkedPlan(predicate, template, farEnd, snapshot)
    }

    /// Looks up a constant in the index that answered an earlier request of this shape by one key.
    package func lookUp(_ constant: AttributeValue, in snapshot: Snapshot) throws -> IndexLookup {
        guard let point = settling.withLock(\.point), let key = template?.key(constant) else { return .undecided }
        return try point.lookUp(key, entities, in: snapshot)
    }

    /// The plan for objects that lead to those in one range of an index; nil if there are many.
    private func linkedPlan(
        _ predicate: FetchPredicate, _ template: PredicateTemplate, _ farEnd: FarEnd, _ snapshot: Snapshot
    ) throws -> QueryPlan? {
        guard let column = template.farColumn(predicate),
            let found = Planner.coveringPlan(farEnd.index, [column], farEnd.entities, order: []),
            case .index(let access) = found.root.kind
        else { return nil }
        let runner = StepRunner(snapshot: snapshot, evaluation: Evaluation(snapshot), trace: nil)
        guard let ids = try runner.fewIDs(of: access, farEnd.entities) else { return nil }
        let owners = PlanStep(.objects(ids), farEnd.entities, rows: Double(ids.count), cost: 0)
        let links = LinkAccess(owners: owners, way: farEnd.way, name: farEnd.name)
        return QueryPlan(root: PlanStep(.links(links), entities, rows: 0, cost: 0), order: .byID, cost: 0)
    }

    /// Remembers the index of a plan that follows from the shape alone.
    func keep(_ plan: QueryPlan, for use: CompiledQuery.Use) throws(StrataError) {
        guard use != .rows else { return }
        switch plan.root.kind {
        case .index(let access) where plan.isSettled:
            let index = try IndexMap.of(schema).index(access.index.id)
            let point = template?.point(access, index)
            settling.withLock { settling in
                if use == .count { settling.count = index } else { settling.objects = index }
                settling.point = point
            }
        case .links(let links):
            guard case .index(let access) = links.owners.kind, access.index.partialPredicate == nil,
                let far = template?.farEntity
            else { return }
            let farEnd = FarEnd(
                index: try IndexMap.of(schema).index(access.index.id),
                entities: EntitySet(far.concreteEntityIDs, schema), way: links.way, name: links.name)
            settling.withLock { $0.farEnd = farEnd }
        default: return
        }
    }
}
