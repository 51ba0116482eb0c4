public import Foundation
public import StrataModel

// Requests that read like sentences. Each call gives a changed copy.

extension FetchRequest {
    /// Asks also for what a condition over the properties of the class says.
    ///
    /// ```swift
    /// let request = FetchRequest<Movie>()
    ///     .where { $0.rating > 4 && $0.title.contains("stalk", [.caseInsensitive]) }
    ///     .sorted(by: \.title)
    /// ```
    public func `where`(_ condition: (Path<Result>) -> Term<Bool>) -> FetchRequest {
        adding(FetchPredicate(for: Result.self, condition))
    }

    /// Asks also for what a predicate says.
    public func `where`(_ predicate: FetchPredicate) -> FetchRequest { adding(predicate) }

    /// Asks also for what a `#Predicate` says.
    ///
    /// - Throws: `invalidRequest` naming the expression that no query can have.
    public func `where`(_ predicate: Predicate<Result>) throws(StrataError) -> FetchRequest {
        let request = adding(try FetchPredicate(predicate))
        try request.check()
        return request
    }

    private func adding(_ condition: FetchPredicate) -> FetchRequest {
        var request = self
        request.predicate = predicate.map { $0 && condition } ?? condition
        return request
    }

    /// Puts the results in order; a second call says how those stand that are equal so far.
    ///
    /// The key path may lead over to-ones, as in `\.familyMember?.name`; one that names no property is misuse and traps.
    public func sorted<Value>(
        by keyPath: KeyPath<Result, Value>, isAscending: Bool = true, folding: StringFolding = []
    ) -> FetchRequest {
        sorted(by: SortDescription(keyPath, isAscending: isAscending, folding: folding))
    }

    /// Puts the results in order; a second call says how those stand that are equal so far.
    public func sorted(by descriptions: SortDescription...) -> FetchRequest {
        var request = self
        request.sortDescriptors += descriptions
        return request
    }

    /// Reads the objects at the other end of a relationship too, in one go.
    public func prefetching<Value>(_ relationship: KeyPath<Result, Value>) -> FetchRequest {
        var request = self
        request.relationshipKeyPathsForPrefetching.append(PropertyName.of(relationship))
        return request
    }

    /// Asks for at most `limit` results, after passing over `offset`.
    public func limited(to limit: Int, offset: Int = 0) -> FetchRequest {
        var request = self
        request.fetchLimit = limit
        request.fetchOffset = offset
        return request
    }
}
