/// The rank of a row of a view among others, in an order that the view ranks.
public struct ViewRank: Sendable, Hashable {
    /// One more than the number of rows that are better: 1 for the first. Rows with equal values have the same rank.
    public let rank: Int
    /// The number of rows before it. Rows with equal values are in the order of their keys.
    public let index: Int
    /// The number of all rows.
    public let count: Int

    package init(rank: Int, index: Int, count: Int) {
        (self.rank, self.index, self.count) = (rank, index, count)
    }
}

extension ViewRank: CustomStringConvertible {
    /// The rank and the number of rows: `3 of 120`.
    public var description: String { "\(rank) of \(count)" }
}
