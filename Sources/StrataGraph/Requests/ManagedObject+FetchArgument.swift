public import StrataModel

// Objects and requests as arguments of predicates.

extension ManagedObject: FetchArgument {
    /// The object's id as a constant, as in `try FetchPredicate(format: "owner == %@", person)`.
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
    /// The results of another request, or their number: `FETCH(request, context, countOnly)`.
    ///
    /// Each run of the outer request runs it once, on the same state, unsaved changes included.
    public static func fetch<Result: ManagedObject>(
        _ request: FetchRequest<Result>, countOnly: Bool = false
    ) -> FetchExpression {
        .function(.fetch, [request.fetchExpression, .constant(.null), .constant(.boolean(countOnly))])
    }
}
