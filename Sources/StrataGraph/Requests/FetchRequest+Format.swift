public import Foundation
public import StrataModel

extension FetchRequest {
    /// Asks for the objects of the class that meet a condition in Core Data's format language.
    ///
    /// ```swift
    /// let request = try FetchRequest<Movie>(
    ///     format: "rating > %@ AND familyMember.name BEGINSWITH[cd] %@", 4, "ann", sortedBy: [SortDescription("title")])
    /// ```
    ///
    /// Arguments may be managed objects and their ids.
    ///
    /// - Throws: `invalidRequest`, whose `cause` is a `FetchFormatFault` with the place of a fault in the format;
    ///   `unknownKey`, `wrongType` and `invalidRequest` for what the entity cannot answer.
    public init(
        format: String, _ arguments: (any FetchArgument)?..., sortedBy sortDescriptors: [SortDescription] = [],
        limit: Int = 0, offset: Int = 0
    ) throws(StrataError) {
        try self.init(
            where: try FetchPredicate(format: format, argumentArray: arguments), sortedBy: sortDescriptors,
            limit: limit, offset: offset)
    }

    /// Asks for the objects that a `#Predicate` finds.
    ///
    /// - Throws: `invalidRequest` naming the expression that no query can have; else as for a format.
    public init(_ predicate: Predicate<Result>) throws(StrataError) {
        try self.init(where: try FetchPredicate(predicate))
    }

    /// Asks also for what a predicate in the format language says.
    ///
    /// - Throws: as `init(format:_:)`.
    public func `where`(format: String, _ arguments: (any FetchArgument)?...) throws(StrataError) -> FetchRequest {
        try `where`(try FetchPredicate(format: format, argumentArray: arguments))
    }
}
