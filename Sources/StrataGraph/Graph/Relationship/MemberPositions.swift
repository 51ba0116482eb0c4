/// The positions of an ordered to-many's members: ascending numbers with room between, so that a member that comes or
/// moves changes its own link alone. Members with the same position are in the order of their ids.
///
/// Positions come from disk. None of them may make this overflow.
enum MemberPositions {
    /// The distance of members that were added one after the other.
    static let gap: Int64 = 1 << 32

    /// The position behind the last member; the same as its own where the numbers end.
    static func after(_ last: Int64) -> Int64 { last > .max - gap ? .max : last + gap }

    /// A position in front of the member at `index`; nil if there is no room.
    static func room(at index: Int, in positions: [Int64]) -> Int64? {
        let next = positions[index]
        guard index > 0 else { return next < .min + gap ? nil : next - gap }
        let distance = distance(from: positions[index - 1], to: next)
        return distance > 1 ? positions[index - 1] &+ Int64(distance / 2) : nil
    }

    /// New positions for neighbours of a place that has no room, in their order.
    struct Spread: Equatable {
        /// The index of the first of them.
        let first: Int
        let positions: [Int64]
    }

    /// Makes room in front of the member at `index`.
    ///
    /// Members around it are spread over the room that they have, as few as suffice. The more they are, the wider apart
    /// must they stand. So members that come to one place again and again move few others each time. (After M. A.
    /// Bender et al., "Two Simplified Algorithms for Maintaining Order in a List", ESA 2002.)
    static func spread(_ positions: [Int64], at index: Int) -> Spread {
        var half = 1
        while true {
            let first = max(0, index - half), end = min(positions.count, index + half)
            if first == 0, end == positions.count { break }
            let lower = first > 0 ? positions[first - 1] : nil
            let upper = end < positions.count ? positions[end] : nil
            if let spread = spread(count: end - first, between: lower, and: upper) {
                return Spread(first: first, positions: spread)
            }
            half *= 2
        }
        return Spread(first: 0, positions: positions.indices.map { Int64($0) * gap })
    }

    /// Positions for `count` members between two others, or beside one at an end of the list; nil if they would stand
    /// too close.
    private static func spread(count: Int, between lower: Int64?, and upper: Int64?) -> [Int64]? {
        switch (lower, upper) {
        case (let lower?, let upper?):
            let step = distance(from: lower, to: upper) / UInt64(count + 1)
            guard step >= 256 * UInt64(count) else { return nil }
            return (1...count).map { lower &+ Int64(bitPattern: step &* UInt64($0)) }
        case (let lower?, nil):
            guard lower <= .max - Int64(count + 1) * gap else { return nil }
            return (1...count).map { lower + Int64($0) * gap }
        case (nil, let upper?):
            guard upper >= .min + Int64(count + 1) * gap else { return nil }
            return (1...count).map { upper - Int64(count + 1 - $0) * gap }
        case (nil, nil): return nil
        }
    }

    private static func distance(from lower: Int64, to upper: Int64) -> UInt64 {
        lower < upper ? UInt64(bitPattern: upper &- lower) : 0
    }
}
