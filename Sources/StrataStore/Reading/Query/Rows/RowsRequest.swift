package import StrataModel

/// A fetch whose result are rows of values: properties, expressions, or aggregates of groups.
package struct RowsRequest: Sendable {
    /// Which objects. Limit and offset count rows of the result; the order of grouped or distinct rows names their
    /// columns.
    package var objects: StoreRequest
    package var columns: [OutputColumn]
    /// Objects that agree in all of these key paths make one row.
    package var groupBy: [String]
    /// What a group's row must meet; it speaks of columns by name, of `groupBy`, and of aggregates.
    package var having: FetchPredicate?
    /// Whether rows that are the same come once.
    package var isDistinct: Bool

    package init(
        objects: StoreRequest, columns: [OutputColumn], groupBy: [String] = [], having: FetchPredicate? = nil,
        isDistinct: Bool = false
    ) {
        self.objects = objects
        self.columns = columns
        self.groupBy = groupBy
        self.having = having
        self.isDistinct = isDistinct
    }
}
