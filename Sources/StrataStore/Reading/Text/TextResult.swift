import StrataModel

/// The result of a text query in one state.
struct TextResult {
    /// Ascending.
    var ids: [ObjectID] = []
    /// The rank of each object, higher for better; empty if it was not asked for.
    var ranks: [Double] = []

    /// The rank of an object; 0 if it was not found.
    func rank(of id: ObjectID) -> Double {
        let index = ids.partitionPoint { $0 < id }
        return index < ids.count && ids[index] == id ? ranks[index] : 0
    }
}

/// Keeps the best of ranked objects: those with higher ranks, then with lower ids.
struct BestRanks {
    private struct Entry {
        let rank: Double
        let id: ObjectID

        @inline(__always)
        func isBetter(than other: Entry) -> Bool { rank != other.rank ? rank > other.rank : id < other.id }
    }

    private let needed: Int?
    /// Whether the lowest ranks are best.
    private let isAscending: Bool
    private var entries: [Entry] = []
    private var worst: Entry?

    init(needed: Int?, isAscending: Bool) {
        self.needed = needed
        self.isAscending = isAscending
    }

    @inline(__always)
    mutating func add(_ id: ObjectID, _ rank: Double) {
        let entry = Entry(rank: isAscending ? -rank : rank, id: id)
        if let worst, !entry.isBetter(than: worst) { return }
        entries.append(entry)
        if let needed, needed < 1 << 30, entries.count >= needed * 2 + 256 { shrink(to: needed) }
    }

    private mutating func shrink(to needed: Int) {
        entries.sort { $0.isBetter(than: $1) }
        entries.removeSubrange(needed...)
        worst = entries.last
    }

    mutating func finish() -> [ObjectID] {
        entries.sort { $0.isBetter(than: $1) }
        return entries.prefix(needed ?? .max).map(\.id)
    }
}
