/// Checks every page of a commit's trees, and how they hang together, with plain reads only: headers and numbers,
/// entries side by side, keys in order and within the bounds that the pages above give them, and as many pages and
/// entries as each tree's record says.
///
/// LMDB trusts every page: a damaged one makes its copying without free pages write outside its memory.
struct TreeCheck {
    private enum Kind {
        case free, tables, table
    }

    private let file: PageCopies
    private let noteFreeList: (FreeList, UInt64) throws(PageDamage) -> Void
    private let scope: Scope
    /// The pages that the trees have led to: no page may be in two places.
    private(set) var reached: PageSet
    /// The number of pages above the current one.
    private var pagesAbove = 0
    /// The counts of the tree that is walked.
    private var counts = TreeCounts()
    private var shape: PageShape

    /// The pages that are checked.
    struct Scope {
        /// The names of tables whose pages are not looked at.
        var omitted: Set<String> = []
        /// Whether a page, by its number and bytes, is known to be another than the one that was written.
        var isOther: (UInt64, UnsafeRawBufferPointer) -> Bool = { _, _ in false }
    }

    /// Checks the tree of a commit's free lists, and calls `body` with each.
    ///
    /// - Parameter lastPage: the last that a tree may lead to.
    static func forEachFreeList(
        _ tree: TreeRecord, in file: PageCopies, lastPage: UInt64, _ body: @escaping (FreeList) -> Void
    ) throws(PageDamage) {
        var check = TreeCheck(file, lastPage: lastPage) { list, _ in body(list) }
        try check.visit(tree, nil, at: 0, .free)
    }

    /// - Parameters:
    ///   - lastPage: the last that a tree may lead to.
    ///   - noteFreeList: takes each free list and the number of the page that it is on.
    init(
        _ file: PageCopies, lastPage: UInt64, _ scope: Scope = Scope(),
        _ noteFreeList: @escaping (FreeList, UInt64) throws(PageDamage) -> Void
    ) {
        self.file = file
        self.scope = scope
        self.noteFreeList = noteFreeList
        reached = PageSet(through: lastPage)
        shape = PageShape(pageSize: file.pageSize)
    }

    /// Checks the trees of the commit of a meta page.
    ///
    /// - Parameters:
    ///   - bytes: the meta page.
    ///   - number: its number.
    mutating func check(_ bytes: UnsafeRawBufferPointer, _ number: UInt64) throws(PageDamage) {
        let meta = MetaPage(bytes)
        try visit(meta.free, TreeCounts(bytes, at: MetaPage.freeOffset), at: number, .free)
        try visit(meta.main, TreeCounts(bytes, at: MetaPage.mainOffset), at: number, .tables)
    }

    /// - Parameters:
    ///   - expected: the counts in the tree's record; nil if these are not compared.
    ///   - place: the page that has the record.
    private mutating func visit(
        _ tree: TreeRecord, _ expected: TreeCounts?, at place: UInt64, _ kind: Kind
    ) throws(PageDamage) {
        let outer = counts
        counts = TreeCounts()
        defer { counts = outer }
        guard (tree.root == TreeRecord.noPage) == (tree.depth == 0), tree.depth < TreeRecord.maximumDepth else {
            throw PageDamage(place, "a tree of depth \(tree.depth) with root \(tree.root)")
        }
        if tree.depth > 0 { try visit(tree.root, levels: Int(tree.depth), .none, kind) }
        guard let expected, expected != counts else { return }
        throw PageDamage(place, "a tree has \(counts); its record says \(expected)")
    }

    private mutating func visit(
        _ number: UInt64, levels: Int, _ bounds: KeyBounds, _ kind: Kind
    ) throws(PageDamage) {
        let isLeaf = levels == 1
        let pageKind = isLeaf ? Page.Kind.leaf : .branch
        let page = try Page(checking: try bytes(of: number), number: number, as: pageKind)
        guard page.count > 1 || isLeaf || kind == .free else { throw PageDamage(number, "it leads to one page only") }
        try shape.check(page, number, as: pageKind)
        try bounds.check(page, number, as: pageKind, areNumbers: kind == .free)
        counts.branchPages += isLeaf ? 0 : 1
        counts.leafPages += isLeaf ? 1 : 0
        counts.entries += isLeaf ? UInt64(page.count) : 0
        pagesAbove += 1
        defer { pagesAbove -= 1 }
        for index in 0..<page.count {
            guard let entry = page.entry(index) else { continue }
            if isLeaf {
                try visitValue(of: entry, in: page, number, kind)
            } else {
                try visit(entry.child, levels: levels - 1, bounds.below(index, of: page), kind)
            }
        }
    }

    private mutating func visitValue(
        of entry: Page.Entry, in page: Page, _ number: UInt64, _ kind: Kind
    ) throws(PageDamage) {
        switch entry.flags {
        case 0:
            guard kind != .tables else { throw PageDamage(number, "an entry that is no table's") }
            if kind == .free {
                try note(page.bytes(at: entry.valueOffset, count: entry.valueSize), of: entry, in: page, number)
            }
        case Page.Entry.longValueFlag where kind != .tables: try visitLongValue(of: entry, in: page, kind)
        case Page.Entry.treeFlag where kind == .tables && entry.valueSize == TreeRecord.size:
            try visitTable(of: entry, in: page, number)
        default: throw PageDamage(number, "an entry with flags \(entry.flags)")
        }
    }

    private mutating func visitTable(of entry: Page.Entry, in page: Page, _ number: UInt64) throws(PageDamage) {
        let name = String(decoding: page.bytes(at: entry.keyOffset, count: entry.keySize), as: UTF8.self)
        let record = page.bytes(at: entry.valueOffset, count: entry.valueSize)
        let tree = TreeRecord(record)
        guard tree.flags == 0, record.loadUnaligned(as: UInt32.self) == 0 else {
            throw PageDamage(number, "the table '\(name)' has flags that no table of this library has")
        }
        guard !scope.omitted.contains(name) else { return }
        do throws(PageDamage) {
            try visit(tree, TreeCounts(record), at: number, .table)
        } catch {
            throw PageDamage(error.page, "\(error.sentence) (table '\(name)')")
        }
    }

    private mutating func visitLongValue(
        of entry: Page.Entry, in page: Page, _ kind: Kind
    ) throws(PageDamage) {
        let (first, size) = (page.firstPage(ofLongValue: entry), entry.valueSize)
        let head = try bytes(of: first)
        let count = UInt64(Page.pageCount(ofLongValue: head))
        let needed = UInt64((Page.headerSize + size + file.pageSize - 1) / file.pageSize)
        guard Page.number(of: head) == first, head.loadUnaligned(fromByteOffset: 8, as: UInt16.self) == 0,
            head.loadUnaligned(fromByteOffset: 10, as: UInt16.self) == Page.Kind.longValue.flags, count >= needed,
            count <= reached.lastPage - first + 1
        else { throw PageDamage(first, "it does not hold a value of \(size) bytes") }
        for page in first + 1..<first + count { try enter(page) }
        counts.longValuePages += count
        guard kind == .free else { return }
        guard let value = file.longValue(from: first, sizeInBytes: size) else {
            throw PageDamage(first, "it cannot be read")
        }
        var failure: PageDamage?
        value.withUnsafeBytes { bytes in
            do throws(PageDamage) { try note(bytes, of: entry, in: page, first) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private func note(
        _ value: UnsafeRawBufferPointer, of entry: Page.Entry, in page: Page, _ number: UInt64
    ) throws(PageDamage) {
        let key = page.bytes(at: entry.keyOffset, count: entry.keySize)
        guard let list = FreeList(key: key, value: value) else { throw PageDamage(number, "a free list has no end") }
        try noteFreeList(list, number)
    }

    private mutating func enter(_ number: UInt64) throws(PageDamage) {
        guard number >= 2, number <= reached.lastPage else { throw PageDamage(number, "there is no such page") }
        guard reached.insert(number) else { throw PageDamage(number, "two pages lead to it") }
    }

    /// Valid until the next page below the same one is read.
    private mutating func bytes(of number: UInt64) throws(PageDamage) -> UnsafeRawBufferPointer {
        try enter(number)
        guard let bytes = file.page(number, slot: pagesAbove) else { throw PageDamage(number, "it cannot be read") }
        if scope.isOther(number, bytes) { throw PageDamage(number, PageDamage.otherPage) }
        return bytes
    }
}
