import CLMDB

/// The result of a search for a number in the pages of a tree.
enum SearchOutcome {
    /// The value.
    case found(UnsafeRawBufferPointer)
    /// The tree has no such key.
    case absent
    /// A page was not as expected: LMDB has to search.
    case unknown
}

// Searches in pages of tables whose keys are numbers of eight big-endian bytes.
extension Page {
    /// The key of the entry at an offset; nil if it does not have eight bytes, or lies outside the page.
    @inline(__always)
    func number(at offset: Int) -> UInt64? {
        guard offset &+ Self.entryHeaderSize &+ 8 <= size,
            start.loadUnaligned(fromByteOffset: offset &+ 6, as: UInt16.self) == 8
        else { return nil }
        return UInt64(bigEndian: start.loadUnaligned(fromByteOffset: offset &+ Self.entryHeaderSize, as: UInt64.self))
    }

    /// Returns the number of entries whose keys are not above the one searched for; nil if the search meets a key that
    /// is no number.
    @inline(__always)
    func rank(_ search: inout InterpolationSearch, _ kind: Kind) -> Int? {
        var walk = search.walk(through: count, kind)
        while walk.goesOn {
            guard let key = number(at: offset(of: walk.probe)) else { return nil }
            walk.compare(key, &search)
        }
        return walk.low
    }

    /// The result of a search that ends at a rank of a leaf page.
    @inline(__always)
    func outcome(at rank: Int, _ search: InterpolationSearch) -> SearchOutcome {
        guard rank > 0, search.lower == search.key else { return .absent }
        // A long value has pages of its own.
        guard let record = record(rank &- 1), record.key.count == 8,
            UInt64(bigEndian: record.key.loadUnaligned(as: UInt64.self)) == search.key
        else { return .unknown }
        return .found(record.value)
    }

    /// Prefetches what a search will look at in a page: its head, and the entry of the key, as it would lie if keys
    /// were evenly spaced and entries of one size had been appended, as those of rows are. A wrong guess costs little.
    ///
    /// - Parameter count: about how many entries a branch page has; a leaf page has one for each number between the
    ///   nearest keys.
    @inline(__always)
    static func prefetch(
        _ bytes: UnsafeRawBufferPointer, _ search: InterpolationSearch, _ kind: Kind, branchCount count: Int
    ) {
        guard let start = bytes.baseAddress else { return }
        clmdb_prefetch(start)
        guard let lower = search.lower, let upper = search.upper else { return }
        let width = upper &- lower
        let count = kind == .leaf ? Int(clamping: width) : count
        guard count > 0, count <= bytes.count / 8 else { return }
        let index =
            kind == .leaf
            ? Int(search.key &- lower) : Int(Double(search.key &- lower) / Double(width) * Double(count))
        clmdb_prefetch(start + (headerSize &+ 2 &* index))
        // LMDB fills a page from its end on.
        let size = kind == .leaf ? (bytes.count &- headerSize) / count &- 2 : entryHeaderSize &+ 8
        let offset = bytes.count &- size &* (index &+ 1)
        let end = min(bytes.count, offset &+ size &+ 64)
        var line = max(0, offset &- 64)
        while line < end {
            clmdb_prefetch(start + line)
            line &+= 64
        }
    }
}
