#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A key that is searched for in pages that were admitted (`PageGuard`): entries are not checked again.
struct SoughtKey {
    private let bytes: UnsafeRawBufferPointer
    /// The first eight bytes as a number, most significant first; 0 for a shorter key.
    private let prefix: UInt64

    /// - Parameter bytes: not empty; must outlive the search.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        prefix = bytes.count >= 8 ? UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) : 0
    }

    /// The key of an entry, which must have one.
    init(entry: UnsafeRawPointer) {
        let count = Int(entry.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
        self.init(UnsafeRawBufferPointer(start: entry + Page.entryHeaderSize, count: count))
    }

    /// Negative, zero or positive, as the key of an entry compares with this one.
    @inline(__always)
    func compare(entry: UnsafeRawPointer) -> Int {
        let count = Int(entry.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
        let key = entry + Page.entryHeaderSize
        guard count >= 8, bytes.count >= 8 else { return compare(key, count, from: 0) }
        let word = UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
        if word != prefix { return word < prefix ? -1 : 1 }
        return count == 8 && bytes.count == 8 ? 0 : compare(key, count, from: 8)
    }

    @inline(never)
    private func compare(_ key: UnsafeRawPointer, _ count: Int, from start: Int) -> Int {
        UnsafeRawBufferPointer(start: key + start, count: count - start)
            .compare(with: UnsafeRawBufferPointer(rebasing: bytes[start...]))
    }
}

// Reads pages that were admitted, without checking their entries again.
extension Page {
    @inline(__always)
    init(admittedLeaf bytes: UnsafeRawBufferPointer, _ count: Int) {
        self.bytes = bytes
        self.count = count
    }

    /// Returns the start of an entry.
    @inline(__always)
    func entryStart(_ index: Int) -> UnsafeRawPointer { start + offset(of: index) }

    /// The number of the page below that an entry of a branch page leads to.
    @inline(__always)
    func admittedChild(_ index: Int) -> UInt64 { entryStart(index).loadUnaligned(as: UInt64.self) & 0xFFFF_FFFF_FFFF }

    /// The index of the entry of a branch page below which a key belongs.
    func branchIndex(of key: SoughtKey) -> Int {
        // The first entry has no key.
        var (low, high) = (1, count)
        while low < high {
            let middle = (low &+ high) &>> 1
            if key.compare(entry: entryStart(middle)) <= 0 { low = middle &+ 1 } else { high = middle }
        }
        return low &- 1
    }

    /// The index of the first entry of a leaf page whose key is not below a key, and whether it has that key.
    func leafIndex(of key: SoughtKey) -> (index: Int, isFound: Bool) {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low &+ high) &>> 1
            let order = key.compare(entry: entryStart(middle))
            if order == 0 { return (middle, true) }
            if order < 0 { low = middle &+ 1 } else { high = middle }
        }
        return (low, false)
    }
}
