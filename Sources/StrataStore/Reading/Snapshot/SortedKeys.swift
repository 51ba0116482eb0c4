import LMDB
import StrataModel

/// Sorted keys, packed into one buffer.
struct SortedKeys: Sendable {
    private let bytes: [UInt8]
    private let ranges: [Range<Int>]

    var count: Int { ranges.count }

    /// The key at `index`, valid inside `body`.
    func withKey<R>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[ranges[index]])) }
    }

    /// The number of keys before `bound`.
    func lowerBound(_ bound: UnsafeRawBufferPointer) -> Int {
        ranges.indices.partitionPoint { index in withKey(index) { $0.compare(with: bound) < 0 } }
    }

    struct Builder {
        private var bytes: [UInt8] = []
        private var ranges: [Range<Int>] = []

        mutating func append(_ key: UnsafeRawBufferPointer) {
            let start = bytes.count
            bytes.append(contentsOf: key)
            ranges.append(start..<bytes.count)
        }

        /// Most keys of an access path begin alike; the eight bytes after that settle nearly every comparison.
        consuming func finish() -> SortedKeys {
            let (buffer, ranges) = (bytes, ranges)
            let sorted = buffer.withUnsafeBytes { raw in
                let prefix = Self.commonPrefix(of: ranges, in: raw)
                var order = ranges.enumerated().map { index, range in
                    Word(word: Self.word(raw, range, at: prefix), index: Int32(index))
                }
                func isBefore(_ left: Word, _ right: Word) -> Bool {
                    if left.word != right.word { return left.word < right.word }
                    return UnsafeRawBufferPointer(rebasing: raw[ranges[Int(left.index)]])
                        .compare(with: UnsafeRawBufferPointer(rebasing: raw[ranges[Int(right.index)]])) < 0
                }
                if order.count < Self.fewKeys {
                    order.sort(by: isBefore)
                } else {
                    Self.sortByWords(&order)
                    Self.sortEqualWords(&order, isBefore)
                }
                return order.map { ranges[Int($0.index)] }
            }
            return SortedKeys(bytes: buffer, ranges: sorted)
        }

        private struct Word {
            var word: UInt64
            var index: Int32
        }

        /// With fewer keys comparing is as fast.
        private static let fewKeys = 512

        /// Radix sort: one pass for each byte in which words differ, the lowest byte first.
        private static func sortByWords(_ order: inout [Word]) {
            guard let first = order.first else { return }
            let differing = order.reduce(0) { $0 | ($1.word ^ first.word) }
            var target = order
            for shift in stride(from: 0 as UInt64, to: 64, by: 8) where (differing &>> shift) & 0xFF != 0 {
                var starts = [Int](repeating: 0, count: 257)
                for entry in order { starts[Int((entry.word &>> shift) & 0xFF) + 1] += 1 }
                for digit in 1..<257 { starts[digit] += starts[digit - 1] }
                for entry in order {
                    let digit = Int((entry.word &>> shift) & 0xFF)
                    target[starts[digit]] = entry
                    starts[digit] += 1
                }
                swap(&order, &target)
            }
        }

        private static func sortEqualWords(_ order: inout [Word], _ isBefore: (Word, Word) -> Bool) {
            var start = 0
            while start < order.count {
                var end = start + 1
                while end < order.count, order[end].word == order[start].word { end += 1 }
                if end - start > 1 { order[start..<end].sort(by: isBefore) }
                start = end
            }
        }

        /// The number of bytes that all keys have in common at their beginning.
        private static func commonPrefix(of ranges: [Range<Int>], in raw: UnsafeRawBufferPointer) -> Int {
            guard let first = ranges.first else { return 0 }
            var length = first.count
            for range in ranges.dropFirst() where length > 0 {
                length = min(length, range.count)
                var equal = 0
                while equal < length, raw[first.lowerBound + equal] == raw[range.lowerBound + equal] { equal += 1 }
                length = equal
            }
            return length
        }

        /// The eight bytes at `offset` as a number with the same order; missing bytes count as 0.
        private static func word(_ raw: UnsafeRawBufferPointer, _ range: Range<Int>, at offset: Int) -> UInt64 {
            let start = range.lowerBound + offset
            if start + 8 <= range.upperBound {
                return UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: start, as: UInt64.self))
            }
            var word: UInt64 = 0
            for index in 0..<8 {
                word = word << 8 | (start + index < range.upperBound ? UInt64(raw[start + index]) : 0)
            }
            return word
        }
    }
}
