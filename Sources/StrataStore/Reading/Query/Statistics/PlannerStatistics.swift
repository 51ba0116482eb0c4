import StrataModel

/// The statistics that planning uses. They are estimates, and wrong ones never change results.
struct PlannerStatistics: Sendable {
    var indexes: [IndexID: IndexStatistics] = [:]
    /// The average number of members of one owner, by link.
    var members: [PropertyID: Double] = [:]
}

/// Statistics of one index, from a sample of rows.
struct IndexStatistics: Sendable, Hashable {
    /// The number of rows of its entities when the sample was drawn.
    var rows: Int
    /// The part of the sampled rows that are in the index; less than 1 for a partial index only.
    var share: Double
    /// The average number of entries that share each number of leading elements with an entry.
    var groupSizes: [Double]
    /// The keys of the sample in order, shortened, without index number and object id. About the same number of entries
    /// is between each two neighbours.
    var sample: [[UInt8]]

    var entries: Double { Double(rows) * share }

    /// The part of the entries in a range, by the sample alone; nil if too few keys of the sample are in it.
    func part(in range: KeyRange) -> Double? {
        let start = sample.partitionPoint { $0.lexicographicallyPrecedes(range.lower) }
        let end = range.upper.map { upper in sample.partitionPoint { $0.lexicographicallyPrecedes(upper) } }
        let inside = max(0, (end ?? sample.count) - start)
        return inside < 3 ? nil : Double(inside) / Double(sample.count)
    }

    /// Whether the entity has doubled or halved since, so that another sample is needed.
    func isStale(rows now: Int) -> Bool { now > rows * 2 || now < rows / 2 }
}
