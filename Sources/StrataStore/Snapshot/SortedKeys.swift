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

        consuming func finish() -> SortedKeys {
            let buffer = bytes
            buffer.withUnsafeBytes { raw in
                places.sort {
                    UnsafeRawBufferPointer(rebasing: raw[$0]).compare(with: UnsafeRawBufferPointer(rebasing: raw[$1]))
                        < 0
                }
            }
            return SortedKeys(bytes: buffer, places: places)
        }
    }
}
