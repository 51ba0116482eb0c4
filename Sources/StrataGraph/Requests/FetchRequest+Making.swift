public import Foundation
public import StrataModel

// Requests that read like sentences. Each call gives a changed copy, or refuses what the class cannot answer.

extension FetchRequest {
    /// Asks also for what a condition over the properties of the class says.
    ///
    /// ```swift
    /// let request = try FetchRequest<Movie>()
    ///     .where { $0.rating > 4 && $0.title.contains("stalk", [.caseInsensitive]) }
    ///     .sorted(by: \.title)
    /// ```
    ///
    /// - Throws: `wrongType` and `invalidRequest` for what the compiler cannot see, such as a faulty regular expression
    ///   or a transient property.
    public func `where`(_ condition: (ObjectExpression<Result>) -> ValueExpression<Bool>) throws(StrataError)
        -> FetchRequest
    {
        try adding(FetchPredicate(for: Result.self, condition))
    }

    /// Asks also for what a predicate says.
    ///
    /// - Throws: `unknownKey` with the nearest name, `wrongType`, `invalidRequest`.
    public func `where`(_ predicate: FetchPredicate) throws(StrataError) -> FetchRequest { try adding(predicate) }

    /// Asks also for what a `#Predicate` says.
    ///
    /// - Throws: `invalidRequest` naming the expression that no query can have; else as for a condition.
    public func `where`(_ predicate: Predicate<Result>) throws(StrataError) -> FetchRequest {
        try adding(try FetchPredicate(predicate))
    }

    private func adding(_ condition: FetchPredicate) throws(StrataError) -> FetchRequest {
        try checked { $0.predicate = predicate.map { $0 && condition } ?? condition }
    }

    /// Puts the results in order; a second call says how those stand that are equal so far.
    ///
    /// The key path may lead over to-ones, as in `\.familyMember?.name`; one that names no property is misuse and traps.
    ///
    /// - Throws: `invalidRequest` for what has no order, such as a to-many.
    public func sorted<Value>(
        by keyPath: KeyPath<Result, Value>, isAscending: Bool = true, folding: StringFolding = []
    ) throws(StrataError) -> FetchRequest {
        try sorted(by: SortDescription(keyPath, isAscending: isAscending, folding: folding))
    }

    /// Puts the results in order; a second call says how those stand that are equal so far.
    ///
    /// - Throws: `unknownKey` with the nearest name; `invalidRequest` for what has no order.
    public func sorted(by descriptions: SortDescription...) throws(StrataError) -> FetchRequest {
        try checked { $0.sortDescriptors += descriptions }
    }

    /// Reads the objects at the other end of a relationship too, in one go.
    ///
    /// - Throws: `invalidRequest` for what is no relationship.
    public func prefetching<Value>(_ relationship: KeyPath<Result, Value>) throws(StrataError) -> FetchRequest {
        try checked { $0.relationshipKeyPathsForPrefetching.append(PropertyName.of(relationship)) }
    }

    /// Asks for at most `limit` results, after passing over `offset`.
    ///
    /// - Throws: `invalidRequest` for less than nothing.
    public func limited(to limit: Int, offset: Int = 0) throws(StrataError) -> FetchRequest {
        try checked {
            $0.fetchLimit = limit
            $0.fetchOffset = offset
        }
    }

    private func checked(_ change: (inout FetchRequest) -> Void) throws(StrataError) -> FetchRequest {
        var request = self
        change(&request)
        try request.check()
        return request
    }
}
