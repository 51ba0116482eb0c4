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
        if keys.count == 1 || transaction.readsSparingly {
            for index in keys.indices { values[index] = try transaction.find(table, keys[index]) ?? Self.nothing }
            return
        }
        try withUnsafeTemporaryAllocation(of: GroupSearch.Search.self, capacity: keys.count) { searches in
            for index in keys.indices { searches.initializeElement(at: index, to: .init(key: keys[index])) }
            if !transaction.isWriting {
                let search = transaction.numberSearch
                if let tree = search.tree(of: table) { GroupSearch(searches, search).run(through: tree) }
            }
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

/// Searches for several keys of eight bytes, each in the same phase as the others.
private struct GroupSearch {
    struct Search {
        var span: KeySpan
        /// The page that comes next.
        var bytes: UnsafeRawBufferPointer?
        /// The page that is looked at; nil where it is none of the kind.
        var page: NumberPage?
        var walk = KeySpan.Walk.over
        /// Where the entry that is looked at next stands in the page.
        var place = 0
        /// Unknown as long as the search goes on.
        var outcome = NumberSearch.Outcome.unknown

        init(key: UInt64) { span = KeySpan(key) }
    }

    private let searches: UnsafeMutableBufferPointer<Search>
    private let pages: NumberSearch

    init(_ searches: UnsafeMutableBufferPointer<Search>, _ pages: NumberSearch) {
        self.searches = searches
        self.pages = pages
    }

    func run(through tree: DataFileHeader.Tree) {
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
        let root = pages.page(tree.root)
        forEach { $0.pointee.bytes = root }
        for level in 1...depth {
            let isLeaf = level == depth
            forEach { enter(&$0.pointee, isLeaf) }
            var goesOn = true
            while goesOn {
                goesOn = false
                forEach { if $0.pointee.walk.goesOn, step(&$0.pointee) { goesOn = true } }
            }
            if isLeaf {
                forEach { take(&$0.pointee) }
            } else {
                forEach { descend(&$0.pointee, toLeaf: level &+ 1 == depth, branchCount) }
            }
        }
    }

    /// Begins with a page; a search whose page is none of the kind is over.
    @inline(__always)
    private func enter(_ search: inout Search, _ isLeaf: Bool) {
        search.page = search.bytes.flatMap { NumberPage($0, isLeaf: isLeaf) }
        search.walk = .over
        guard let page = search.page else { return }
        search.walk = search.span.walk(through: page.count, isLeaf: isLeaf)
        if search.walk.goesOn { lookAhead(&search, page) }
    }

    /// Asks for the entry that is looked at next.
    @inline(__always)
    private func lookAhead(_ search: inout Search, _ page: NumberPage) {
        search.place = page.place(search.walk.probe)
        if search.place < page.bytes.count, let start = page.bytes.baseAddress { clmdb_prefetch(start + search.place) }
    }

    /// Looks at an entry, and asks for the next; false where there is none left.
    @inline(__always)
    private func step(_ search: inout Search) -> Bool {
        guard let page = search.page, let key = page.key(at: search.place) else {
            (search.page, search.walk) = (nil, .over)
            return false
        }
        search.walk.compare(key, &search.span)
        guard search.walk.goesOn else { return false }
        lookAhead(&search, page)
        return true
    }

    /// Goes to the page where the key belongs.
    @inline(__always)
    private func descend(_ search: inout Search, toLeaf isLeaf: Bool, _ branchCount: Int) {
        search.bytes = search.page?.child(search.walk.low &- 1).flatMap(pages.page)
        guard let bytes = search.bytes else { return }
        NumberPage.prefetch(bytes, search.span, isLeaf: isLeaf, branchCount: branchCount)
    }

    /// Ends with the entry that the search has come to, if it is the key's.
    @inline(__always)
    private func take(_ search: inout Search) {
        guard let page = search.page else { return }
        search.outcome = page.record(at: search.walk.low, search.span)
        if case .found(let value) = search.outcome, let start = value.baseAddress {
            clmdb_prefetch(start)
            clmdb_prefetch(start + 64)
        }
    }
}
