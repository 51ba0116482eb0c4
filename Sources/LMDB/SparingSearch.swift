#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB
import Locking
import Synchronization

extension ReadTransaction {
    /// The value stored under a number in big-endian bytes, or nil; valid until `Cursor.lookupWidth` more values have been
    /// read so in this transaction.
    ///
    /// The first thousand values after an environment was opened (`EnvironmentOptions.sparingReads`) are read from copies of their pages: a page that is
    /// looked at in the map brings those beside it with it (Linux maps 64 KB, or, from 6.16, as much as the system's
    /// cache holds in one piece), so that a hundred objects of a large store took 25 MB. Whoever reads more is soon better
    /// off with the map, and gets it.
    /// - Throws: as `get`.
    /// - Complexity: a system call for each page from the root on, about 1 us together.
    package final func getSparingly(_ table: Table, _ key: UInt64) throws(LMDBError) -> UnsafeRawBufferPointer? {
        guard readsSparingly else { return try get(table, key) }
        environment.sparingReadsLeft.subtract(1, ordering: .relaxed)
        switch try copiesForReading().search(for: key, in: table) {
        case .found(let value): return value
        case .absent: return nil
        case .unknown: return try get(table, key)
        }
    }

    final var readsSparingly: Bool { !isWriting && environment.sparingReadsLeft.load(ordering: .relaxed) > 0 }

    private func copiesForReading() throws(LMDBError) -> SparingSearch {
        let search = pageCopies ?? SparingSearch(environment)
        pageCopies = search
        try search.turn(to: self)
        return search
    }
}

/// Searches with plain reads in copies of pages, which it keeps for a while.
final class SparingSearch {
    enum Outcome {
        case found(UnsafeRawBufferPointer)
        case absent
        /// Whatever is not as it should be is left to LMDB.
        case unknown
    }

    private unowned(unsafe) let environment: Environment
    private let descriptor: Int32
    private let pageSize: Int
    /// The pages that were read last, the newest at `last`.
    private var copies: [UnsafeMutableRawBufferPointer?]
    private var last = 0
    /// For the way to a leaf.
    private let branch: UnsafeMutableRawBufferPointer
    private var snapshot: ReadTransaction.Snapshot?
    private var trees: [Table: StoreHeader.Tree] = [:]
    private var transaction: OpaquePointer?

    init(_ environment: Environment) {
        self.environment = environment
        var file: Int32 = -1
        if let handle = environment.handle { mdb_env_get_fd(handle, &file) }
        descriptor = file
        pageSize = 1 << Int(environment.bounds.pageShift.load(ordering: .relaxed))
        copies = Array(repeating: nil, count: Cursor.lookupWidth)
        branch = .allocate(byteCount: pageSize, alignment: 16)
    }

    deinit {
        branch.deallocate()
        for copy in copies { copy?.deallocate() }
    }

    /// Forgets what it knows of another snapshot's trees.
    func turn(to transaction: ReadTransaction) throws(LMDBError) {
        self.transaction = transaction.active
        guard snapshot != transaction.snapshot else { return }
        snapshot = transaction.snapshot
        trees.removeAll(keepingCapacity: true)
    }

    func search(for key: UInt64, in table: Table) -> Outcome {
        guard let tree = tree(of: table), tree.depth <= StoreHeader.maximumDepth else { return .unknown }
        if tree.depth == 0 { return .absent }
        var number = tree.root
        for _ in 1..<Int(tree.depth) {
            guard read(number, into: branch),
                let child = Self.child(of: UnsafeRawBufferPointer(branch), for: key)
            else { return .unknown }
            number = child
        }
        last = (last + 1) % copies.count
        let copy = copies[last] ?? .allocate(byteCount: pageSize, alignment: 16)
        copies[last] = copy
        guard read(number, into: copy) else { return .unknown }
        return Self.value(in: UnsafeRawBufferPointer(copy), for: key)
    }

    /// The record that LMDB's own table has of a table: one of its values.
    private func tree(of table: Table) -> StoreHeader.Tree? {
        if let known = trees[table] { return known }
        guard let name = environment.name(of: table) else { return nil }
        let found = Array(name.utf8).withUnsafeBytes { bytes -> StoreHeader.Tree? in
            var key = MDB_val(bytes)
            var value = MDB_val()
            guard mdb_get(transaction, Self.mainTable, &key, &value) == 0, value.mv_size == Self.treeRecordSize else {
                return nil
            }
            return StoreHeader.Tree(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size), at: 0)
        }
        trees[table] = found
        return found
    }

    private static let mainTable: MDB_dbi = 1
    private static let treeRecordSize = 48

    private func read(_ number: UInt64, into page: UnsafeMutableRawBufferPointer) -> Bool {
        guard number < 1 << 40 else { return false }
        let count = pread(descriptor, page.baseAddress, pageSize, off_t(number) * off_t(pageSize))
        return count == pageSize && UnsafeRawBufferPointer(page).number(UInt64.self, at: 0) == number
    }

    /// The page below a branch page where a key belongs.
    private static func child(of page: UnsafeRawBufferPointer, for key: UInt64) -> UInt64? {
        let lower = Int(page.number(UInt16.self, at: PageLayout.lowerPlace))
        guard page.number(UInt16.self, at: PageLayout.flagsPlace) & PageLayout.kindBits == PageLayout.branchFlag,
            lower >= PageLayout.headerSize + 2, lower <= page.count
        else { return nil }
        // A branch page's first entry has no key.
        var (low, high) = (1, (lower - PageLayout.headerSize) / 2)
        while low < high {
            let middle = (low + high) / 2
            guard let other = number(at: entry(middle, of: page), of: page) else { return nil }
            if other <= key { low = middle + 1 } else { high = middle }
        }
        let place = entry(low - 1, of: page)
        guard place + PageLayout.entryHeaderSize <= page.count else { return nil }
        return page.number(UInt64.self, at: place) & 0xFFFF_FFFF_FFFF
    }

    private static func entry(_ index: Int, of page: UnsafeRawBufferPointer) -> Int {
        Int(page.number(UInt16.self, at: PageLayout.headerSize + 2 * index))
    }

    /// The key of an entry as a number; nil where it has not eight bytes.
    private static func number(at place: Int, of page: UnsafeRawBufferPointer) -> UInt64? {
        let start = place + PageLayout.entryHeaderSize
        guard start + 8 <= page.count, page.number(UInt16.self, at: place + PageLayout.keySizePlace) == 8 else {
            return nil
        }
        return UInt64(bigEndian: page.number(UInt64.self, at: start))
    }

    private static func value(in bytes: UnsafeRawBufferPointer, for key: UInt64) -> Outcome {
        guard let page = LeafPage(bytes) else { return .unknown }
        var (low, high) = (0, page.count)
        while low < high {
            let middle = (low + high) / 2
            guard let other = number(at: page.place(middle), of: bytes) else { return .unknown }
            if other == key {
                // A long value has pages of its own.
                return LeafPage.record(middle, of: bytes).map { .found($0.value) } ?? .unknown
            }
            if other < key { low = middle + 1 } else { high = middle }
        }
        return .absent
    }
}

extension Environment {
    /// The name under which a table was opened.
    fileprivate func name(of table: Table) -> String? {
        // LMDB numbers tables in the order of opening, after two of its own.
        let index = Int(table.handle) - 2
        return tableNames.withLock { $0.indices.contains(index) ? $0[index] : nil }
    }
}
