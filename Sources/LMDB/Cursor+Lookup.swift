import CLMDB
import Synchronization

extension Cursor {
    /// How many keys are looked up side by side.
    package static var lookupWidth: Int { 32 }

    /// The values under numbers in big-endian bytes, without an address for those that are not there.
    ///
    /// The searches go down the tree side by side, a step of each at a time, and ask for the memory of their next steps
    /// beforehand: a search of a large table waits for memory a dozen times, and so these wait together. (After S. Chen,
    /// A. Ailamaki, P. Gibbons, T. Mowry, "Improving Hash Join Performance through Prefetching", 2004: group
    /// prefetching.) In a write transaction, and where a page is not as expected, it is LMDB that searches.
    ///
    /// - Parameters:
    ///   - keys: at most `lookupWidth`.
    ///   - values: has room for as many.
    /// - Complexity: the steps of a search for each; what they wait for is shared (`strata-bench run --filter range`).
    package final func values(
        of keys: UnsafeBufferPointer<UInt64>, into values: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>
    ) throws {
        guard let first = keys.first else { return }
        if transaction.readsSparingly {
            for index in keys.indices {
                values[index] = try transaction.getSparingly(table, keys[index]) ?? Self.nothing
            }
            return
        }
        values[0] = try seek(to: first) ? value : Self.nothing
        guard keys.count > 1 else { return }
        try withUnsafeTemporaryAllocation(of: GroupSearch.Search.self, capacity: keys.count) { searches in
            for index in keys.indices { searches.initializeElement(at: index, to: .init(key: keys[index])) }
            // The first search has left its way through the tree in the cursor.
            if !transaction.isWriting, let stack = CursorStack(active), let root = stack.page(0) {
                GroupSearch(searches, bounds).run(from: root, depth: stack.depth)
            }
            for index in keys.indices.dropFirst() {
                switch searches[index].outcome {
                case .found: values[index] = searches[index].value
                case .absent: values[index] = Self.nothing
                case .unknown: values[index] = try seek(to: keys[index]) ? value : Self.nothing
                }
            }
        }
    }

    private static var nothing: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}

/// Searches for several keys of eight bytes, each in the same phase as the others.
private struct GroupSearch {
    enum Outcome {
        case found, absent, unknown
    }

    struct Search {
        /// As a number that orders as the bytes do.
        let key: UInt64
        var page = UnsafeRawPointer(bitPattern: 1)
        /// The entries of the page among which the search goes on.
        var low = 0
        var high = 0
        /// Where the entry in the middle stands in the page.
        var place = 0
        /// Unknown as long as the search goes on.
        var outcome = Outcome.unknown
        var value = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    private let searches: UnsafeMutableBufferPointer<Search>
    private let bounds: MapBounds
    private let pageSize: Int

    init(_ searches: UnsafeMutableBufferPointer<Search>, _ bounds: MapBounds) {
        self.searches = searches
        self.bounds = bounds
        pageSize = 1 << Int(bounds.pageShift.load(ordering: .relaxed))
    }

    func run(from root: UnsafeRawPointer, depth: Int) {
        guard let first = searches.baseAddress else { return }
        let end = first + searches.count
        @inline(__always)
        func forEach(_ body: (UnsafeMutablePointer<Search>) -> Void) {
            var search = first
            while search < end {
                body(search)
                search += 1
            }
        }
        forEach { $0.pointee.page = root }
        for level in 1...depth {
            let isLeaf = level == depth
            forEach { enter($0, isLeaf) }
            var goesOn = true
            while goesOn {
                goesOn = false
                forEach { if $0.pointee.low < $0.pointee.high, step($0, isLeaf) { goesOn = true } }
            }
            forEach { if isLeaf { take(&$0.pointee) } else { descend(&$0.pointee) } }
        }
    }

    /// Begins with a page; a search whose page is none of the kind is over.
    @inline(__always)
    private func enter(_ search: UnsafeMutablePointer<Search>, _ isLeaf: Bool) {
        (search.pointee.low, search.pointee.high) = (0, 0)
        guard let page = search.pointee.page else { return }
        let kind = page.loadUnaligned(fromByteOffset: PageLayout.flagsPlace, as: UInt16.self) & PageLayout.kindBits
        let lower = Int(page.loadUnaligned(fromByteOffset: PageLayout.lowerPlace, as: UInt16.self))
        guard kind == (isLeaf ? PageLayout.leafFlag : PageLayout.branchFlag), lower <= pageSize,
            lower >= PageLayout.headerSize + 2
        else { return search.pointee.page = nil }
        // A branch page's first entry has no key.
        search.pointee.low = isLeaf ? 0 : 1
        search.pointee.high = (lower - PageLayout.headerSize) / 2
        if search.pointee.low < search.pointee.high { lookAhead(search, page) }
    }

    /// Asks for the entry in the middle.
    @inline(__always)
    private func lookAhead(_ search: UnsafeMutablePointer<Search>, _ page: UnsafeRawPointer) {
        let middle = (search.pointee.low &+ search.pointee.high) &>> 1
        let slot = PageLayout.headerSize &+ 2 &* middle
        search.pointee.place = Int(page.loadUnaligned(fromByteOffset: slot, as: UInt16.self))
        clmdb_prefetch(page + search.pointee.place)
    }

    /// Compares with the entry in the middle, and asks for the next; false where there is none left.
    @inline(__always)
    private func step(_ search: UnsafeMutablePointer<Search>, _ isLeaf: Bool) -> Bool {
        let (low, high, place) = (search.pointee.low, search.pointee.high, search.pointee.place)
        guard let page = search.pointee.page, place &+ PageLayout.entryHeaderSize &+ 8 <= pageSize,
            page.loadUnaligned(fromByteOffset: place &+ PageLayout.keySizePlace, as: UInt16.self) == 8
        else {
            (search.pointee.page, search.pointee.high) = (nil, low)
            return false
        }
        let bytes = page.loadUnaligned(fromByteOffset: place &+ PageLayout.entryHeaderSize, as: UInt64.self)
        let key = UInt64(bigEndian: bytes)
        let middle = (low &+ high) &>> 1
        // In a leaf the first key that is not below ends up at `low`, in a branch the first that is above.
        let isBelow = key < search.pointee.key || !isLeaf && key == search.pointee.key
        search.pointee.low = isBelow ? middle &+ 1 : low
        search.pointee.high = isBelow ? high : middle
        guard search.pointee.low < search.pointee.high else { return false }
        lookAhead(search, page)
        return true
    }

    /// Goes to the page that the entry before `low` leads to.
    @inline(__always)
    private func descend(_ search: inout Search) {
        guard let page = search.page else { return }
        let slot = PageLayout.headerSize &+ 2 &* (search.low &- 1)
        let place = Int(page.loadUnaligned(fromByteOffset: slot, as: UInt16.self))
        search.page = nil
        guard place &+ PageLayout.entryHeaderSize <= pageSize else { return }
        let number = page.loadUnaligned(fromByteOffset: place, as: UInt64.self) & 0xFFFF_FFFF_FFFF
        let address = bounds.lower.load(ordering: .relaxed) &+ UInt(number) &* UInt(pageSize)
        guard number < 1 << 40, let child = UnsafeMutableRawPointer(bitPattern: address),
            bounds.contain(child, count: pageSize)
        else { return }
        clmdb_prefetch(child)
        clmdb_prefetch(child + 64)
        search.page = UnsafeRawPointer(child)
    }

    /// Ends with the entry at `low`, if it is the key's.
    @inline(__always)
    private func take(_ search: inout Search) {
        guard let page = search.page else { return }
        let bytes = UnsafeRawBufferPointer(start: page, count: pageSize)
        let count = (Int(bytes.number(UInt16.self, at: PageLayout.lowerPlace)) - PageLayout.headerSize) / 2
        guard search.low < count else { return search.outcome = .absent }
        guard let (key, value) = LeafPage.record(search.low, of: bytes), key.count == 8 else { return }
        guard UInt64(bigEndian: key.number(UInt64.self, at: 0)) == search.key else { return search.outcome = .absent }
        search.outcome = .found
        search.value = value
        if let start = value.baseAddress {
            clmdb_prefetch(start)
            clmdb_prefetch(start + 64)
        }
    }
}
