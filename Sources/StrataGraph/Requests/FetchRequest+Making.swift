public import Foundation
public import StrataModel

// Builder methods of requests. Each returns a changed and checked copy.

extension FetchRequest {
    /// Adds a condition on the properties of the class.
    ///
    /// ```swift
    /// let request = try FetchRequest<Movie>()
    ///     .where { $0.rating > 4 && $0.title.contains("stalk", [.caseInsensitive]) }
    ///     .sorted(by: \.title)
    /// ```
    ///
    /// - Throws: `wrongType` and `invalidRequest` for what the compiler cannot check, such as an invalid regular
    ///   expression or a transient property.
    public func `where`(_ condition: (ObjectExpression<Result>) -> ValueExpression<Bool>) throws(StrataError)
        -> FetchRequest
    {
        try adding(FetchPredicate(for: Result.self, condition))
    }

    /// Adds a predicate as a condition.
    ///
    /// - Throws: `unknownKey` with the nearest name, `wrongType`, `invalidRequest`.
    public func `where`(_ predicate: FetchPredicate) throws(StrataError) -> FetchRequest { try adding(predicate) }

    /// Adds a Foundation `#Predicate` as a condition.
    ///
    /// - Throws: `invalidRequest` with the expression that queries do not support; otherwise as for a condition.
    public func `where`(_ predicate: Predicate<Result>) throws(StrataError) -> FetchRequest {
        try adding(try FetchPredicate(predicate))
    }

    /// Adds the condition that the full text of the objects meets a query, and orders them by relevance if the request has
    /// no other order.
    ///
    /// ```swift
    /// let request = try FetchRequest<Movie>().matching("stalk* NEAR zone").where { $0.year < 1990 }
    /// ```
    ///
    /// - Parameter query: see `FullTextQuery` for the language.
    /// - Throws: `invalidRequest` for a query that cannot be read, and for a class that declares no full text.
    public func matching(_ query: String) throws(StrataError) -> FetchRequest {
        let condition = FetchPredicate.matchesText(query)
        return try changed { request in
            request.predicate = predicate.map { $0 && condition } ?? condition
            if sortDescriptors.isEmpty { request.sortDescriptors = [.relevance] }
        }
    }

    /// Orders the objects by how well they meet the conditions of `matching(_:)`, the best first, in place of any other
    /// order.
    ///
    /// - Throws: `invalidRequest` for a request without such a condition.
    public func sortedByRelevance() throws(StrataError) -> FetchRequest {
        try changed { $0.sortDescriptors = [.relevance] }
    }

    private func adding(_ condition: FetchPredicate) throws(StrataError) -> FetchRequest {
        try changed { $0.predicate = predicate.map { $0 && condition } ?? condition }
    }

    /// Adds a key to the order of the results, after those of earlier calls.
    ///
    /// The key path may lead over to-ones, as in `\.familyMember?.name`. A key path without property traps.
    ///
    /// - Throws: `invalidRequest` for what has no order, such as a to-many.
    public func sorted<Value>(
        by keyPath: KeyPath<Result, Value>, isAscending: Bool = true, folding: StringFolding = []
    ) throws(StrataError) -> FetchRequest {
        try sorted(by: SortDescription(keyPath, isAscending: isAscending, folding: folding))
    }

    /// Adds keys to the order of the results, after those of earlier calls.
    ///
    /// - Throws: `unknownKey` with the nearest name; `invalidRequest` for what has no order.
    public func sorted(by descriptions: SortDescription...) throws(StrataError) -> FetchRequest {
        try changed { $0.sortDescriptors += descriptions }
    }

    /// Reads the objects of a relationship too, all in one read of the store.
    ///
    /// - Throws: `invalidRequest` for a property that is no relationship.
    public func prefetching<Value>(_ relationship: KeyPath<Result, Value>) throws(StrataError) -> FetchRequest {
        try changed { $0.relationshipKeyPathsForPrefetching.append(PropertyName.of(relationship)) }
    }

    /// Limits the results to `limit` objects, after skipping `offset`.
    ///
    /// - Throws: `invalidRequest` for a negative number.
    public func limited(to limit: Int, offset: Int = 0) throws(StrataError) -> FetchRequest {
        try changed {
            $0.fetchLimit = limit
            $0.fetchOffset = offset
        }
    }
}
