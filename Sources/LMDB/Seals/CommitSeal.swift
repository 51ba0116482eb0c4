import CChecksum

/// Finds the pages that a commit has written and freed, and seals it. Under the writer's lock.
///
/// LMDB writes on no page of the commit before: what a commit has written are pages that were free or lay behind the
/// end. So a walk from the new roots that goes on only to such pages meets all of them, and no others. What the commit
/// freed is the newest of the free lists.
///
/// A process may end at any step. Entries change from the leaves up, so that a page whose entry is right has right ones
/// below it, and the walk can be done again.
///
/// Measured by `strata-bench run --filter durable`.
struct CommitSeal {
    /// The reasons why a commit stays without a seal.
    enum Failure: Error {
        /// The pages are not those of a commit that follows the sealed one.
        case contradiction(PageDamage)
        /// `pages.sums` cannot grow.
        case system(PageSums.SystemFailure)
    }

    private let sums: PageSums
    private let base: Seal
    private let map: UnsafeRawPointer
    private let pageSize: Int
    private let lastPage: UInt64
    /// The number of pages of the file: it may end before pages that are free.
    private let pageCount: UInt64
    private let salt: UInt64
    /// The pages that were written, each before those below it.
    private var written: [(number: UInt64, sum: UInt32)] = []
    private var freed: [UInt64] = []
    /// The number of pages of the trees, as in their records.
    private var usedCount: UInt64 = 2

    /// Seals the commit that follows a sealed one.
    ///
    /// - Parameters:
    ///   - isRepeated: whether it may have been begun before.
    ///   - fileSize: the length of the data file, in bytes.
    /// - Returns: how many pages the commit has freed.
    static func seal(
        after base: Seal, _ sums: PageSums, map: UnsafeRawPointer, fileSize: Int, isRepeated: Bool, isRelaxed: Bool
    ) throws(Failure) -> Int {
        let commit = base.commit + 1
        let head = UnsafeRawBufferPointer(
            start: map + Int(commit & 1) * sums.pageSize, count: MetaPage.size)
        let meta = MetaPage(head)
        guard meta.transaction == commit, meta.lastPage >= base.lastPage else {
            throw .contradiction(PageDamage(commit & 1, "it is not the head of commit \(commit)"))
        }
        do throws(PageSums.SystemFailure) {
            try sums.grow(toPages: meta.lastPage + 1)
        } catch {
            throw .system(error)
        }
        var walk = CommitSeal(base, sums, map, meta, fileSize: fileSize)
        do throws(PageDamage) {
            try walk.find(head)
            try walk.enter(head, isRepeated: isRepeated, isRelaxed: isRelaxed)
            return walk.freed.count
        } catch {
            throw .contradiction(error)
        }
    }

    private init(_ base: Seal, _ sums: PageSums, _ map: UnsafeRawPointer, _ meta: MetaPage, fileSize: Int) {
        self.sums = sums
        self.base = base
        self.map = map
        pageSize = sums.pageSize
        lastPage = meta.lastPage
        pageCount = UInt64(fileSize / sums.pageSize)
        salt = sums.salt
    }

    // MARK: Finding

    private mutating func find(_ head: UnsafeRawBufferPointer) throws(PageDamage) {
        let meta = MetaPage(head)
        let (free, main) = (TreeCounts(head, at: MetaPage.freeOffset), TreeCounts(head, at: MetaPage.mainOffset))
        try visit(meta.free, free, .free)
        try visit(meta.main, main, .tables)
        usedCount &+= free.pages &+ main.pages
        try countTables(below: meta.main.root, levels: Int(meta.main.depth))
        try findFreed(meta)
    }

    private enum Kind {
        case free, tables, table
    }

    private mutating func visit(_ tree: TreeRecord, _ counts: TreeCounts, _ kind: Kind) throws(PageDamage) {
        guard tree.root != TreeRecord.noPage else { return }
        guard tree.depth > 0, tree.depth < TreeRecord.maximumDepth else {
            throw PageDamage(tree.root, "a tree of depth \(tree.depth)")
        }
        if isNew(tree.root) {
            try visit(tree.root, Int(tree.depth), kind, hasLongValues: counts.longValuePages > 0)
        }
    }

    /// Whether a page was written by the commit, as far as the sealed entries say.
    @inline(__always)
    private func isNew(_ number: UInt64) -> Bool { number > base.lastPage || sums.entry(number).isFree }

    private mutating func visit(
        _ number: UInt64, _ levels: Int, _ kind: Kind, hasLongValues: Bool
    ) throws(PageDamage) {
        let bytes = try newPage(number)
        let isLeaf = levels == 1
        // A page that was not written as LMDB had it must not get a sum that says it is sound.
        let page = try Page(checking: bytes, number: number, as: isLeaf ? .leaf : .branch)
        if !isLeaf {
            for index in 0..<page.count {
                guard let child = page.child(index) else { throw PageDamage(number, "entry \(index) is outside") }
                if isNew(child) { try visit(child, levels - 1, kind, hasLongValues: hasLongValues) }
            }
        } else if hasLongValues || kind == .tables {
            for index in 0..<page.count { try visitValue(index, of: page, number, kind) }
        }
    }

    private mutating func visitValue(_ index: Int, of page: Page, _ number: UInt64, _ kind: Kind) throws(PageDamage) {
        guard let entry = page.entry(index), entry.end <= page.size else {
            throw PageDamage(number, "entry \(index) lies outside the page")
        }
        if entry.hasLongValue {
            let first = page.firstPage(ofLongValue: entry)
            guard isNew(first) else { return }
            let head = try newPage(first)
            let count = UInt64(Page.pageCount(ofLongValue: head))
            guard Page.kind(of: head) == .longValue, count > 0, count <= lastPage - first + 1 else {
                throw PageDamage(first, "it does not hold a long value")
            }
            for page in first + 1..<first + count { _ = try newPage(page) }
        } else if entry.flags & Page.Entry.treeFlag != 0, kind == .tables, entry.valueSize == TreeRecord.size {
            let record = page.bytes(at: entry.valueOffset, count: entry.valueSize)
            try visit(TreeRecord(record), TreeCounts(record), .table)
        }
    }

    /// Takes note of a page of the commit.
    private mutating func newPage(_ number: UInt64) throws(PageDamage) -> UnsafeRawBufferPointer {
        let bytes = try page(number)
        if number <= base.lastPage, !sums.entry(number).isSound(number: number, salt: salt) {
            throw PageDamage(number, "its entry in \(PageSums.name) is damaged")
        }
        guard let start = bytes.baseAddress else { return bytes }
        written.append((number, checksum_of_page(start, pageSize, number)))
        return bytes
    }

    private func page(_ number: UInt64) throws(PageDamage) -> UnsafeRawBufferPointer {
        guard number >= 2, number <= lastPage, number < pageCount else {
            throw PageDamage(number, "there is no such page")
        }
        return UnsafeRawBufferPointer(start: map + Int(number) * pageSize, count: pageSize)
    }

    // MARK: Counting

    /// Adds the pages of all tables.
    private mutating func countTables(below number: UInt64, levels: Int) throws(PageDamage) {
        guard levels > 0 else { return }
        guard let page = Page(try page(number), levels == 1 ? .leaf : .branch) else {
            throw PageDamage(number, "it is of another kind than the page above says")
        }
        for index in 0..<page.count {
            if levels > 1 {
                if let child = page.child(index) { try countTables(below: child, levels: levels - 1) }
            } else if let entry = page.entry(index), entry.flags & Page.Entry.treeFlag != 0, entry.end <= page.size,
                entry.valueSize == TreeRecord.size
            {
                usedCount &+= TreeCounts(page.bytes(at: entry.valueOffset, count: entry.valueSize)).pages
            }
        }
    }

    /// Reads the list of the pages that the commit has freed: the last of the free lists, if it has freed any.
    private mutating func findFreed(_ meta: MetaPage) throws(PageDamage) {
        var number = meta.free.root
        guard number != TreeRecord.noPage else { return }
        for _ in 1..<max(1, Int(meta.free.depth)) {
            guard let branch = Page(try page(number), .branch), let child = branch.child(branch.count - 1) else {
                throw PageDamage(number, "it does not lead to the free lists")
            }
            number = child
        }
        guard let leaf = Page(try page(number), .leaf), let entry = leaf.entry(leaf.count - 1), entry.end <= leaf.size
        else { throw PageDamage(number, "it does not hold free lists") }
        var value = leaf.bytes(at: entry.valueOffset, count: entry.hasLongValue ? 8 : entry.valueSize)
        if entry.hasLongValue {
            let first = leaf.firstPage(ofLongValue: entry)
            let head = try page(first)
            let room = Page.pageCount(ofLongValue: head) * pageSize - Page.headerSize
            guard entry.valueSize <= room, first + UInt64(Page.pageCount(ofLongValue: head)) <= pageCount,
                let start = head.baseAddress
            else { throw PageDamage(first, "it does not hold a free list") }
            value = UnsafeRawBufferPointer(start: start + Page.headerSize, count: entry.valueSize)
        }
        let key = leaf.bytes(at: entry.keyOffset, count: entry.keySize)
        guard let list = FreeList(key: key, value: value) else { throw PageDamage(number, "a free list has no end") }
        guard list.commit == meta.transaction else { return }
        for index in 0..<list.count where list[index] <= lastPage { freed.append(list[index]) }
    }

    // MARK: Entering

    private func enter(
        _ head: UnsafeRawBufferPointer, isRepeated: Bool, isRelaxed: Bool
    ) throws(PageDamage) {
        var content = base.content
        content.lastPage = lastPage
        // New pages that hold nothing were taken and given back.
        var number = base.lastPage + 1
        while number <= lastPage {
            if sums.entry(number) == .none {
                sums.set(number, PageEntry(sum: 0, number: number, isFree: true, salt: salt), &content)
            }
            number += 1
        }
        for (number, sum) in written.reversed() {
            sums.set(number, PageEntry(sum: sum, number: number, isFree: false, salt: salt), &content)
        }
        for number in freed {
            let sum = sums.entry(number).sum
            sums.set(number, PageEntry(sum: sum, number: number, isFree: true, salt: salt), &content)
        }
        if isRepeated { content = sums.computedContent(lastPage: lastPage) }
        guard content.usedCount + 2 == usedCount else {
            throw PageDamage(
                base.commit + 1 & 1, "\(content.usedCount + 2) pages are in use, but the trees have \(usedCount)")
        }
        sums.seal(base.commit + 1, head: head, content, isRelaxed: isRelaxed)
    }
}
