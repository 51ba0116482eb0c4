import CLMDB
import Locking
import Synchronization

extension ReadTransaction {
    /// The value stored under a number in big-endian bytes, or nil; valid until `NumberSearch.groupWidth` more values
    /// have been found so in this transaction.
    ///
    /// The search reads the pages itself, and looks at fewer entries of each than LMDB does (`KeySpan`). In a write
    /// transaction, and where a page is not as expected, LMDB searches.
    ///
    /// The first thousand values after an environment was opened (`EnvironmentOptions.sparingReads`) are read from
    /// copies of their pages: the first load from a page in the map also maps its neighbours (64 KB on Linux, or, from
    /// 6.16 on, a large folio). A caller that reads more values gains by the map, and gets it.
    /// - Throws: as `get`.
    /// - Complexity: two or three entries of each page from the root on (`strata-bench run --filter fault`); from
    ///   copies, a system call for each page.
    package final func find(_ table: Table, _ key: UInt64) throws(LMDBError) -> UnsafeRawBufferPointer? {
        guard !isWriting else { return try get(table, key) }
        let isSparing = readsSparingly
        if isSparing { environment.sparingReadsLeft.subtract(1, ordering: .relaxed) }
        switch numberSearch.find(key, in: table, isSparing: isSparing) {
        case .found(let value): return value
        case .absent: return nil
        case .unknown: return try get(table, key)
        }
    }

    final var readsSparingly: Bool { !isWriting && environment.sparingReadsLeft.load(ordering: .relaxed) > 0 }

    /// The search in the snapshot that the transaction sees.
    final var numberSearch: NumberSearch {
        let search = ownSearch ?? makeSearch()
        search.turn(to: self)
        return search
    }

    @inline(never)
    private final func makeSearch() -> NumberSearch {
        let search = NumberSearch(environment)
        ownSearch = search
        return search
    }
}

/// Searches for keys of eight bytes in the pages of a snapshot.
final class NumberSearch {
    /// How many values that were found in copies stay valid, and how many keys are looked up side by side.
    static let groupWidth = 32

    private unowned(unsafe) let environment: Environment
    private let bounds: MapBounds
    private unowned(unsafe) let pageGuard: PageGuard
    /// The mark of the snapshot for the guard.
    private var mark: UInt32 = 0
    /// Made for the first copy.
    private var copies: PageCopies?
    /// Copies of leaf pages made so far.
    private var leafCount = 0
    private var snapshotID: ReadTransaction.SnapshotID?
    private var transaction: OpaquePointer?
    /// The trees of the snapshot that have been looked up, and the last of them again.
    private var trees: [Table: TreeRecord] = [:]
    private var last: (table: Table, tree: TreeRecord)?

    init(_ environment: Environment) {
        self.environment = environment
        bounds = environment.bounds
        pageGuard = environment.pageGuard
    }

    /// Turns to the snapshot of a transaction, and forgets the trees of another one.
    @inline(__always)
    func turn(to transaction: ReadTransaction) {
        self.transaction = transaction.active
        let snapshotID = transaction.snapshotID
        guard self.snapshotID != snapshotID else { return }
        // A file that was opened again has another descriptor.
        if self.snapshotID?.opening != snapshotID.opening { copies = nil }
        self.snapshotID = snapshotID
        mark = PageGuard.mark(of: snapshotID.number)
        last = nil
        trees.removeAll(keepingCapacity: true)
    }

    func find(_ key: UInt64, in table: Table, isSparing: Bool = false) -> SearchOutcome {
        guard let tree = tree(of: table) else { return .unknown }
        if tree.depth == 0 { return .absent }
        let copies = isSparing ? copiesForReading() : nil
        var span = KeySpan(key)
        var number = tree.root
        for level in 1..<Int(tree.depth) {
            guard let page = page(number, .branch, copies), let rank = page.rank(&span, .branch),
                let child = page.child(rank &- 1)
            else { return .unknown }
            number = child
            if copies == nil, let bytes = self.page(number) {
                let isLeaf = level &+ 1 == Int(tree.depth)
                Page.prefetch(bytes, span, isLeaf ? .leaf : .branch, branchCount: tree.branchCount)
            }
        }
        guard let page = page(number, .leaf, copies), let rank = page.rank(&span, .leaf) else { return .unknown }
        return page.outcome(at: rank, span)
    }

    /// A page of the snapshot, in the map or copied.
    @inline(__always)
    private func page(_ number: UInt64, _ kind: Page.Kind, _ copies: PageCopies?) -> Page? {
        let bytes = copies == nil ? page(number) : copy(of: number, kind, copies)
        guard let bytes, Page.number(of: bytes) == number else { return nil }
        return Page(bytes, kind)
    }

    /// A branch page's copy is valid until the next, a leaf's until `groupWidth` more have been made.
    private func copy(of number: UInt64, _ kind: Page.Kind, _ copies: PageCopies?) -> UnsafeRawBufferPointer? {
        if kind == .leaf { leafCount &+= 1 }
        guard let bytes = copies?.page(number, slot: kind == .leaf ? 1 + leafCount % Self.groupWidth : 0),
            pageGuard.admitsCopy(number, bytes)
        else { return nil }
        return bytes
    }

    /// A page in the map; nil where the file has none of that number, or a damaged one.
    @inline(__always)
    func page(_ number: UInt64) -> UnsafeRawBufferPointer? {
        let lower = bounds.lower.load(ordering: .relaxed)
        let shift = bounds.pageShift.load(ordering: .relaxed)
        guard lower != 0, number < 1 << 40,
            let start = UnsafeMutableRawPointer(bitPattern: lower &+ UInt(number) &<< shift),
            bounds.contain(start, count: 1 &<< Int(shift))
        else { return nil }
        let bytes = UnsafeRawBufferPointer(start: start, count: 1 &<< Int(shift))
        return pageGuard.admits(number, bytes, mark) ? bytes : nil
    }

    private func copiesForReading() -> PageCopies {
        let copies =
            copies
            ?? PageCopies(
                descriptor: environment.descriptor,
                pageSize: 1 &<< Int(bounds.pageShift.load(ordering: .relaxed)))
        self.copies = copies
        return copies
    }

    /// A table's tree, by its record in LMDB's main table; nil where that has none, or one with an impossible depth.
    @inline(__always)
    func tree(of table: Table) -> TreeRecord? {
        if let last, last.table == table { return last.tree }
        return treeFromTable(table)
    }

    @inline(never)
    private func treeFromTable(_ table: Table) -> TreeRecord? {
        guard let tree = trees[table] ?? record(of: table), tree.depth <= TreeRecord.maximumDepth else {
            return nil
        }
        trees[table] = tree
        last = (table, tree)
        return tree
    }

    /// The record of a table in LMDB's main table.
    private func record(of table: Table) -> TreeRecord? {
        guard let name = environment.name(of: table) else { return nil }
        return Array(name.utf8).withUnsafeBytes { bytes -> TreeRecord? in
            var key = MDB_val(bytes)
            var value = MDB_val()
            guard mdb_get(transaction, Self.mainTable, &key, &value) == 0, value.mv_size == TreeRecord.size else {
                return nil
            }
            return TreeRecord(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
        }
    }

    private static let mainTable: MDB_dbi = 1
}

extension Environment {
    /// The name under which a table was opened.
    fileprivate func name(of table: Table) -> String? {
        // LMDB numbers tables in the order of opening, behind two of its own.
        let index = Int(table.handle) - 2
        return tableNames.withLock { $0.indices.contains(index) ? $0[index] : nil }
    }
}
