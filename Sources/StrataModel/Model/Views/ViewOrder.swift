/// An order of a view's rows that the store keeps, so that a request for the first rows in it reads only these.
///
/// ```swift
/// let sales = ViewDescription(
///     name: "StudioSales", entityName: "Film", keys: [ViewKey("studio")],
///     aggregates: [ViewAggregate("gross", .sum, "gross")], orders: [ViewOrder("gross", isAscending: false)])
/// ```
///
/// It is read from both ends. Rows with the same values are in the order of their keys.
public struct ViewOrder: Sendable, Hashable {
    /// The columns by which rows are ordered, the most important first: numbers, dates, booleans, UUIDs and to-ones.
    public var columns: [SortDescription]
    /// Whether the rows are counted too, so that the rank of a row, and the row with a rank, are found in O(log n).
    public var isRanked = false

    /// An order by several columns.
    public init(_ columns: [SortDescription], isRanked: Bool = false) {
        self.columns = columns
        self.isRanked = isRanked
    }

    /// An order by one column.
    public init(_ column: String, isAscending: Bool = true, isRanked: Bool = false) {
        self.init([SortDescription(column, isAscending: isAscending)], isRanked: isRanked)
    }
}

extension SortDescription {
    /// Whether the order compares values as they are, with nil as the smallest.
    package var isPlain: Bool { folding == [] && !isNatural && nullPlacement == .smallest }
}

extension ViewOrder: CustomStringConvertible {
    /// The columns: `year, gross descending`; for a ranked order, `year, gross descending, ranked`.
    public var description: String {
        columns.map(\.description).joined(separator: ", ") + (isRanked ? ", ranked" : "")
    }
}

extension ViewOrder: Codable {
    private enum Key: String, CodingKey { case columns, isRanked }

    /// Reads an order. Whether it is ranked may be missing.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        columns = try container.decode([SortDescription].self, forKey: .columns)
        isRanked = try container.decodeIfPresent(Bool.self, forKey: .isRanked) ?? false
    }

    /// Writes an order. `isRanked` is left out if it is false.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(columns, forKey: .columns)
        if isRanked { try container.encode(isRanked, forKey: .isRanked) }
    }
}
