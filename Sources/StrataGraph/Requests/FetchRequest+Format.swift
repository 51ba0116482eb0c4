public import Foundation
public import StrataModel

// Requests in the format language, and by `#Predicate`.

extension FetchRequest {
    /// Requests the objects of the class that meet a condition in Core Data's format language.
    ///
    /// ```swift
    /// let request = try FetchRequest<Movie>(
    ///     format: "rating > %@ AND familyMember.name BEGINSWITH[cd] %@", 4, "ann", sortedBy: [SortDescription("title")])
    /// ```
    ///
    /// Arguments may also be managed objects and their ids.
    ///
    /// - Throws: `invalidRequest` for an invalid format, with the position of the error as its `cause`; `unknownKey`,
    ///   `wrongType` and `invalidRequest` for a condition that the entity cannot answer.
    public init(
        format: String, _ arguments: (any FetchArgument)?..., sortedBy sortDescriptors: [SortDescription] = [],
        limit: Int = 0, offset: Int = 0
    ) throws(StrataError) {
        try self.init(
            where: try FetchPredicate(format: format, argumentArray: arguments), sortedBy: sortDescriptors,
            limit: limit, offset: offset)
    }

    /// Requests the objects that meet a Foundation `#Predicate`.
    ///
    /// - Throws: `invalidRequest` with the expression that queries do not support; otherwise as for a format.
    public init(_ predicate: Predicate<Result>) throws(StrataError) {
        try self.init(where: try FetchPredicate(predicate))
    }

    /// Adds a condition in the format language.
    ///
    /// - Throws: as `init(format:_:)`.
    public func `where`(format: String, _ arguments: (any FetchArgument)?...) throws(StrataError) -> FetchRequest {
        try `where`(try FetchPredicate(format: format, argumentArray: arguments))
    }
}
