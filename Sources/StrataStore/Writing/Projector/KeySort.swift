import LMDB

/// Sorts the writes of a batch by key; writes of the same key keep their order.
///
/// A radix sort that takes eight bytes of the keys at a time, from the front (after P. M. McIlroy, K. Bostic and M. D.
/// McIlroy, "Engineering Radix Sort", 1993): writes are sorted by one word of their keys, and runs with the same word
/// by the next word. So a key's bytes are fetched once for eight of them instead of once for each comparison. The keys
/// of an index begin with the same eight bytes or more, and comparing them was the most expensive part of a large save.
struct KeySort: ~Copyable {
    /// Fewer writes are sorted by comparing.
    private static let fewest = 48
    private static let histogramSize = 8 * 256
    private let list: UnsafeMutableBufferPointer<WriteBatch.PendingWrite>
    /// The base of the keys' offsets.
    private let keys: UnsafeRawPointer
    private let spare: UnsafeMutableBufferPointer<WriteBatch.PendingWrite>
    /// The number of times that each value of a byte occurs, for each byte of a word.
    private let histogram: UnsafeMutablePointer<UInt32>

    /// Memory reused for one list after another, because the system faults in each new page.
    struct Scratch: ~Copyable {
        fileprivate var spare = UnsafeMutableBufferPointer<WriteBatch.PendingWrite>(start: nil, count: 0)
        // A raw pointer, because Swift 6.3 cannot compile the in-place change through a buffer pointer for the thread
        // sanitizer.
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
    ///   - list: must outlive this value; each `prefix` is the first word of its key, as made by `word`.
    ///   - keys: the base of the keys' offsets.
    ///   - scratch: used by this value alone.
    init(
        _ list: UnsafeMutableBufferPointer<WriteBatch.PendingWrite>, keys: UnsafeRawPointer, _ scratch: inout Scratch
    ) {
        self.list = list
        self.keys = keys
        if list.count >= Self.fewest { scratch.reserve(list.count) }
        spare = scratch.spare
        histogram = scratch.histogram
    }

    /// Eight bytes of a key as a number with the same order; bytes after the key's end are zero.
    static func word(of key: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        guard key.count < offset + 8 else {
            return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        let rest = key.count - offset
        if rest <= 0 { return 0 }
        if key.count >= 8 {
            // Reads the last eight bytes and shifts out those before `offset`.
            let last = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: key.count - 8, as: UInt64.self))
            return last << UInt64(8 * (8 - rest))
        }
        var word: UInt64 = 0
        for byte in key[offset...] { word = word << 8 | UInt64(byte) }
        return word << UInt64(8 * (8 - rest))
    }

    /// Sorts the list. Afterwards each `prefix` is some word of its key, the same one for equal keys.
    consuming func run() {
        if !isInOrder { sort(0..<list.count, from: 0) }
    }

    private var isInOrder: Bool {
        for index in list.indices.dropFirst() where list[index - 1].prefix >= list[index].prefix { return false }
        return true
    }

    /// Sorts a range of keys that agree before `offset`; the prefixes are the words at `offset`.
    private borrowing func sort(_ range: Range<Int>, from offset: Int) {
        guard range.count >= Self.fewest else { return sortFew(range) }
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
        for index in range {
            let operation = list[index]
            list[index].prefix = Self.word(of: key(operation), at: offset)
            longest = max(longest, Int(operation.keySize))
        }
        if longest > offset { return sort(range, from: offset) }
        // All bytes agree, but shorter keys were padded; they come first.
        var equal = UnsafeMutableBufferPointer(rebasing: list[range])
        equal.sort { ($0.keySize, $0.keyOffset) < ($1.keySize, $1.keyOffset) }
    }

    private borrowing func sortFew(_ range: Range<Int>) {
        insert(range) { left, right in
            if left.prefix != right.prefix { return left.prefix < right.prefix }
            return key(left).compare(with: key(right)) < 0
        }
    }

    private borrowing func key(_ operation: WriteBatch.PendingWrite) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: keys + Int(operation.keyOffset), count: Int(operation.keySize))
    }

    /// Insertion sort: stable, and fast for few or nearly sorted elements.
    private borrowing func insert(
        _ range: Range<Int>, _ isBefore: (WriteBatch.PendingWrite, WriteBatch.PendingWrite) -> Bool
    ) {
        for index in range.dropFirst() {
            let moved = list[index]
            var hole = index
            while hole > range.lowerBound, isBefore(moved, list[hole - 1]) {
                list[hole] = list[hole - 1]
                hole -= 1
            }
            if hole != index { list[hole] = moved }
        }
    }

    /// Sorts by the prefix alone, keeping the order of equal ones: one pass for each byte in which they differ, the
    /// last byte first.
    private borrowing func orderByPrefix(_ range: Range<Int>) {
        histogram.initialize(repeating: 0, count: Self.histogramSize)
        for index in range {
            var prefix = list[index].prefix
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
            for index in range {
                let value = Int(source[index].prefix >> UInt64(8 * byte) & 255)
                target[Int(counts[value])] = source[index]
                counts[value] += 1
            }
            isInSpare.toggle()
        }
        guard isInSpare, let from = spare.baseAddress, let to = list.baseAddress else { return }
        (to + range.lowerBound).update(from: from + range.lowerBound, count: range.count)
    }
}
