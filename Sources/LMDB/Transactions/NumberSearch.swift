// Searches a table for a number without LMDB's cursors: interpolation on the pages of a snapshot.

import CLMDB
import Synchronization

extension ReadTransaction {
    /// The value stored under a number in big-endian bytes, or nil; valid until `SnapshotPages.groupWidth` more values
    /// have been found so in this transaction.
    ///
    /// The search looks at fewer entries of each page than halving does (`InterpolationSearch`). In a write transaction
    /// LMDB searches.
    ///
    /// The first thousand values after an environment was opened (`EnvironmentOptions.sparingReads`) are read from
    /// copies of their pages: the first load from a page in the map also maps its neighbours (64 KB on Linux, or, from
    /// 6.16 on, a large folio). A caller that reads more values gains by the map, and gets it.
    /// - Throws: as `get`.
    /// - Complexity: two or three entries of each page from the root on (`strata-bench run --filter fault`); from
    ///   copies, a system call for each page.
    package final func find(_ table: Table, _ key: UInt64) throws(LMDBError) -> UnsafeRawBufferPointer? {
        guard !usesLMDB else { return try get(table, key) }
        _ = active
        let isSparing = readsSparingly
        if isSparing { environment.sparingReadsLeft.subtract(1, ordering: .relaxed) }
        switch try pages.find(key, in: table, isSparing: isSparing) {
        case .found(let value): return value
        case .absent: return nil
        case .unknown: return try get(table, key)
        }
    }

    final var readsSparingly: Bool { !usesLMDB && environment.sparingReadsLeft.load(ordering: .relaxed) > 0 }
}

extension SnapshotPages {
    /// Searches for a key of eight bytes. The result is unknown where a page has other keys, or is damaged.
    func find(_ key: UInt64, in table: Table, isSparing: Bool = false) throws(LMDBError) -> SearchOutcome {
        let tree = try tree(of: table)
        if tree.depth == 0 { return .absent }
        var search = InterpolationSearch(key)
        var number = tree.root
        for level in 1..<Int(tree.depth) {
            guard let page = page(number, .branch, isCopied: isSparing), let rank = page.rank(&search, .branch),
                let child = page.child(rank &- 1)
            else { return .unknown }
            number = child
            if !isSparing, let bytes = addressOfPage(number) {
                pageGuard.prefetch(number)
                let isLeaf = level &+ 1 == Int(tree.depth)
                Page.prefetch(bytes, search, isLeaf ? .leaf : .branch, branchCount: tree.branchCount)
            }
        }
        guard let page = page(number, .leaf, isCopied: isSparing), let rank = page.rank(&search, .leaf) else {
            return .unknown
        }
        return page.outcome(at: rank, search)
    }

    /// Returns the address of a page in the map, before it is admitted.
    @inline(__always)
    func addressOfPage(_ number: UInt64) -> UnsafeRawBufferPointer? {
        let shift = bounds.pageShift.load(ordering: .relaxed)
        let start = bounds.lower.load(ordering: .relaxed) &+ UInt(truncatingIfNeeded: number) &<< shift
        let bytes = UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: start), count: 1 &<< Int(shift))
        return number < 1 << 40 && bounds.contain(bytes.baseAddress, count: bytes.count) ? bytes : nil
    }
}
