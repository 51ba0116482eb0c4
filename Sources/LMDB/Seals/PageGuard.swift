#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB
import Locking
import Synchronization

/// Looks at each page of a data file before LMDB or this module reads it, so that a damaged page is an error and not
/// the end of the process.
///
/// The guard compares a page with its sum (`PageSums`) and remembers the sum of each page that matches. As long as the
/// entry stays the same, the page is not summed again. A page without a sum is checked by its structure and remembered
/// with the *mark* of the present state: no page that a transaction can reach is written before the transaction ends.
///
/// The class is `Sendable`: the remembered sums and the length of the file are atomic; the rest changes only while no
/// transaction is open, or has a lock of its own.
final class PageGuard: @unchecked Sendable {
    /// The sum or mark with which each page of the map was admitted; 0 for none.
    @exclusivity(unchecked) private var memo: UnsafeMutablePointer<Atomic<UInt32>>?
    /// The number of pages that `memo` has room for.
    @exclusivity(unchecked) private var count: UInt64 = 0
    @exclusivity(unchecked) private var pageSize = Page.usualSize
    /// The data file as LMDB has it open.
    @exclusivity(unchecked) private var descriptor: Int32 = -1
    /// The sums of pages below which a tree was admitted as a whole. Guarded by the writer's lock.
    @exclusivity(unchecked) var wholeTrees: [UInt64: UInt32] = [:]
    private let path: String
    /// The greatest length of the file that was seen, in bytes, and the time when it was looked at last.
    private let knownLength = Atomic<Int>(0)
    private let lookedAt = Atomic<Int>(0)
    /// The damage of the page that was refused last.
    private let damage = Locked<PageDamage?>(nil)

    private let sums: PageSums

    init(path: String, sums: PageSums) {
        self.path = path
        self.sums = sums
    }

    deinit { dropMemo() }

    // MARK: The file

    /// Begins to guard a file that was opened, or whose map was replaced. No transaction may be open.
    func begin(mapSize: Int, pageSize: Int, descriptor: Int32) {
        self.pageSize = pageSize
        self.descriptor = descriptor
        if let length = FileLength.of(descriptor) { knownLength.store(length, ordering: .relaxed) }
        dropMemo()
        let pages = mapSize / pageSize
        // Memory that is not touched costs addresses only.
        let memory = mmap(nil, 4 * pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | Self.anonymousFlags, -1, 0)
        guard let memory, memory != MAP_FAILED else { return }
        memo = memory.assumingMemoryBound(to: Atomic<UInt32>.self)
        count = UInt64(pages)
    }

    private func dropMemo() {
        if let memo { munmap(memo, 4 * Int(count)) }
        (memo, count) = (nil, 0)
        wholeTrees = [:]
    }

    private static var anonymousFlags: Int32 {
        #if os(Linux)
            MAP_ANONYMOUS | 0x4000  // MAP_NORESERVE
        #else
            MAP_ANON | MAP_NORESERVE
        #endif
    }

    /// Looks at the length of the file if that has not been done for some milliseconds.
    ///
    /// - Throws: `truncated` where the file has been cut short since it was opened: to read the map beyond its end would
    ///   end the process.
    @inline(__always)
    func checkLength() throws(LMDBError) {
        var time = timespec()
        clock_gettime(Self.coarseClock, &time)
        if time.tv_nsec != lookedAt.load(ordering: .relaxed) { try checkLength(at: time.tv_nsec) }
    }

    private static var coarseClock: clockid_t {
        #if os(Linux)
            6  // CLOCK_MONOTONIC_COARSE
        #else
            CLOCK_MONOTONIC_RAW_APPROX
        #endif
    }

    @inline(never)
    private func checkLength(at now: Int) throws(LMDBError) {
        lookedAt.store(now, ordering: .relaxed)
        // Comes before the file is looked at: another thread may see it grow between the two, and note that.
        let known = knownLength.load(ordering: .acquiring)
        guard let length = presentLength(), length < known else { return }
        throw LMDBError(
            .truncated, operation: "read the data file", path: path,
            detail: "\(length) of \(known) bytes are left since it was opened")
    }

    /// The length of the file, which LMDB never makes shorter; nil if the system does not report it.
    private func presentLength() -> Int? {
        guard let length = FileLength.of(descriptor) else { return nil }
        if length > knownLength.load(ordering: .relaxed) { knownLength.store(length, ordering: .relaxed) }
        return length
    }

    // MARK: Pages

    /// The mark of the state that a commit has left; never 0. One by which pages are judged by their structure alone is
    /// another.
    static func mark(of commit: UInt64, judgesByStructure: Bool = false) -> UInt32 {
        UInt32(truncatingIfNeeded: commit) & ~structureBit | 1 << 31 | (judgesByStructure ? structureBit : 0)
    }

    private static let structureBit: UInt32 = 1 << 30

    /// Whether a page in the map is sound. `refusal` has its damage.
    ///
    /// - Parameter mark: of the state that the caller reads.
    /// - Complexity: one load where the page is remembered, else O(n) in its entries.
    @inline(__always)
    func admits(_ number: UInt64, _ page: UnsafeRawBufferPointer, _ mark: UInt32, in table: Contents = .records) -> Bool
    {
        if number < count, let memo {
            let known = memo[Int(truncatingIfNeeded: number)].load(ordering: .relaxed)
            if known == mark || known != 0 && known == sums.entry(number).sum { return true }
        }
        return look(number, page, mark, table)
    }

    /// Whether a page was admitted with this sum.
    @inline(__always)
    func remembers(_ number: UInt64, _ sum: UInt32) -> Bool {
        guard number < count, let memo else { return false }
        return sum != 0 && memo[Int(truncatingIfNeeded: number)].load(ordering: .relaxed) == sum
    }

    /// Admits a page that lies in the map.
    ///
    /// - Throws: `corrupted`, with the number of the page and its damage.
    @inline(__always)
    func admit(
        _ number: UInt64, _ page: UnsafeRawBufferPointer, _ mark: UInt32, in table: Contents = .records
    ) throws(LMDBError) {
        guard admits(number, page, mark, in: table) else { throw refusal }
    }

    /// Whether the pages of a long value in the map are sound, from its first page on. All of them lie in the map.
    func admitsLongValue(_ first: UInt64, from start: UnsafeRawPointer, pageCount: Int, _ mark: UInt32) -> Bool {
        for index in 0..<pageCount {
            let page = UnsafeRawBufferPointer(start: start + index * pageSize, count: pageSize)
            guard admits(first + UInt64(index), page, mark, in: index == 0 ? .records : .restOfLongValue) else {
                return false
            }
        }
        return true
    }

    /// Whether pages were admitted by the sums that they have now.
    func areSummed(_ numbers: ClosedRange<UInt64>) -> Bool {
        guard numbers.upperBound < count, let memo else { return false }
        return numbers.allSatisfy { number in
            let known = memo[Int(number)].load(ordering: .relaxed)
            return known != 0 && known == sums.entry(number).sum
        }
    }

    /// Whether a copy of a page is sound.
    func admitsCopy(_ number: UInt64, _ page: UnsafeRawBufferPointer, _ mark: UInt32) -> Bool {
        do throws(PageDamage) {
            _ = try hold(number, page, mark, .records)
            return true
        } catch {
            note(error)
            return false
        }
    }

    @inline(never)
    private func look(_ number: UInt64, _ page: UnsafeRawBufferPointer, _ mark: UInt32, _ table: Contents) -> Bool {
        let sum: UInt32?
        do throws(PageDamage) {
            try checkIsInFile(number)
            sum = try hold(number, page, mark, table)
        } catch {
            note(error)
            return false
        }
        if number < count, let memo { memo[Int(number)].store(sum ?? mark, ordering: .relaxed) }
        return true
    }

    /// Holds a page against its sum, or looks at its structure where it has none.
    ///
    /// - Returns: its sum, if it has one.
    private func hold(
        _ number: UInt64, _ bytes: UnsafeRawBufferPointer, _ mark: UInt32, _ table: Contents
    ) throws(PageDamage) -> UInt32? {
        switch mark & Self.structureBit == 0 ? sums.verdict(number, bytes) : .unknown {
        case .sound(let sum): return sum
        case .unknown:
            try check(number, bytes, table)
            return nil
        case .damaged: throw PageDamage(number, PageDamage.otherPage)
        }
    }

    private func checkIsInFile(_ number: UInt64) throws(PageDamage) {
        let (end, overflow) = (number &+ 1).multipliedReportingOverflow(by: UInt64(pageSize))
        guard !overflow else { throw PageDamage(number, "there is no such page") }
        if end <= knownLength.load(ordering: .relaxed) { return }
        if let length = presentLength(), end > length { throw PageDamage(number, "the file ends before it") }
    }

    private func check(_ number: UInt64, _ bytes: UnsafeRawBufferPointer, _ table: Contents) throws(PageDamage) {
        if table == .restOfLongValue { return }
        switch Page.kind(of: bytes) {
        case .branch:
            try Page(checking: bytes, number: number, as: .branch).checkOrder(number, .branch, table)
        case .leaf:
            let page = try Page(checking: bytes, number: number, as: .leaf)
            try page.checkOrder(number, .leaf, table)
            try page.checkFlags(number, table)
        case .longValue:
            guard Page.number(of: bytes) == number else { throw PageDamage(number, "it has another number") }
            let count = UInt64(Page.pageCount(ofLongValue: bytes))
            guard count > 0 else { throw PageDamage(number, "a long value without pages") }
            try checkIsInFile(number &+ count &- 1)
        default: throw PageDamage(number, "it is of no kind that a table has")
        }
    }

    // MARK: Damage

    /// Keeps the damage for `refusal`.
    func note(_ damage: PageDamage) { self.damage.withLock { $0 = damage } }

    /// The error for the page that was refused last.
    var refusal: LMDBError {
        let detail = damage.withLock { $0.map { "page \($0.page): \($0.sentence)" } ?? "" }
        return LMDBError(.corrupted, operation: "read a page", path: path, detail: detail)
    }
}

extension PageGuard {
    /// The kind of a tree's entries.
    enum Contents {
        /// Lists of free pages, whose keys are numbers in the byte order of the host.
        case freeLists
        /// Records of tables.
        case tables
        /// Records of a table.
        case records
        /// Bytes of a long value behind its first page, which are not looked into.
        case restOfLongValue
    }

    /// Prefetches the memory of a page's entry in `memo`.
    @inline(__always)
    func prefetch(_ number: UInt64) {
        if number < count, let memo { clmdb_prefetch(memo + Int(truncatingIfNeeded: number)) }
    }
}

extension Page {
    /// Checks that keys ascend.
    fileprivate func checkOrder(_ number: UInt64, _ kind: Kind, _ table: PageGuard.Contents) throws(PageDamage) {
        // A branch page's first entry has no key.
        let first = kind == .leaf ? 0 : 1
        guard count > first, var previous = key(first) else { return }
        var index = first + 1
        while index < count {
            guard let next = key(index), Self.ascend(previous, next, table) else {
                throw PageDamage(number, "the keys of entries \(index - 1) and \(index) do not ascend")
            }
            previous = next
            index += 1
        }
    }

    private static func ascend(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ table: PageGuard.Contents
    ) -> Bool {
        guard table == .freeLists else { return first.compare(with: second) < 0 }
        guard first.count == 8, second.count == 8 else { return false }
        return first.loadUnaligned(as: UInt64.self) < second.loadUnaligned(as: UInt64.self)
    }

    /// Checks that no entry of a leaf is of a kind that the table does not have.
    fileprivate func checkFlags(_ number: UInt64, _ table: PageGuard.Contents) throws(PageDamage) {
        for index in 0..<count {
            guard let entry = entry(index) else { continue }
            let isTree = entry.flags == Entry.treeFlag && entry.valueSize == TreeRecord.size
            guard entry.flags & ~Entry.longValueFlag == 0 || isTree && table == .tables else {
                throw PageDamage(number, "entry \(index) has flags \(entry.flags)")
            }
        }
    }
}
