/// An order of a view's rows that the store keeps, so that a request for the first rows in it reads only these.
///
/// ```swift
/// let sales = ViewDescription(
///     name: "StudioSales", entityName: "Film", keys: [ViewKey("studio")],
///     aggregates: [ViewAggregate("gross", .sum, "gross")], orders: [ViewOrder("gross", isAscending: false)])
/// ```
///
/// It is read from both ends. Rows with the same values are in the order of their keys.
public struct ViewOrder: Sendable, Hashable, Codable {
    /// The columns by which rows are ordered, the most important first: numbers, dates, booleans, UUIDs and to-ones.
    public var columns: [SortDescription]

    /// An order by several columns.
    public init(_ columns: [SortDescription]) { self.columns = columns }

    /// An order by one column.
    public init(_ column: String, isAscending: Bool = true) {
        self.init([SortDescription(column, isAscending: isAscending)])
    }
}

extension SortDescription {
    /// Whether it orders values as they are, with nil as the smallest.
    package var isPlain: Bool { folding == [] && !isNatural && nullPlacement == .smallest }
}

extension ViewOrder: CustomStringConvertible {
    /// The columns: `year, gross descending`.
    public var description: String { columns.map(\.description).joined(separator: ", ") }
}
