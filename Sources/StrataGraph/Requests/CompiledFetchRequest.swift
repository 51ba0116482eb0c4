import StrataModel
import StrataStore

/// A request that was bound to a model once, to be run as often as wanted: neither compiled nor planned again as long
/// as the model stays and the store keeps its proportions.
///
/// ```swift
/// let best = try context.prepared(FetchRequest<Movie>().where { $0.rating > 4 })
/// for try await _ in changes { show(try context.fetch(best)) }
/// ```
///
/// Any context of the container may run it. Requests that differ only in constants need no preparing: what they have in
/// common is kept by the store.
public struct PreparedFetchRequest<Result: ManagedObject>: Sendable {
    public let request: FetchRequest<Result>
    let query: CompiledQuery

    /// The query for a context that reads through this model.
    func query(for context: ManagedObjectContext) throws -> CompiledQuery {
        if query.isGood(for: context.binding.schema) { return query }
        let (storeRequest, _) = try context.prepare(request)
        return try CompiledQuery(storeRequest, context.binding.schema)
    }
}

extension ManagedObjectContext {
    /// Binds a request to the model, for `fetch(_:)` and `count(for:)` to run it without doing so again.
    ///
    /// - Throws: `unknownEntity`, `unknownKey` with the nearest name, `wrongType`, `invalidRequest`.
    public func prepared<Result: ManagedObject>(
        _ request: FetchRequest<Result>
    ) throws -> PreparedFetchRequest<Result> {
        let (storeRequest, _) = try prepare(request)
        return PreparedFetchRequest(request: request, query: try CompiledQuery(storeRequest, binding.schema))
    }

    /// The objects that match, unsaved changes counted.
    ///
    /// - Throws: as for a request that was not prepared.
    public func fetch<Result: ManagedObject>(_ prepared: PreparedFetchRequest<Result>) throws -> [Result] {
        let ids = try run(prepared) { snapshot, query in try snapshot.fetch(query) }
        return try objects(ids, of: prepared.request)
    }

    /// How many objects match; limit and offset count too.
    public func count<Result: ManagedObject>(for prepared: PreparedFetchRequest<Result>) throws -> Int {
        try run(prepared) { snapshot, query in try snapshot.count(query) }
    }

    private func run<Result: ManagedObject, R>(
        _ prepared: PreparedFetchRequest<Result>, _ body: (Snapshot, CompiledQuery) throws -> R
    ) throws -> R {
        if automaticallyMergesChangesFromParent { try moveToHead() }
        let query = try prepared.query(for: self)
        return try read(pending: prepared.request.includesPendingChanges ? try pendingLayers() : []) { snapshot in
            try body(snapshot, query)
        }
    }
}
