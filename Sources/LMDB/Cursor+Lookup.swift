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
    /// - Complexity: about 0.2 us a key in a table that does not fit into caches, where one alone takes 1.5.
    package final func values(
        of keys: UnsafeBufferPointer<UInt64>, into values: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>
    ) throws {
        guard let first = keys.first else { return }
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
        for index in searches.indices { searches[index].page = root }
        for level in 1...depth {
            let isLeaf = level == depth
            for index in searches.indices { enter(&searches[index], isLeaf) }
            var goesOn = true
            while goesOn {
                goesOn = false
                for index in searches.indices where look(&searches[index]) { goesOn = true }
                guard goesOn else { break }
                for index in searches.indices { step(&searches[index], isLeaf) }
            }
            for index in searches.indices {
                if isLeaf { take(&searches[index]) } else { descend(&searches[index]) }
            }
        }
    }

    /// Begins with a page; a search whose page is none of the kind is over.
    @inline(__always)
    private func enter(_ search: inout Search, _ isLeaf: Bool) {
        guard let page = search.page else { return }
        let bytes = UnsafeRawBufferPointer(start: page, count: pageSize)
        let kind = bytes.number(UInt16.self, at: PageLayout.flagsPlace) & PageLayout.kindBits
        let lower = Int(bytes.number(UInt16.self, at: PageLayout.lowerPlace))
        guard kind == (isLeaf ? PageLayout.leafFlag : PageLayout.branchFlag), lower <= pageSize,
            lower >= PageLayout.headerSize + 2
        else { return search.page = nil }
        // A branch page's first entry has no key.
        search.low = isLeaf ? 0 : 1
        search.high = (lower - PageLayout.headerSize) / 2
    }

    /// Asks for the entry in the middle; false where there is none left.
    @inline(__always)
    private func look(_ search: inout Search) -> Bool {
        guard let page = search.page, search.low < search.high else { return false }
        let middle = (search.low &+ search.high) &>> 1
        let slot = PageLayout.headerSize &+ 2 &* middle
        search.place = Int(page.loadUnaligned(fromByteOffset: slot, as: UInt16.self))
        clmdb_prefetch(page + search.place)
        return true
    }

    /// Compares with that entry.
    @inline(__always)
    private func step(_ search: inout Search, _ isLeaf: Bool) {
        guard let page = search.page, search.low < search.high else { return }
        guard search.place &+ PageLayout.entryHeaderSize &+ 8 <= pageSize,
            page.loadUnaligned(fromByteOffset: search.place &+ PageLayout.keySizePlace, as: UInt16.self) == 8
        else { return search.page = nil }
        let bytes = page.loadUnaligned(fromByteOffset: search.place &+ PageLayout.entryHeaderSize, as: UInt64.self)
        let key = UInt64(bigEndian: bytes)
        let middle = (search.low &+ search.high) &>> 1
        // In a leaf the first key that is not below ends up at `low`, in a branch the first that is above.
        if isLeaf ? key < search.key : key <= search.key { search.low = middle &+ 1 } else { search.high = middle }
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
