// Looks up the values under many numbers at once.

import CLMDB
import Synchronization

extension Cursor {
    /// The number of keys that are looked up side by side.
    package static var lookupWidth: Int { SnapshotPages.groupWidth }

    /// Looks up the values under numbers in big-endian bytes; one that is not there has no base address.
    ///
    /// The searches go down the tree side by side, one step of each at a time, and prefetch what their next steps read:
    /// a search of a large table has a dozen cache misses, and so those of all searches overlap. (After S. Chen, A.
    /// Ailamaki, P. Gibbons, T. Mowry, "Improving Hash Join Performance through Prefetching", 2004: group prefetching.)
    /// In a write transaction, and where a page is not as expected, LMDB searches.
    ///
    /// - Parameters:
    ///   - keys: at most `lookupWidth`.
    ///   - values: has room for as many.
    /// - Complexity: the steps of a search for each; their cache misses overlap (`strata-bench run --filter range`).
    package final func values(
        of keys: UnsafeBufferPointer<UInt64>, into values: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>
    ) throws {
        if keys.count == 1 || transaction.readsSparingly {
            for index in keys.indices { values[index] = try transaction.find(table, keys[index]) ?? Self.nothing }
            return
        }
        try withUnsafeTemporaryAllocation(of: GroupSearch.Search.self, capacity: keys.count) { searches in
            for index in keys.indices { searches.initializeElement(at: index, to: .init(key: keys[index])) }
            if !usesLMDB { GroupSearch(searches, pages).run(through: try pages.tree(of: table)) }
            for index in keys.indices {
                switch searches[index].outcome {
                case .found(let value): values[index] = value
                case .absent: values[index] = Self.nothing
                case .unknown: values[index] = try seek(to: keys[index]) ? value : Self.nothing
                }
            }
        }
    }

    private static var nothing: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}

/// Several searches for keys of eight bytes, all in the same phase.
private struct GroupSearch {
    struct Search {
        var interpolation: InterpolationSearch
        /// The number of the page that comes next; nil where there is none.
        var number: UInt64?
        /// The page that is looked at; nil where it is of another kind.
        var page: Page?
        var walk = InterpolationSearch.Walk.over
        /// The offset in the page of the entry that is looked at next.
        var offset = 0
        /// `unknown` while the search goes on.
        var outcome = SearchOutcome.unknown

        init(key: UInt64) { interpolation = InterpolationSearch(key) }
    }

    private let searches: UnsafeMutableBufferPointer<Search>
    private let pages: SnapshotPages

    init(_ searches: UnsafeMutableBufferPointer<Search>, _ pages: SnapshotPages) {
        self.searches = searches
        self.pages = pages
    }

    func run(through tree: TreeRecord) {
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
        if tree.depth == 0 { return forEach { $0.pointee.outcome = .absent } }
        let depth = Int(tree.depth)
        let branchCount = tree.branchCount
        forEach { $0.pointee.number = tree.root }
        for level in 1...depth {
            let isLeaf = level == depth
            let kind: Page.Kind = isLeaf ? .leaf : .branch
            forEach { enter(&$0.pointee, kind) }
            var goesOn = true
            while goesOn {
                goesOn = false
                forEach { if $0.pointee.walk.goesOn, step(&$0.pointee) { goesOn = true } }
            }
            if isLeaf {
                forEach { take(&$0.pointee) }
            } else {
                let below: Page.Kind = level &+ 1 == depth ? .leaf : .branch
                forEach { descend(&$0.pointee, to: below, branchCount) }
            }
        }
    }

    /// Begins with a page; a search whose page is of another kind is over.
    @inline(__always)
    private func enter(_ search: inout Search, _ kind: Page.Kind) {
        search.page = search.number.flatMap { pages.page($0) }.flatMap { Page($0, kind) }
        search.walk = .over
        guard let page = search.page else { return }
        search.walk = search.interpolation.walk(through: page.count, kind)
        if search.walk.goesOn { lookAhead(&search, page) }
    }

    /// Prefetches the entry that is looked at next.
    @inline(__always)
    private func lookAhead(_ search: inout Search, _ page: Page) {
        search.offset = page.offset(of: search.walk.probe)
        if search.offset < page.size { clmdb_prefetch(page.start + search.offset) }
    }

    /// Looks at an entry, and prefetches the next; false if none is left.
    @inline(__always)
    private func step(_ search: inout Search) -> Bool {
        guard let page = search.page, let key = page.number(at: search.offset) else {
            (search.page, search.walk) = (nil, .over)
            return false
        }
        search.walk.compare(key, &search.interpolation)
        guard search.walk.goesOn else { return false }
        lookAhead(&search, page)
        return true
    }

    /// Goes to the page where the key belongs.
    @inline(__always)
    private func descend(_ search: inout Search, to kind: Page.Kind, _ branchCount: Int) {
        search.number = search.page?.child(search.walk.low &- 1)
        guard let number = search.number, let bytes = pages.addressOfPage(number) else { return }
        pages.pageGuard.prefetch(number)
        Page.prefetch(bytes, search.interpolation, kind, branchCount: branchCount)
    }

    /// Ends a search with the entry that it has come to, if that has the key.
    @inline(__always)
    private func take(_ search: inout Search) {
        guard let page = search.page else { return }
        search.outcome = page.outcome(at: search.walk.low, search.interpolation)
        if case .found(let value) = search.outcome, let start = value.baseAddress {
            clmdb_prefetch(start)
            clmdb_prefetch(start + 64)
        }
    }
}
