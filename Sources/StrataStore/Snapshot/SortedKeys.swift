import StrataModel

/// Keys in order, packed in one buffer.
struct SortedKeys: Sendable {
    private let bytes: [UInt8]
    private let places: [Range<Int>]

    var count: Int { places.count }

    /// The key at `index`, valid inside `body`.
    func withKey<R>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[places[index]])) }
    }

    /// The number of keys that come before `bound`.
    func lowerBound(_ bound: UnsafeRawBufferPointer) -> Int {
        var low = 0
        var high = places.count
        while low < high {
            let middle = (low + high) / 2
            if withKey(middle, { $0.compare(with: bound) < 0 }) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    struct Builder {
        private var bytes: [UInt8] = []
        private var places: [Range<Int>] = []

        mutating func append(_ key: UnsafeRawBufferPointer) {
            let start = bytes.count
            bytes.append(contentsOf: key)
            places.append(start..<bytes.count)
        }

        /// Most keys of a path begin alike; the eight bytes behind that settle nearly every comparison.
        consuming func finish() -> SortedKeys {
            let buffer = bytes
            let sorted = buffer.withUnsafeBytes { raw in
                let prefix = Self.commonPrefix(of: places, in: raw)
                var order = places.map { (word: Self.word(raw, $0, at: prefix), place: $0) }
                order.sort { left, right in
                    if left.word != right.word { return left.word < right.word }
                    return UnsafeRawBufferPointer(rebasing: raw[left.place])
                        .compare(with: UnsafeRawBufferPointer(rebasing: raw[right.place])) < 0
                }
                return order.map(\.place)
            }
            return SortedKeys(bytes: buffer, places: sorted)
        }

        /// How many bytes all keys begin with alike.
        private static func commonPrefix(of places: [Range<Int>], in raw: UnsafeRawBufferPointer) -> Int {
            guard let first = places.first else { return 0 }
            var length = first.count
            for place in places.dropFirst() where length > 0 {
                length = min(length, place.count)
                var equal = 0
                while equal < length, raw[first.lowerBound + equal] == raw[place.lowerBound + equal] { equal += 1 }
                length = equal
            }
            return length
        }

        /// The eight bytes at `offset` as a number that orders like them; what a key lacks counts as 0.
        private static func word(_ raw: UnsafeRawBufferPointer, _ place: Range<Int>, at offset: Int) -> UInt64 {
            let start = place.lowerBound + offset
            if start + 8 <= place.upperBound {
                return UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: start, as: UInt64.self))
            }
            var word: UInt64 = 0
            for index in 0..<8 {
                word = word << 8 | (start + index < place.upperBound ? UInt64(raw[start + index]) : 0)
            }
            return word
        }
    }
}
