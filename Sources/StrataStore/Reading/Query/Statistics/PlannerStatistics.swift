import StrataModel

/// What planning knows of the sizes of things. Estimates only: however wrong they are, answers stay right.
struct PlannerStatistics: Sendable {
    var indexes: [IndexID: IndexStatistics] = [:]
    /// Members of one owner on average, by link number.
    var members: [PropertyID: Double] = [:]
}

/// One index, known by a sample of rows.
struct IndexStatistics: Sendable, Hashable {
    /// Rows of its entities when the sample was taken.
    var rows: Int
    /// How many of the rows looked at stand in the index; less than all only for a partial one.
    var share: Double
    /// For each number of leading elements, how many entries share them with one entry, on average.
    var groupSizes: [Double]
    /// Keys of the sample in order, without index number and object id, cut: as many entries lie between two
    /// neighbours as between any other two.
    var sample: [[UInt8]]

    var entries: Double { Double(rows) * share }

    /// The part of the entries that lies in a range, by the sample alone; nil when too little of it does to tell.
    func part(in range: KeyRange) -> Double? {
        let start = sample.partitionPoint { $0.lexicographicallyPrecedes(range.lower) }
        let end = range.upper.map { upper in sample.partitionPoint { $0.lexicographicallyPrecedes(upper) } }
        let inside = max(0, (end ?? sample.count) - start)
        return inside < 3 ? nil : Double(inside) / Double(sample.count)
    }

    /// Whether the entity has grown or shrunk so much since that another sample is due.
    func isStale(rows now: Int) -> Bool { now > rows * 2 || now < rows / 2 }
}
