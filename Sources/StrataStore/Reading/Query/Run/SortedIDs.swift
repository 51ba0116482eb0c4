import StrataModel

// Sorting and intersecting lists of object ids.

extension [ObjectID] {
    /// Sorts ids that are all different.
    ///
    /// Ids of one query are often close together. Then one pass over a set of bits, one for each number from the lowest
    /// to the highest, sorts them.
    mutating func sortIDs() {
        guard count > 64, let range = span, range.count / 64 <= count * 2 else { return sort() }
        sortByBits(range)
    }

    /// Sorts ids and removes repetitions.
    mutating func sortAndDropRepeated() {
        guard count > 1 else { return }
        if count > 64, let range = span, range.count / 64 <= count * 2 { return sortByBits(range) }
        sort()
        var kept = 1
        for index in 1..<count where self[index] != self[kept - 1] {
            self[kept] = self[index]
            kept += 1
        }
        removeSubrange(kept...)
    }

    private var span: ClosedRange<UInt64>? {
        guard var low = first?.rawValue else { return nil }
        var high = low
        for id in self {
            low = Swift.min(low, id.rawValue)
            high = Swift.max(high, id.rawValue)
        }
        // The limit also avoids overflow for the largest possible span.
        return high - low < 1 << 40 ? low...high : nil
    }

    private mutating func sortByBits(_ range: ClosedRange<UInt64>) {
        let low = range.lowerBound
        var words = [UInt64](repeating: 0, count: Int((range.upperBound - low) >> 6) + 1)
        for id in self {
            let index = id.rawValue - low
            words[Int(index >> 6)] |= 1 << (index & 63)
        }
        removeAll(keepingCapacity: true)
        for (index, word) in words.enumerated() {
            var rest = word
            while rest != 0 {
                append(ObjectID(rawValue: low + UInt64(index) << 6 + UInt64(rest.trailingZeroBitCount)))
                rest &= rest - 1
            }
        }
    }

    /// Removes the ids that are not in `other`; both are sorted.
    mutating func formIntersection(_ other: [ObjectID]) {
        let (small, large) = count < other.count ? (self, other) : (other, self)
        var result: [ObjectID] = []
        if small.count * 16 < large.count {
            var rest = large[...]
            for id in small {
                rest = rest[rest.partitionPoint { $0 < id }...]
                guard let next = rest.first else { break }
                if next == id { result.append(id) }
            }
        } else {
            var index = 0
            for id in small {
                while index < large.count, large[index] < id { index += 1 }
                guard index < large.count else { break }
                if large[index] == id { result.append(id) }
            }
        }
        self = result
    }
}
