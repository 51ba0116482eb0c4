package import StrataModel

extension View {
    /// The objects that a request asks for, in its order; ties, and all objects of a request without an order, by id.
    ///
    /// - Throws: what `CompiledQuery` refuses; `corrupt`.
    package func fetch(_ request: StoreRequest) throws -> [ObjectID] {
        try fetch(CompiledQuery(request, schema))
    }

    /// How many objects `fetch` would find, limit and offset counted.
    package func count(_ request: StoreRequest) throws -> Int {
        try count(CompiledQuery(request, schema))
    }

    /// The same for a request that was compiled before.
    package func fetch(_ query: CompiledQuery) throws -> [ObjectID] {
        try QueryRun(query, try query.plan(for: .objects, self), self).fetch()
    }

    package func count(_ query: CompiledQuery) throws -> Int {
        try QueryRun(query, try query.plan(for: .count, self), self).count()
    }
}
