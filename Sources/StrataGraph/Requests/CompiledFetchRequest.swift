import StrataModel
import StrataStore

/// A fetch request that is compiled once and run many times.
///
/// Each run sees the store and the context's unsaved changes as they are at that moment.
///
/// ```swift
/// let best = try context.compiled(FetchRequest<Movie>().where { $0.rating > 4 })
/// for try await _ in changes { show(try context.fetch(best)) }
/// ```
///
/// Any context of any container may run it; a context with another model compiles the request again. Requests that
/// differ only in constants, limit and offset need no compiling by hand: the store keeps their common shape.
public struct CompiledFetchRequest<Result: ManagedObject>: Sendable {
    /// The request that was compiled.
    public let request: FetchRequest<Result>
    let query: CompiledQuery

    /// The query for a context, compiled again if the context reads through another model.
    fileprivate func query(for context: ManagedObjectContext) throws -> CompiledQuery {
        query.isGood(for: context.binding.schema) ? query : try context.compiled(request).query
    }
}

extension ManagedObjectContext {
    /// Compiles a request, for `fetch(_:)` and `count(for:)` to run it.
    ///
    /// - Throws: `unknownEntity`, `unknownKey` with the nearest name, `wrongType`, `invalidRequest`.
    public func compiled<Result: ManagedObject>(
        _ request: FetchRequest<Result>
    ) throws -> CompiledFetchRequest<Result> {
        let (storeRequest, _) = try prepare(request)
        return CompiledFetchRequest(
            request: request, query: try binding.store.shapes.compiled(storeRequest, binding.schema))
    }

    /// The objects that match, unsaved changes counted.
    ///
    /// - Throws: as for a plain request.
    public func fetch<Result: ManagedObject>(_ compiled: CompiledFetchRequest<Result>) throws -> [Result] {
        let ids = try run(compiled, .objects, count: \.count) { snapshot, query in try snapshot.fetch(query) }
        return try objects(ids, of: compiled.request)
    }

    /// The number of objects that match; limit and offset count too.
    ///
    /// - Throws: as for a plain request.
    public func count<Result: ManagedObject>(for compiled: CompiledFetchRequest<Result>) throws -> Int {
        try run(compiled, .count, count: { $0 }) { snapshot, query in try snapshot.count(query) }
    }

    private func run<Result: ManagedObject, R>(
        _ compiled: CompiledFetchRequest<Result>, _ kind: FetchMeasurement.Kind, count: (R) -> Int,
        _ body: (Snapshot, CompiledQuery) throws -> R
    ) throws -> R {
        try throwNewDamage()
        if automaticallyMergesChangesFromParent { try moveToHead() }
        let query = try compiled.query(for: self)
        let layers = compiled.request.includesPendingChanges ? try pendingLayers() : []
        return try observed(kind, compiled.request.entityName, count: count) { monitor in
            try read(pending: layers, monitor: monitor, budget: budget(of: compiled.request)) { try body($0, query) }
        }
    }
}
