import CLMDB
import Locking
import Synchronization

extension ReadTransaction {
    /// The value stored under a number in big-endian bytes, or nil; valid until `Cursor.lookupWidth` more values have been
    /// found so in this transaction.
    ///
    /// The way through the tree is the library's own, which looks at fewer places of a page than LMDB's (`KeySpan`). In a
    /// write transaction, and where a page is not as expected, it is LMDB that searches.
    ///
    /// The first thousand values after an environment was opened (`EnvironmentOptions.sparingReads`) are read from copies
    /// of their pages: a page that is looked at in the map brings those beside it with it (Linux maps 64 KB, or, from
    /// 6.16, as much as the system's cache holds in one piece), so that a hundred objects of a large store took 25 MB.
    /// Whoever reads more is soon better off with the map, and gets it.
    /// - Throws: as `get`.
    /// - Complexity: two or three places of each page from the root on (`strata-bench run --filter fault`); sparing, a
    ///   system call for each page, about 1 us together.
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

    /// What searches in the snapshot that the transaction sees.
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
    enum Outcome {
        case found(UnsafeRawBufferPointer)
        case absent
        /// Whatever is not as it should be is left to LMDB.
        case unknown
    }

    private unowned(unsafe) let environment: Environment
    private let bounds: MapBounds
    /// Made when pages are to be copied.
    private var copies: PageCopies?
    private var snapshotID: ReadTransaction.SnapshotID?
    private var transaction: OpaquePointer?
    /// The trees of the snapshot that have been asked for, the last one beside.
    private var trees: [Table: DataFileHeader.Tree] = [:]
    private var last: (table: Table, tree: DataFileHeader.Tree)?

    init(_ environment: Environment) {
        self.environment = environment
        bounds = environment.bounds
    }

    /// Forgets what it knows of another snapshot's trees.
    @inline(__always)
    func turn(to transaction: ReadTransaction) {
        self.transaction = transaction.active
        let snapshotID = transaction.snapshotID
        guard self.snapshotID != snapshotID else { return }
        // A file that was opened again has another descriptor.
        if self.snapshotID?.opening != snapshotID.opening { copies = nil }
        self.snapshotID = snapshotID
        last = nil
        trees.removeAll(keepingCapacity: true)
    }

    func find(_ key: UInt64, in table: Table, isSparing: Bool = false) -> Outcome {
        guard let tree = tree(of: table) else { return .unknown }
        if tree.depth == 0 { return .absent }
        let copies = isSparing ? copiesForReading() : nil
        var span = KeySpan(key)
        var number = tree.root
        for level in 1..<Int(tree.depth) {
            guard let page = page(number, isLeaf: false, copies), let rank = page.rank(&span),
                let child = page.child(rank &- 1)
            else { return .unknown }
            number = child
            if copies == nil, let bytes = self.page(number) {
                NumberPage.prefetch(
                    bytes, span, isLeaf: level &+ 1 == Int(tree.depth), branchCount: tree.branchCount)
            }
        }
        guard let page = page(number, isLeaf: true, copies), let rank = page.rank(&span) else { return .unknown }
        return page.record(at: rank, span)
    }

    /// A page of the snapshot, in the map or copied.
    @inline(__always)
    private func page(_ number: UInt64, isLeaf: Bool, _ copies: PageCopies?) -> NumberPage? {
        let bytes = copies == nil ? page(number) : copies?.page(number, isLeaf: isLeaf)
        guard let bytes, bytes.number(UInt64.self, at: 0) == number else { return nil }
        return NumberPage(bytes, isLeaf: isLeaf)
    }

    /// A page in the map; nil where the file has none of that number.
    @inline(__always)
    func page(_ number: UInt64) -> UnsafeRawBufferPointer? {
        let lower = bounds.lower.load(ordering: .relaxed)
        let shift = bounds.pageShift.load(ordering: .relaxed)
        guard lower != 0, number < 1 << 40,
            let start = UnsafeMutableRawPointer(bitPattern: lower &+ UInt(number) &<< shift),
            bounds.contain(start, count: 1 &<< Int(shift))
        else { return nil }
        return UnsafeRawBufferPointer(start: start, count: 1 &<< Int(shift))
    }

    private func copiesForReading() -> PageCopies {
        let copies = copies ?? PageCopies(environment)
        self.copies = copies
        return copies
    }

    /// A table's tree, out of the record that LMDB's own table has of it; nil where there is none that can be walked.
    @inline(__always)
    func tree(of table: Table) -> DataFileHeader.Tree? {
        if let last, last.table == table { return last.tree }
        return treeFromTable(table)
    }

    @inline(never)
    private func treeFromTable(_ table: Table) -> DataFileHeader.Tree? {
        guard let tree = trees[table] ?? record(of: table), tree.depth <= DataFileHeader.maximumDepth else {
            return nil
        }
        trees[table] = tree
        last = (table, tree)
        return tree
    }

    /// One of the values of LMDB's own table.
    private func record(of table: Table) -> DataFileHeader.Tree? {
        guard let name = environment.name(of: table) else { return nil }
        return Array(name.utf8).withUnsafeBytes { bytes -> DataFileHeader.Tree? in
            var key = MDB_val(bytes)
            var value = MDB_val()
            guard mdb_get(transaction, Self.mainTable, &key, &value) == 0, value.mv_size == Self.treeRecordSize else {
                return nil
            }
            return DataFileHeader.Tree(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size), at: 0)
        }
    }

    private static let mainTable: MDB_dbi = 1
    private static let treeRecordSize = 48
}

extension Environment {
    /// The name under which a table was opened.
    fileprivate func name(of table: Table) -> String? {
        // LMDB numbers tables in the order of opening, after two of its own.
        let index = Int(table.handle) - 2
        return tableNames.withLock { $0.indices.contains(index) ? $0[index] : nil }
    }
}
