public import StrataModel

extension ManagedObject: FetchArgument {
    /// The object by its id, as in `try FetchPredicate(format: "owner == %@", person)`.
    public final var fetchExpression: FetchExpression { .constant(.objectID(objectID)) }
}

extension FetchRequest: FetchArgument {
    /// The request as the first argument of a `FETCH(%@, nil, NO)` expression.
    public var fetchExpression: FetchExpression {
        .constant(
            NestedFetch(
                entityName: entityName, predicate: predicate, sort: sortDescriptors, limit: fetchLimit,
                offset: fetchOffset, includesSubentities: includesSubentities
            ).value)
    }
}

extension FetchExpression {
    /// What another request finds, or how many objects: `FETCH(request, context, countOnly)`.
    ///
    /// It is fetched once for each request around it, from the same state, unsaved changes included.
    public static func fetch<Result: ManagedObject>(
        _ request: FetchRequest<Result>, countOnly: Bool = false
    ) -> FetchExpression {
        .function(.fetch, [request.fetchExpression, .constant(.null), .constant(.boolean(countOnly))])
    }
}
