package import StrataModel

// Runs requests on a snapshot.

extension Snapshot {
    /// The results of a request in its order. Objects that are equal in the order, or have none, are sorted by id.
    ///
    /// - Throws: what `CompiledQuery` refuses; `corrupt`.
    package func fetch(_ request: StoreRequest) throws -> [ObjectID] {
        try metered(schema.entity(request.entityID), request.predicate) { try run(request, for: .objects).fetch() }
    }

    /// The number of results of a request, within limit and offset.
    package func count(_ request: StoreRequest) throws -> Int {
        try metered(schema.entity(request.entityID), request.predicate) { try run(request, for: .count).count() }
    }

    /// The results of a compiled query.
    package func fetch(_ query: CompiledQuery) throws -> [ObjectID] {
        try metered(query) { try QueryRun(query, noted(try query.plan(for: .objects, self)), self).fetch() }
    }

    package func count(_ query: CompiledQuery) throws -> Int {
        try metered(query) { try QueryRun(query, noted(try query.plan(for: .count, self)), self).count() }
    }

    private func metered<R>(_ query: CompiledQuery, _ body: () throws -> R) throws -> R {
        try metered(query.entity, query.conditions.count == 1 ? query.conditions[0].predicate : nil, body)
    }

    /// The run of a request, planned by its shape if possible.
    private func run(_ request: StoreRequest, for use: CompiledQuery.Use) throws -> QueryRun {
        let shape = try shapes?.shape(of: request, schema) ?? QueryShape(request, schema)
        if request.limit >= 0, request.offset >= 0,
            let plan = try shape.settledPlan(request, for: use, self)
        {
            return QueryRun(request, shape.order, noted(plan), self)
        }
        let query = try CompiledQuery(request, shape)
        let plan = try query.plan(for: use, self)
        try shape.keep(plan, for: use)
        return QueryRun(query, noted(plan), self)
    }

    /// Reports the plan that is to run to the monitor.
    @inline(__always)
    private func noted(_ plan: QueryPlan) -> QueryPlan {
        monitor?.note(plan)
        return plan
    }
}
