/// Checks every page of a snapshot's trees, and how they hang together, with plain reads only.
///
/// LMDB trusts every page: a damaged one makes its copying without free pages write outside its memory.
struct TreeCheck {
    private enum Kind {
        case free, tables, table
    }

    private let file: PageCopies
    private let lastPage: UInt64
    private let noteFreeList: (FreeList) -> Void
    /// A bit for each page that a tree has led to: no page may be in two places.
    private var seen: [UInt64]
    /// How many pages lie above the one that is looked at.
    private var pagesAbove = 0

    /// Checks all trees of a commit.
    static func check(_ meta: MetaPage, in file: PageCopies) throws(PageDamage) {
        var check = TreeCheck(file, lastPage: meta.lastPage) { _ in }
        try check.visit(meta.free, .free)
        try check.visit(meta.main, .tables)
    }

    /// Checks the tree of a commit's free lists, and calls `body` with each.
    ///
    /// - Parameter lastPage: the last that a tree may lead to.
    static func forEachFreeList(
        _ tree: TreeRecord, in file: PageCopies, lastPage: UInt64, _ body: @escaping (FreeList) -> Void
    ) throws(PageDamage) {
        var check = TreeCheck(file, lastPage: lastPage, body)
        try check.visit(tree, .free)
    }

    private init(_ file: PageCopies, lastPage: UInt64, _ noteFreeList: @escaping (FreeList) -> Void) {
        self.file = file
        self.lastPage = lastPage
        self.noteFreeList = noteFreeList
        seen = Array(repeating: 0, count: Int(lastPage / 64) + 1)
    }

    private mutating func visit(_ tree: TreeRecord, _ kind: Kind) throws(PageDamage) {
        guard tree.root != TreeRecord.noPage else { return }
        guard tree.depth > 0, tree.depth < TreeRecord.maximumDepth else {
            throw PageDamage(tree.root, "a tree of depth \(tree.depth)")
        }
        try visit(tree.root, levels: Int(tree.depth), kind)
    }

    private mutating func visit(_ number: UInt64, levels: Int, _ kind: Kind) throws(PageDamage) {
        let isLeaf = levels == 1
        let page = try Page(checking: try bytes(of: number), number: number, as: isLeaf ? .leaf : .branch)
        guard page.count > 1 || isLeaf || kind == .free else { throw PageDamage(number, "it leads to one page only") }
        pagesAbove += 1
        defer { pagesAbove -= 1 }
        for index in 0..<page.count {
            guard let entry = page.entry(index) else { continue }
            if isLeaf {
                try visitValue(of: entry, in: page, number, kind)
            } else {
                try visit(entry.child, levels: levels - 1, kind)
            }
        }
    }

    private mutating func visitValue(
        of entry: Page.Entry, in page: Page, _ number: UInt64, _ kind: Kind
    ) throws(PageDamage) {
        switch entry.flags {
        case 0:
            let value = page.bytes(at: entry.valueOffset, count: entry.valueSize)
            guard kind != .free || note(value, of: entry, in: page) else { throw Self.endless(number) }
        case Page.Entry.longValueFlag: try visitLongValue(of: entry, in: page, number, kind)
        case Page.Entry.treeFlag where kind == .tables && entry.valueSize == TreeRecord.size:
            let tree = TreeRecord(page.bytes(at: entry.valueOffset, count: entry.valueSize))
            guard tree.flags == 0 else { throw PageDamage(number, "a table with flags \(tree.flags)") }
            try visit(tree, .table)
        default: throw PageDamage(number, "an entry with flags \(entry.flags)")
        }
    }

    private mutating func visitLongValue(
        of entry: Page.Entry, in page: Page, _ number: UInt64, _ kind: Kind
    ) throws(PageDamage) {
        let (first, size) = (page.firstPage(ofLongValue: entry), entry.valueSize)
        let head = try bytes(of: first)
        let count = UInt64(Page.pageCount(ofLongValue: head))
        let needed = UInt64((Page.headerSize + size + file.pageSize - 1) / file.pageSize)
        guard Page.number(of: head) == first, Page.kind(of: head) == .longValue, count >= needed,
            count <= lastPage - first + 1
        else { throw PageDamage(first, "it does not hold a value of \(size) bytes") }
        for page in first + 1..<first + count { try enter(page) }
        guard kind == .free else { return }
        guard let value = file.longValue(from: first, sizeInBytes: size) else {
            throw PageDamage(first, "it cannot be read")
        }
        guard value.withUnsafeBytes({ note($0, of: entry, in: page) }) else { throw Self.endless(number) }
    }

    /// False where the value is no free list.
    private func note(_ value: UnsafeRawBufferPointer, of entry: Page.Entry, in page: Page) -> Bool {
        let key = page.bytes(at: entry.keyOffset, count: entry.keySize)
        guard let list = FreeList(key: key, value: value) else { return false }
        noteFreeList(list)
        return true
    }

    private static func endless(_ page: UInt64) -> PageDamage { PageDamage(page, "a free list has no end") }

    private mutating func enter(_ number: UInt64) throws(PageDamage) {
        guard number >= 2, number <= lastPage else { throw PageDamage(number, "there is no such page") }
        let (word, bit) = (Int(number / 64), UInt64(1) << (number % 64))
        guard seen[word] & bit == 0 else { throw PageDamage(number, "two pages lead to it") }
        seen[word] |= bit
    }

    /// Valid until the next page below the same one is read.
    private mutating func bytes(of number: UInt64) throws(PageDamage) -> UnsafeRawBufferPointer {
        try enter(number)
        guard let bytes = file.page(number, slot: pagesAbove) else { throw PageDamage(number, "it cannot be read") }
        return bytes
    }
}
