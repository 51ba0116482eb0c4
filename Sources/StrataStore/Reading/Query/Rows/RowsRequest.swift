package import StrataModel

/// A request for rows of values, as the store runs it: properties, expressions, or aggregates of groups.
package struct RowsRequest: Sendable {
    /// The objects. Limit and offset are of rows, and the order is read as `RowOrdering` says.
    package var objects: StoreRequest
    package var columns: [OutputColumn]
    /// Key paths by whose values objects are grouped: each group makes one row.
    package var groupBy: [String]
    /// The condition that a group's row must meet. It can use columns by name (`count` or `$count`), the key paths of
    /// `groupBy`, and aggregates.
    package var having: FetchPredicate?
    /// Whether equal rows are returned once.
    package var isDistinct: Bool

    /// Whether a group of objects makes a row, and not each object.
    package var isGrouped: Bool {
        !groupBy.isEmpty || having != nil || columns.contains { $0.expression.hasAggregates }
    }

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
