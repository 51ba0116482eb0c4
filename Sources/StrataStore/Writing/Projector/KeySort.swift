import LMDB

/// Puts the operations of a batch into the order of their keys, and those of one key into the order of collection.
///
/// A radix sort that takes eight bytes of the keys at a time, from the front (after P. M. McIlroy, K. Bostic and M. D.
/// McIlroy, "Engineering Radix Sort", 1993): operations are ordered by a word of their keys, and runs that agree in it
/// by the next. A key's bytes are fetched once for eight of them, not once for each comparison: keys of an index begin
/// alike for eight bytes and more, so comparing them was the dearest part of a large save.
struct KeySort: ~Copyable {
    /// Fewer operations than this are ordered by comparing.
    private static let fewest = 48
    private static let histogramSize = 8 * 256
    private let list: UnsafeMutableBufferPointer<WriteBatch.Operation>
    /// What the offsets of keys count from.
    private let keys: UnsafeRawPointer
    private let spare: UnsafeMutableBufferPointer<WriteBatch.Operation>
    /// How often each value of a byte occurs, for each byte of a word.
    private let histogram: UnsafeMutablePointer<UInt32>

    /// Memory that one list after the other is sorted with: fresh memory costs a visit to the system for each page.
    struct Scratch: ~Copyable {
        fileprivate var spare = UnsafeMutableBufferPointer<WriteBatch.Operation>(start: nil, count: 0)
        // No buffer pointer: Swift 6.3 cannot compile a change in place through one for the thread sanitizer.
        fileprivate let histogram = UnsafeMutablePointer<UInt32>.allocate(capacity: KeySort.histogramSize)

        init() {}

        deinit {
            spare.deallocate()
            histogram.deallocate()
        }

        fileprivate mutating func reserve(_ count: Int) {
            guard spare.count < count else { return }
            spare.deallocate()
            spare = .allocate(capacity: count)
        }
    }

    /// - Parameters:
    ///   - list: stays valid while this lives; each `prefix` is the first word of its key, as `word` makes it.
    ///   - keys: what the offsets of keys count from.
    ///   - scratch: is this one's alone while it lives.
    init(
        _ list: UnsafeMutableBufferPointer<WriteBatch.Operation>, keys: UnsafeRawPointer, _ scratch: inout Scratch
    ) {
        self.list = list
        self.keys = keys
        if list.count >= Self.fewest { scratch.reserve(list.count) }
        spare = scratch.spare
        histogram = scratch.histogram
    }

    /// Eight bytes of a key as a number that compares as they do; bytes behind the key's end are zero.
    static func word(of key: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        guard key.count < offset + 8 else {
            return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        let rest = key.count - offset
        if rest <= 0 { return 0 }
        if key.count >= 8 {
            // The last eight bytes, of which those before `offset` go.
            let last = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: key.count - 8, as: UInt64.self))
            return last << UInt64(8 * (8 - rest))
        }
        var word: UInt64 = 0
        for byte in key[offset...] { word = word << 8 | UInt64(byte) }
        return word << UInt64(8 * (8 - rest))
    }

    /// Orders all. Afterwards a `prefix` is some word of its key, the same one of equal keys.
    consuming func run() {
        if !isInOrder { sort(0..<list.count, from: 0) }
    }

    private var isInOrder: Bool {
        for place in list.indices.dropFirst() where list[place - 1].prefix >= list[place].prefix { return false }
        return true
    }

    /// Orders a range whose keys agree in the bytes before `offset`; the prefixes are the words from there.
    private borrowing func sort(_ range: Range<Int>, from offset: Int) {
        guard range.count >= Self.fewest else { return sortFew(range, from: offset) }
        orderByPrefix(range)
        var start = range.lowerBound
        while start < range.upperBound {
            let prefix = list[start].prefix
            var end = start + 1
            while end < range.upperBound, list[end].prefix == prefix { end += 1 }
            if end - start > 1 { sortRun(start..<end, from: offset + 8) }
            start = end
        }
    }

    private borrowing func sortRun(_ range: Range<Int>, from offset: Int) {
        var longest = 0
        for place in range {
            let operation = list[place]
            list[place].prefix = Self.word(of: key(operation), at: offset)
            longest = max(longest, Int(operation.keySize))
        }
        if longest > offset { return sort(range, from: offset) }
        // All bytes agree, but those of a shorter key may have been filled up: it comes first.
        var equal = UnsafeMutableBufferPointer(rebasing: list[range])
        equal.sort { ($0.keySize, $0.keyOffset) < ($1.keySize, $1.keyOffset) }
    }

    private borrowing func sortFew(_ range: Range<Int>, from offset: Int) {
        insert(range) { left, right in
            if left.prefix != right.prefix { return left.prefix < right.prefix }
            return key(left).compare(with: key(right)) < 0
        }
    }

    private borrowing func key(_ operation: WriteBatch.Operation) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: keys + Int(operation.keyOffset), count: Int(operation.keySize))
    }

    /// Insertion sort: stable, and quick where little is to be done.
    private borrowing func insert(
        _ range: Range<Int>, _ isBefore: (WriteBatch.Operation, WriteBatch.Operation) -> Bool
    ) {
        for place in range.dropFirst() {
            let moved = list[place]
            var hole = place
            while hole > range.lowerBound, isBefore(moved, list[hole - 1]) {
                list[hole] = list[hole - 1]
                hole -= 1
            }
            if hole != place { list[hole] = moved }
        }
    }

    /// Orders by the prefix alone, keeping the order of equal ones: a pass for each byte in which they differ, from the
    /// last.
    private borrowing func orderByPrefix(_ range: Range<Int>) {
        histogram.initialize(repeating: 0, count: Self.histogramSize)
        for place in range {
            var prefix = list[place].prefix
            for byte in 0..<8 {
                histogram[byte << 8 | Int(prefix & 255)] += 1
                prefix >>= 8
            }
        }
        var isInSpare = false
        for byte in 0..<8 {
            let counts = histogram + byte << 8
            let first = Int(list[range.lowerBound].prefix >> UInt64(8 * byte) & 255)
            if Int(counts[first]) == range.count { continue }
            var sum = UInt32(range.lowerBound)
            for value in 0..<256 {
                let count = counts[value]
                counts[value] = sum
                sum += count
            }
            let (source, target) = isInSpare ? (spare, list) : (list, spare)
            for place in range {
                let value = Int(source[place].prefix >> UInt64(8 * byte) & 255)
                target[Int(counts[value])] = source[place]
                counts[value] += 1
            }
            isInSpare.toggle()
        }
        guard isInSpare, let from = spare.baseAddress, let to = list.baseAddress else { return }
        (to + range.lowerBound).update(from: from + range.lowerBound, count: range.count)
    }
}
