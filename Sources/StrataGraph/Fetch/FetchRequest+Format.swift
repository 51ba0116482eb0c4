public import StrataModel

extension FetchRequest {
    /// Asks for the objects of the class that meet a condition in Core Data's format language.
    ///
    /// ```swift
    /// let request = try FetchRequest<Movie>(
    ///     format: "rating > %@ AND ANY cast.name CONTAINS[cd] %@", 4, "ann", sortedBy: [SortDescription("title")])
    /// ```
    ///
    /// - Throws: `invalidRequest`; its `cause` is a `FetchFormatFault` with the place.
    public init(
        format: String, _ arguments: (any FetchArgument)?..., sortedBy sortDescriptors: [SortDescription] = [],
        limit: Int = 0, offset: Int = 0
    ) throws(StrataError) {
        self.init(
            where: try FetchPredicate(format: format, argumentArray: arguments), sortedBy: sortDescriptors,
            limit: limit, offset: offset)
    }
}
