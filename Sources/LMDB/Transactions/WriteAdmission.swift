/// Admits the pages that LMDB will meet in a write transaction, before it meets them.
///
/// LMDB copies each page before it changes it, so each page that it has not changed is one of the commit that the
/// transaction began at. It is reached there by the same keys, or by keys of pages beside it that LMDB has merged with
/// it. So the way to a key in that commit has every unchanged page on LMDB's way to the key, once those pages are
/// admitted that LMDB may read to merge two (`admitNeighbours`).
///
/// The pages of the commit stay as they are while the transaction is open, so the keys at the ends of a leaf are
/// remembered where they lie.
final class WriteAdmission {
    /// The leaf of a table that was admitted last.
    private struct Leaf {
        var isKnown = false
        /// Whether the leaf behind it was admitted too.
        var isNextAdmitted = false
        /// The entries whose keys it lies between, in the pages above.
        var lower: UnsafeRawPointer?
        var upper: UnsafeRawPointer?
        /// The page, if there are values with pages of their own.
        var pageWithLongValues: Page?

        @inline(__always)
        func holds(_ key: SoughtKey) -> Bool {
            guard isKnown else { return false }
            if let lower, key.compare(entry: lower) > 0 { return false }
            if let upper, key.compare(entry: upper) <= 0 { return false }
            return true
        }
    }

    private let pages: SnapshotPages
    /// By table.
    private let leaves: UnsafeMutablePointer<Leaf>
    private let tableCount: Int
    /// How many pages of the tree of free lists were looked at.
    private(set) var freeListPageCount = 0
    /// Whether the sums of pages are of the commit that the transaction began at, so that they distinguish its pages
    /// from new ones.
    private lazy var isSealed = pages.areSealed

    /// - Parameter pages: of the commit that the transaction begins at.
    init(_ pages: SnapshotPages) {
        self.pages = pages
        tableCount = pages.tableCount
        leaves = .allocate(capacity: tableCount)
        leaves.initialize(repeating: Leaf(), count: tableCount)
    }

    deinit { leaves.deallocate() }

    /// Admits nothing more of a table that was dropped: LMDB meets none of its old pages.
    func forget(_ table: Table) {
        guard Int(table.handle) < tableCount else { return }
        leaves[Int(table.handle)] = Leaf()
        pages.forgetTree(of: table)
    }

    // MARK: Keys

    /// Admits the way to a key, and the pages of its value.
    ///
    /// - Complexity: two comparisons where the key lies in the leaf of the key before it, else a search.
    @inline(__always)
    func admit(_ table: Table, _ key: UnsafeRawBufferPointer) throws(LMDBError) {
        guard key.count > 0, Int(table.handle) < tableCount else { return }
        let sought = SoughtKey(key)
        let leaf = leaves + Int(table.handle)
        if !leaf.pointee.holds(sought) { try descend(table, to: .key(sought)) }
        if let page = leaf.pointee.pageWithLongValues { try admitLongValue(sought, in: page) }
    }

    /// Admits the way to a number in big-endian bytes.
    @inline(__always)
    func admit(_ table: Table, _ key: UInt64) throws(LMDBError) {
        let bytes = key.bigEndian
        try withUnsafeBytes(of: bytes) { bytes throws(LMDBError) in try admit(table, bytes) }
    }

    /// Admits the last leaf, unless it was admitted last. For keys that are to come behind all others.
    @inline(__always)
    func admitLast(of table: Table) throws(LMDBError) {
        if Int(table.handle) < tableCount, leaves[Int(table.handle)].upper != nil { try walk(table, to: .last) }
    }

    /// Admits the way to a key, and to the leaf behind it.
    func admit(_ table: Table, atOrAfter key: UnsafeRawBufferPointer) throws(LMDBError) {
        try admit(table, key)
        guard key.count > 0, Int(table.handle) < tableCount else { return }
        let leaf = leaves[Int(table.handle)]
        guard !leaf.isNextAdmitted, let upper = leaf.upper else { return }
        try walk(table, to: .key(SoughtKey(entry: upper)))
        leaves[Int(table.handle)].isNextAdmitted = true
    }

    /// Admits the way to a leaf.
    func admit(_ table: Table, _ target: TreeTarget) throws(LMDBError) { try walk(table, to: target) }

    /// Whether a table had values with pages of their own when the transaction began.
    @inline(__always)
    func hasLongValues(_ table: Table) throws(LMDBError) -> Bool { try pages.tree(of: table).longValuePages > 0 }

    /// Admits the leaves before and behind one, by the numbers that a page above them has now.
    ///
    /// - Parameter index: of the leaf's entry in that page.
    /// - Returns: false if the pages that LMDB has changed do not follow from numbers.
    func admitLeaves(of table: Table, below page: Page, beside index: Int) throws(LMDBError) -> Bool {
        guard isSealed else { return false }
        if index > 0, try !pages.admitUnlessNew(page.admittedChild(index - 1), .leaf, .init(of: table)) { return false }
        guard index + 1 < page.count else { return true }
        return try pages.admitUnlessNew(page.admittedChild(index + 1), .leaf, .init(of: table))
    }

    private func admitLongValue(_ key: SoughtKey, in page: Page) throws(LMDBError) {
        let (index, isFound) = page.leafIndex(of: key)
        if isFound { _ = try pages.value(of: page.entryStart(index)) }
    }

    @inline(never)
    private func descend(_ table: Table, to target: TreeTarget) throws(LMDBError) {
        var leaf = Leaf()
        let page = try walk(table, to: target) { above, index in
            if index > 0 { leaf.lower = above.entryStart(index) }
            if index + 1 < above.count { leaf.upper = above.entryStart(index + 1) }
        }
        leaf.isKnown = true
        if try pages.tree(of: table).longValuePages > 0 { leaf.pageWithLongValues = page }
        leaves[Int(table.handle)] = leaf
    }

    /// Goes from the root to a leaf; nil in an empty table.
    @discardableResult
    private func walk(
        _ table: Table, to target: TreeTarget, _ note: (Page, Int) -> Void = { _, _ in }
    ) throws(LMDBError) -> Page? {
        let tree = try pages.tree(of: table)
        guard tree.depth > 0 else { return nil }
        let contents = PageGuard.Contents(of: table)
        var (target, number) = (target, tree.root)
        for _ in 1..<Int(tree.depth) {
            let page = try pages.page(number, .branch, in: contents)
            let index = target.index(in: page)
            note(page, index)
            number = page.admittedChild(index)
        }
        return try pages.page(number, .leaf, in: contents)
    }

    // MARK: Whole trees

    /// Admits the pages of a table that LMDB reads to clear it: all branch pages, and the leaves if their entries lead
    /// to other pages.
    func admitAll(of table: Table) throws(LMDBError) {
        let tree = try pages.tree(of: table)
        guard tree.depth > 0 else { return }
        try walk(table, to: .first)
        try admitAll(below: tree.root, levels: Int(tree.depth), tree, PageGuard.Contents(of: table))
    }

    private func admitAll(
        below number: UInt64, levels: Int, _ tree: TreeRecord, _ contents: PageGuard.Contents
    ) throws(LMDBError) {
        if levels == 1, contents == .records, tree.longValuePages == 0 { return }
        guard levels == 1 else {
            let page = try pages.page(number, .branch, in: contents)
            for index in 0..<page.count {
                try admitAll(below: page.admittedChild(index), levels: levels - 1, tree, contents)
            }
            return
        }
        let page = try pages.page(number, .leaf, in: contents)
        guard contents != .tables else { return }
        // Values inside a page that was admitted by its sum need no other check.
        let isSummed = pages.areSummed(page.bytes)
        if isSummed, tree.longValuePages == 0 { return }
        for index in 0..<page.count {
            if isSummed, let entry = page.entry(index), !entry.hasLongValue { continue }
            guard page.key(index) != nil else { continue }
            _ = try pages.value(of: page.entryStart(index))
        }
    }

    // MARK: Trees of LMDB itself

    /// Admits the trees that LMDB itself changes: the table of tables, and the lists of free pages, each of which must
    /// be one.
    ///
    /// - Complexity: O(n) in the pages of the lists of free pages that the commits since the last transaction of this
    ///   process have written. A reader that stays open makes these lists as long as it likes.
    func admitTreesOfLMDB() throws(LMDBError) {
        try admitAll(of: Table(handle: 1))
        let tree = try pages.tree(of: Table(handle: 0))
        guard tree.depth > 0 else { return }
        pages.boundRemembered(to: tree)
        _ = try admitFreeLists(below: tree.root, levels: Int(tree.depth))
    }

    /// - Returns: whether all pages were admitted by their sums. Such a tree is remembered.
    private func admitFreeLists(below number: UInt64, levels: Int) throws(LMDBError) -> Bool {
        if pages.isRememberedWhole(number) { return true }
        freeListPageCount += 1
        let page = try pages.page(number, levels == 1 ? .leaf : .branch, in: .freeLists)
        var areSummed = pages.areSummed(page.bytes)
        for index in 0..<page.count {
            if levels > 1 {
                if try !admitFreeLists(below: page.admittedChild(index), levels: levels - 1) { areSummed = false }
            } else if try !admitFreeList(index, of: page, number) {
                areSummed = false
            }
        }
        if areSummed { pages.rememberWhole(number) }
        return areSummed
    }

    /// - Returns: whether the pages of the list were admitted by their sums.
    private func admitFreeList(_ index: Int, of page: Page, _ number: UInt64) throws(LMDBError) -> Bool {
        guard let key = page.key(index) else { return true }
        let value = try pages.value(of: page.entryStart(index))
        if pages.areSummed(value) { return true }
        guard FreeList(key: key, value: value)?.isPlausible(pageCount: pages.pageCount) ?? false else {
            throw pages.damaged(number, "list \(index) of free pages cannot be one")
        }
        return false
    }
}

extension FreeList {
    /// Whether the pages are of the file, each named once, and the highest first.
    ///
    /// - Parameter pageCount: how many pages the file has.
    func isPlausible(pageCount: UInt64) -> Bool {
        var previous = pageCount
        for index in 0..<count {
            let page = self[index]
            guard page >= 2, page < previous else { return false }
            previous = page
        }
        return true
    }
}
