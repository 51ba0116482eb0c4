import CLMDB
import Locking
import Synchronization

/// The pages of a snapshot in the map, each admitted by the guard before it is read, and the trees that they make.
final class SnapshotPages {
    /// The number of values found in copies that stay valid, and of keys that are looked up side by side.
    static let groupWidth = 32

    unowned(unsafe) let environment: Environment
    let bounds: MapBounds
    unowned(unsafe) let pageGuard: PageGuard
    private var snapshotID: ReadTransaction.SnapshotID?
    /// The mark of the snapshot for the trees.
    private var mark: UInt32 = 0
    /// The mark of the snapshot for the guard. A file without sums has one mark for all its states: a page is checked
    /// when it is first read, and all that LMDB writes there later counts as sound.
    private var guardMark: UInt32 = 0
    private let sums: PageSums
    /// Whether pages are judged by their structure alone.
    var judgesByStructure = false { didSet { setMark() } }
    /// The trees of free lists and of tables.
    private var free = TreeRecord()
    private var main = TreeRecord()
    /// The tree of each table, with the mark of the snapshot that it belongs to.
    private let trees: UnsafeMutablePointer<(mark: UInt32, tree: TreeRecord)>
    let tableCount: Int
    /// The number of pages of the file, as in the commit.
    private(set) var pageCount: UInt64 = 0
    /// Made for the first copy.
    private var copies: PageCopies?
    /// Copies of leaf pages made so far.
    private var leafCount = 0

    init(_ environment: Environment) {
        self.environment = environment
        bounds = environment.bounds
        pageGuard = environment.pageGuard
        sums = environment.sums
        tableCount = environment.options.maximumTables + 2
        trees = .allocate(capacity: tableCount)
        trees.initialize(repeating: (0, TreeRecord()), count: tableCount)
    }

    deinit { trees.deallocate() }

    // MARK: The snapshot

    /// Turns to a snapshot that a transaction has just begun to see; false where the head of the file has another.
    @inline(__always)
    func turn(to snapshotID: ReadTransaction.SnapshotID) -> Bool {
        self.snapshotID == snapshotID || readHead(of: snapshotID)
    }

    /// Reads the roots of a snapshot from its meta page. The commit after the next writes over that.
    @inline(never)
    private func readHead(of snapshotID: ReadTransaction.SnapshotID) -> Bool {
        let lower = bounds.lower.load(ordering: .relaxed)
        guard lower != 0 else { return true }
        let head = lower &+ UInt(snapshotID.number & 1) &<< bounds.pageShift.load(ordering: .relaxed)
        let meta = MetaPage(UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: head), count: MetaPage.size))
        guard meta.transaction == snapshotID.number, meta.isOfThisFormat, meta.main.isPlausible(),
            meta.free.isPlausible(allowedFlags: MetaPage.flagsOfFreeLists)
        else { return false }
        // A file that was opened again has another descriptor.
        if self.snapshotID?.opening != snapshotID.opening {
            copies = nil
            for index in 0..<tableCount { trees[index].mark = 0 }
        }
        (free, main, pageCount) = (meta.free, meta.main, meta.lastPage &+ 1)
        self.snapshotID = snapshotID
        setMark()
        return true
    }

    private func setMark() {
        mark = snapshotID.map { PageGuard.mark(of: $0.number, judgesByStructure: judgesByStructure) } ?? 0
        guardMark = sums.isUsed ? mark : PageGuard.mark(of: 0)
    }

    // MARK: Pages

    /// A page in the map; nil where the file has none of that number, or a damaged one.
    @inline(__always)
    func page(_ number: UInt64, in contents: PageGuard.Contents = .records) -> UnsafeRawBufferPointer? {
        let shift = bounds.pageShift.load(ordering: .relaxed)
        let start = bounds.lower.load(ordering: .relaxed) &+ UInt(truncatingIfNeeded: number) &<< shift
        let bytes = UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: start), count: 1 &<< Int(shift))
        guard number < 1 << 40, bounds.contain(bytes.baseAddress, count: bytes.count) || isInFile(number, bytes),
            pageGuard.admits(number, bytes, guardMark, in: contents)
        else { return nil }
        return bytes
    }

    /// Looks at the file's present length.
    @inline(never)
    private func isInFile(_ number: UInt64, _ bytes: UnsafeRawBufferPointer) -> Bool {
        environment.refreshUpperBound()
        if number < 1 << 40, bounds.contain(bytes.baseAddress, count: bytes.count) { return true }
        pageGuard.note(PageDamage(number, "there is no such page"))
        return false
    }

    /// A branch or leaf page in the map.
    ///
    /// - Throws: `corrupted` where it is damaged, or of another kind.
    @inline(__always)
    func page(
        _ number: UInt64, _ kind: Page.Kind, in contents: PageGuard.Contents
    ) throws(LMDBError) -> Page {
        guard let bytes = page(number, in: contents) else { throw pageGuard.refusal }
        guard let page = Page(bytes, kind) else {
            throw damaged(number, "it is of another kind than the page above says")
        }
        return page
    }

    /// Whether the sums are of the snapshot's commit. Only a writer may ask: others may be overtaken.
    var areSealed: Bool {
        guard let snapshotID, !judgesByStructure, let seal = sums.trusted else { return false }
        return seal.commit == snapshotID.number
    }

    /// Admits a page that a write transaction reaches, if it is one of the snapshot and not one that LMDB has taken
    /// since from the free pages. The sums must be of the snapshot's commit.
    ///
    /// - Returns: false if the page's entry does not decide.
    @inline(__always)
    func admitUnlessNew(
        _ number: UInt64, _ kind: Page.Kind, _ contents: PageGuard.Contents
    ) throws(LMDBError) -> Bool {
        let entry = sums.entry(number)
        if entry.isInUse, pageGuard.remembers(number, entry.sum) { return true }
        guard number < pageCount else { return true }
        guard entry != .none, entry.isSound(number: number, salt: sums.salt) else { return false }
        if entry.isInUse { _ = try page(number, kind, in: contents) }
        return true
    }

    /// The bytes of a value that has pages of its own.
    func longValue(from first: UInt64, sizeInBytes size: Int) throws(LMDBError) -> UnsafeRawBufferPointer {
        guard let bytes = page(first), let start = bytes.baseAddress else { throw pageGuard.refusal }
        guard Page.kind(of: bytes) == .longValue,
            size <= Page.pageCount(ofLongValue: bytes) * bytes.count - Page.headerSize
        else { throw damaged(first, "it does not hold a value of \(size) bytes") }
        let value = UnsafeRawBufferPointer(start: start + Page.headerSize, count: size)
        guard bounds.contain(value.baseAddress, count: size) else {
            throw damaged(first, "a value of \(size) bytes does not end in the file")
        }
        let used = (Page.headerSize + size + bytes.count - 1) / bytes.count
        guard pageGuard.admitsLongValue(first, from: start, pageCount: used, guardMark) else { throw pageGuard.refusal }
        return value
    }

    /// Whether the pages of bytes in the map, which were admitted, are by their sums those that were written.
    func areSummed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return false }
        let shift = bounds.pageShift.load(ordering: .relaxed)
        let offset = UInt(bitPattern: start) &- bounds.lower.load(ordering: .relaxed)
        return pageGuard.areSummed(UInt64(offset &>> shift)...UInt64((offset &+ UInt(bytes.count) &- 1) &>> shift))
    }

    /// Whether a page and all below it were admitted by their sums, and it still has that sum. Those below it have theirs:
    /// LMDB does not change a page while a tree leads to it.
    func isRememberedWhole(_ number: UInt64) -> Bool {
        let entry = sums.entry(number)
        return !judgesByStructure && entry.isInUse && pageGuard.remembers(number, entry.sum)
            && pageGuard.wholeTrees[number] == entry.sum
    }

    /// Remembers a page below which all was admitted by sums. Under the writer's lock, as `isRememberedWhole`.
    func rememberWhole(_ number: UInt64) { pageGuard.wholeTrees[number] = sums.entry(number).sum }

    /// Forgets the remembered pages of earlier states when they are more than those of the tree.
    func boundRemembered(to tree: TreeRecord) {
        let pageCount = Int(clamping: tree.branchPages &+ tree.leafPages)
        if pageGuard.wholeTrees.count > 2 * pageCount + 64 { pageGuard.wholeTrees = [:] }
    }

    @inline(never)
    func damaged(_ number: UInt64, _ sentence: String) -> LMDBError {
        pageGuard.note(PageDamage(number, sentence))
        return pageGuard.refusal
    }

    // MARK: Copies

    /// A page of the snapshot, in the map or copied.
    @inline(__always)
    func page(_ number: UInt64, _ kind: Page.Kind, isCopied: Bool) -> Page? {
        guard let bytes = isCopied ? copy(of: number, kind) : page(number) else { return nil }
        return Page(bytes, kind)
    }

    /// A branch page's copy is valid until the next, a leaf's until `groupWidth` more have been made.
    private func copy(of number: UInt64, _ kind: Page.Kind) -> UnsafeRawBufferPointer? {
        if kind == .leaf { leafCount &+= 1 }
        let copies =
            copies
            ?? PageCopies(
                descriptor: environment.descriptor, pageSize: 1 &<< Int(bounds.pageShift.load(ordering: .relaxed)))
        self.copies = copies
        guard let bytes = copies.page(number, slot: kind == .leaf ? 1 + leafCount % Self.groupWidth : 0),
            pageGuard.admitsCopy(number, bytes, guardMark)
        else { return nil }
        return bytes
    }

    // MARK: Trees

    /// A table's tree, by its record in LMDB's main table; an empty one where that has none.
    ///
    /// - Throws: `corrupted` where the record cannot be one, or a page on the way is damaged.
    @inline(__always)
    func tree(of table: Table) throws(LMDBError) -> TreeRecord {
        let index = Int(table.handle)
        if index < tableCount, trees[index].mark == mark, mark != 0 { return trees[index].tree }
        return try readTree(of: table)
    }

    /// Treats a table as empty from now on, in a write transaction that has dropped it.
    func forgetTree(of table: Table) {
        if Int(table.handle) < tableCount { trees[Int(table.handle)] = (mark, TreeRecord()) }
    }

    @inline(never)
    private func readTree(of table: Table) throws(LMDBError) -> TreeRecord {
        let index = Int(table.handle)
        let tree = index == 0 ? free : index == 1 ? main : try record(of: table)
        if index < tableCount { trees[index] = (mark, tree) }
        return tree
    }

    /// Admits the pages in which LMDB looks for a table when it is opened.
    func admitRecord(of name: String) throws(LMDBError) { _ = try findRecord(of: name) }

    private func findRecord(of name: String) throws(LMDBError) -> (page: Page, index: Int)? {
        let result = Array(name.utf8).withUnsafeBytes { name in
            Result { () throws(LMDBError) in try find(SoughtKey(name), in: main, .tables) }
        }
        return try result.get()
    }

    private func record(of table: Table) throws(LMDBError) -> TreeRecord {
        guard let name = environment.name(of: table), let (page, index) = try findRecord(of: name) else {
            return TreeRecord()
        }
        guard let entry = page.entry(index), entry.flags == Page.Entry.treeFlag, entry.valueSize == TreeRecord.size
        else { throw damaged(Page.number(of: page.bytes), "entry \(index) is not the record of a table") }
        let tree = TreeRecord(page.bytes(at: entry.valueOffset, count: entry.valueSize))
        guard tree.isPlausible() else {
            throw damaged(Page.number(of: page.bytes), "entry \(index) has an impossible root, depth or flags")
        }
        return tree
    }

    /// The leaf page and the index of the entry with a key.
    func find(
        _ key: SoughtKey, in tree: TreeRecord, _ contents: PageGuard.Contents = .records
    ) throws(LMDBError) -> (page: Page, index: Int)? {
        guard tree.depth > 0 else { return nil }
        var number = tree.root
        for _ in 1..<Int(tree.depth) {
            let page = try page(number, .branch, in: contents)
            number = page.admittedChild(page.branchIndex(of: key))
        }
        let page = try page(number, .leaf, in: contents)
        let (index, isFound) = page.leafIndex(of: key)
        return isFound ? (page, index) : nil
    }

    /// The value of an entry of a leaf page.
    @inline(__always)
    func value(of entry: UnsafeRawPointer) throws(LMDBError) -> UnsafeRawBufferPointer {
        let head = Page.Entry(offset: 0, head: entry.loadUnaligned(as: UInt64.self))
        if head.flags == 0 {
            return UnsafeRawBufferPointer(start: entry + head.valueOffset, count: head.valueSize)
        }
        return try valueAside(of: entry, head)
    }

    @inline(never)
    private func valueAside(
        of entry: UnsafeRawPointer, _ head: Page.Entry
    ) throws(LMDBError) -> UnsafeRawBufferPointer {
        guard head.hasLongValue else {
            return UnsafeRawBufferPointer(start: entry + head.valueOffset, count: head.valueSize)
        }
        let first = entry.loadUnaligned(fromByteOffset: head.valueOffset, as: UInt64.self)
        return try longValue(from: first, sizeInBytes: head.valueSize)
    }
}

extension PageGuard.Contents {
    /// LMDB has two tables of its own.
    @inline(__always)
    init(of table: Table) { self = table.handle > 1 ? .records : table.handle == 0 ? .freeLists : .tables }
}

extension Environment {
    /// The name under which a table was opened.
    func name(of table: Table) -> String? {
        // LMDB numbers tables in the order of opening, behind two of its own.
        let index = Int(table.handle) - 2
        return tableNames.withLock { $0.indices.contains(index) ? $0[index] : nil }
    }
}
