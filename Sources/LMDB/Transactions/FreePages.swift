import CLMDB
import Synchronization

/// Keeps the pages that small commits get close together.
///
/// LMDB gives out what one commit has freed after the other, the oldest first. What a small commit frees lies all over a
/// large file, and so do then the pages of a later one: each is a request of its own to the disk. LMDB puts the lists of
/// several commits in one order only while it looks for pages in a row. So now and then a commit begins with asking for the
/// longest row there is, and gives it back: until that row is complete LMDB has merged nearly all lists, and the commits
/// that follow take neighbours. Nothing of it is in the file but the free list, in another order.
///
/// What it comes to: `strata-bench run --size 1000000 --filter durable --rounds 31`.
final class FreePages: Sendable {
    /// Commits from one time to the next.
    static let commitsBetween = 16
    /// Fewer free pages are used up before the next time, and their order tells little.
    static let fewestPages = 1024
    /// Pages whose order is looked at, of the oldest lists: they are what the next commits get.
    static let mostPages = 16_384
    /// Lists that are looked at: for a row of two pages LMDB goes through 120, then it makes the file longer.
    static let mostLists = 120
    /// A row that is long enough, in pages: more would only be more memory.
    static let longestRun = 64
    /// More than what LMDB needs for the way to the record that takes the row.
    private static let pagesAbove = 4
    /// How often lists were put in order.
    let gatheringCount = Atomic<Int>(0)
    private let commitCount = Atomic<Int>(0)

    /// Comes after a commit.
    func committed() { commitCount.add(1, ordering: .relaxed) }

    /// Whether it is time; then the next time is counted from now. Asked by who writes.
    func isDue() -> Bool {
        guard commitCount.load(ordering: .relaxed) >= Self.commitsBetween else { return false }
        commitCount.store(0, ordering: .relaxed)
        return true
    }

    /// The longest row of free pages in the lists of all commits before `oldest`, up to `longestRun`; nil where nothing is
    /// to be gained by putting them in order.
    ///
    /// - Complexity: O(n log n) in the pages, at most `mostPages`: a millisecond.
    static func longestRun(_ transaction: ReadTransaction, before oldest: UInt64) throws(LMDBError) -> Int? {
        var pages: [UInt64] = []
        var listCount = 0
        try transaction.eachFreeList { list in
            guard list.commit < oldest, listCount < mostLists, pages.count + list.count <= mostPages else {
                return false
            }
            // The lowest of the first list are gone when the row is asked for: they are for the pages above the record.
            for place in 0..<max(0, list.count - (listCount == 0 ? pagesAbove : 0)) { pages.append(list[place]) }
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

/// The pages that one commit freed, or that are left of them; of LMDB's table 0. A count u64 and page numbers u64, the
/// highest first, of the machine's own byte order, as its key is, the number of the commit.
struct FreeList {
    let commit: UInt64
    let count: Int
    private let bytes: UnsafeRawBufferPointer

    /// - Returns: nil where it contradicts itself.
    init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let words = value.count / 8
        guard key.count == 8, words > 0, let count = Int(exactly: value.loadUnaligned(as: UInt64.self)), count < words
        else { return nil }
        commit = key.loadUnaligned(as: UInt64.self)
        self.count = count
        bytes = value
    }

    subscript(_ place: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: 8 * (place + 1), as: UInt64.self) }
}

extension ReadTransaction {
    /// Calls `body` with each list of free pages, that of the oldest commit first, until it returns false.
    ///
    /// - Throws: `corrupted` for a list that contradicts itself.
    final func eachFreeList(_ body: (FreeList) -> Bool) throws(LMDBError) {
        let cursor = try cursor(Table(handle: 0))
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
    /// LMDB's table of tables, and the record that is put there and removed: its key is no table's name.
    private static let mainTable = Table(handle: 1)
    private static let keyOfRun: StaticString = "strata: a row of free pages"

    /// Has LMDB put its lists of free pages in order, when it is time. Comes before anything is written.
    func gatherFreePages() throws(LMDBError) {
        guard environment.options.durability != .disposable, environment.freePages.isDue(),
            let run = try environment.longestRunOfFreePages()
        else { return }
        let pageSize = 1 << Int(bounds.pageShift.load(ordering: .relaxed))
        let key = UnsafeRawBufferPointer(start: Self.keyOfRun.utf8Start, count: Self.keyOfRun.utf8CodeUnitCount)
        // A value with pages of its own has a page's head before it.
        _ = try reserve(Self.mainTable, key, sizeInBytes: run * pageSize - PageLayout.headerSize)
        _ = try delete(Self.mainTable, key)
        environment.freePages.gatheringCount.add(1, ordering: .relaxed)
    }
}

extension Environment {
    /// The longest row of pages that a write transaction which has just begun may use.
    /// - Throws: `corrupted` for a free list that contradicts itself.
    fileprivate func longestRunOfFreePages() throws(LMDBError) -> Int? {
        let transaction: ReadTransaction
        do throws(LMDBError) {
            transaction = try beginRead()
        } catch {
            // No slot is free, which a commit does not need: then it goes on as it would have.
            guard error.code == .readersFull else { throw error }
            return nil
        }
        defer { end(transaction) }
        let oldest = try readers().compactMap(\.transaction).min() ?? transaction.number
        return try FreePages.longestRun(transaction, before: min(oldest, transaction.number))
    }
}
