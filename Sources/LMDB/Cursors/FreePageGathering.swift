// Puts the lists of free pages in order; `FreePages` decides when.

import CLMDB
import Synchronization

extension FreePages {
    /// More pages than LMDB needs for the path to the record that takes the run.
    private static let pagesAbove = 4

    /// The length of the longest run of consecutive free pages in the lists of all commits before `oldest`, up to
    /// `longestRun`; nil if ordering the lists would gain nothing.
    ///
    /// - Complexity: O(n log n) in the pages, at most `mostPages`: a millisecond.
    static func longestRun(_ transaction: ReadTransaction, before oldest: UInt64) throws(LMDBError) -> Int? {
        var pages: [UInt64] = []
        var listCount = 0
        try transaction.eachFreeList { list in
            guard list.commit < oldest, listCount < mostLists, pages.count + list.count <= mostPages else {
                return false
            }
            // The lowest of the first list are taken before the run is: by the pages above the record.
            for index in 0..<max(0, list.count - (listCount == 0 ? pagesAbove : 0)) { pages.append(list[index]) }
            listCount += 1
            return true
        }
        guard listCount > 1, pages.count >= fewestPages else { return nil }
        pages.sort()
        var (longest, length) = (1, 1)
        for (page, next) in zip(pages, pages.dropFirst()) {
            length = next == page &+ 1 ? length + 1 : 1
            longest = max(longest, length)
        }
        return longest > 1 ? min(longest, longestRun) : nil
    }
}

extension ReadTransaction {
    /// Calls `body` with each list of free pages, that of the oldest commit first, until it returns false.
    ///
    /// - Throws: `corrupted` for a list that contradicts itself.
    final func eachFreeList(_ body: (FreeList) -> Bool) throws(LMDBError) {
        let cursor = try Cursor(self, Table(handle: 0))
        defer { cursor.close() }
        while try cursor.next() {
            guard let list = FreeList(key: cursor.key, value: cursor.value) else {
                throw LMDBError(
                    .corrupted, operation: "read the free list", path: environment.path, detail: "a list has no end")
            }
            if !body(list) { return }
        }
    }
}

extension WriteTransaction {
    /// LMDB's table of tables. A record that takes the run is put there and removed; its key is no table's name.
    private static let mainTable = Table(handle: 1)
    private static let keyOfRun: StaticString = "strata: a row of free pages"

    /// Makes LMDB put its lists of free pages in order if that is due (`FreePages`). Comes before the first write.
    func gatherFreePages() throws(LMDBError) {
        guard environment.options.durability != .disposable, environment.freePages.isDue(),
            let run = try environment.longestRunOfFreePages()
        else { return }
        let pageSize = 1 << Int(bounds.pageShift.load(ordering: .relaxed))
        let key = UnsafeRawBufferPointer(start: Self.keyOfRun.utf8Start, count: Self.keyOfRun.utf8CodeUnitCount)
        // A long value begins behind the header of its first page.
        _ = try reserve(Self.mainTable, key, sizeInBytes: run * pageSize - Page.headerSize)
        _ = try delete(Self.mainTable, key)
        environment.freePages.gatheringCount.add(1, ordering: .relaxed)
    }
}

extension Environment {
    /// The longest run of free pages that a write transaction which has just begun may use.
    /// - Throws: `corrupted` for a free list that contradicts itself.
    fileprivate func longestRunOfFreePages() throws(LMDBError) -> Int? {
        let transaction: ReadTransaction
        do throws(LMDBError) {
            transaction = try beginRead()
        } catch {
            // No reader slot is free. A commit needs none, so it goes on without ordering.
            guard error.code == .readersFull else { throw error }
            return nil
        }
        defer { end(transaction) }
        let oldest = try readers().compactMap(\.transaction).min() ?? transaction.number
        return try FreePages.longestRun(transaction, before: min(oldest, transaction.number))
    }
}
