/// The table of what operations cost in stores of several sizes, measured in one turn or more.
struct GrowthTable {
    private let turns: [[SizeReport]]
    private let sizes: [Int]

    /// - Parameter turns: in each the same sizes, in ascending order.
    /// - Returns: nil if there is one size only.
    init?(turns: [[SizeReport]]) {
        guard let sizes = turns.first?.map(\.movies), sizes.count > 1 else { return nil }
        self.turns = turns
        self.sizes = sizes
    }

    func text(_ style: TextTable.Style) -> String {
        var table = TextTable(
            [""] + sizes.map(Quantity.count) + ["last / first", "LMDB's", "SQLite's", "to reach", ""])
        for name in LineName.allCases where name.isPerOperation {
            guard let own = growth(of: name, .strata) else { continue }
            let cells = sizes.indices.map { index in
                let own = times(of: name, .strata, at: index)
                return own.isEmpty ? "" : Quantity.time(Spread(own).median)
            }
            let others = [Peer.lmdb, .sqlite].map { peer in
                growth(of: name, peer).map { Quantity.ratio($0.median) } ?? ""
            }
            let isReached = own.median <= Bar.growth.reach
            table.add(
                [name.rawValue] + cells + [turns.count > 2 ? Quantity.ratio(own) : Quantity.ratio(own.median)]
                    + others + ["\(Quantity.ratio(Bar.growth.reach)) x", isReached ? "reached" : "MISSED"])
        }
        return table.isEmpty ? "" : table.text(style)
    }

    private func times(of name: LineName, _ peer: Peer, at index: Int) -> [Double] {
        turns.compactMap { $0[index].line(name)?.figure(peer)?.time.median }
    }

    /// The time in the largest store divided by that in the smallest, over the turns.
    private func growth(of name: LineName, _ peer: Peer) -> Spread? {
        let ratios = turns.compactMap { turn -> Double? in
            guard let small = turn.first?.line(name)?.figure(peer), let large = turn.last?.line(name)?.figure(peer)
            else { return nil }
            return large.time.median / small.time.median
        }
        return ratios.isEmpty ? nil : Spread(ratios)
    }
}
