/// Checks that each page of the file, from page 2 to the last, is either reached once by the trees of a commit or named
/// once by its free lists.
///
/// LMDB reuses whatever the free lists say. A page that is free and in use is overwritten by a later commit.
///
/// A commit accounts for every page: what it takes and gives back itself (LMDB's loose pages) is in a list as well, and
/// pages that older readers may still see are in the list of the commit that freed them. Pages behind the last one that
/// the meta page counts belong to no commit; a process that was killed leaves them there.
final class FilePartition {
    private let meta: MetaPage
    /// The pages that the free lists name.
    private(set) var free: PageSet
    /// The newest commit that has a free list; 0 if none has.
    private var newestList: UInt64 = 0
    /// The pages that are neither in a tree nor in a free list: those of omitted tables, or else a problem.
    private(set) var rest: [UInt64] = []
    private(set) var problems: [PageDamage] = []
    /// Whether every page of the trees was as it must be, so that LMDB can follow them.
    private(set) var treesAreWhole = false
    /// The number of pages of the trees.
    private(set) var pageCount = 0
    private static let mostProblems = 1000

    /// - Parameters:
    ///   - bytes: the meta page of the commit.
    ///   - number: its number.
    ///   - frees: whether the commit is known to have freed pages, as every commit does that follows upon one with a
    ///     tree.
    ///   - scope: may omit tables. Then a page that nothing leads to is no problem.
    init(
        _ bytes: UnsafeRawBufferPointer, _ number: UInt64, in file: PageCopies, frees: Bool,
        _ scope: TreeCheck.Scope = TreeCheck.Scope()
    ) {
        meta = MetaPage(bytes)
        free = PageSet(through: meta.lastPage)
        var check = TreeCheck(file, lastPage: meta.lastPage, scope) { list, page throws(PageDamage) in
            try self.note(list, on: page)
        }
        do throws(PageDamage) {
            try check.check(bytes, number)
            treesAreWhole = true
            compare(check.reached, isWhole: scope.omitted.isEmpty)
            if newestList != meta.transaction, newestList != 0 || frees {
                note(PageDamage(number, "it says commit \(meta.transaction); the newest free list is of \(newestList)"))
            }
        } catch {
            note(error)
        }
        pageCount = check.reached.count
    }

    private func note(_ problem: PageDamage) {
        if problems.count < Self.mostProblems { problems.append(problem) }
    }

    private func note(_ list: FreeList, on page: UInt64) throws(PageDamage) {
        guard list.commit >= 1, list.commit <= meta.transaction else {
            throw PageDamage(page, "a free list of commit \(list.commit), which there has not been")
        }
        // Each commit frees pages, and LMDB gathers the lists from the oldest on.
        guard newestList == 0 || list.commit == newestList + 1 else {
            throw PageDamage(page, "a free list of commit \(list.commit) follows upon that of \(newestList)")
        }
        newestList = list.commit
        var before = UInt64.max
        for index in 0..<list.count {
            let number = list[index]
            guard number >= 2, number <= meta.lastPage, number < before else {
                throw PageDamage(page, "the free list of commit \(list.commit) names page \(number) in a wrong place")
            }
            before = number
            if !free.insert(number) { note(PageDamage(number, "two free lists name it")) }
        }
    }

    private func compare(_ reached: PageSet, isWhole: Bool) {
        guard meta.lastPage >= 2 else { return }
        var number: UInt64 = 2
        while number <= meta.lastPage {
            let (isFree, isReached) = (free.contains(number), reached.contains(number))
            guard isFree == isReached else {
                number += 1
                continue
            }
            var last = number
            while last < meta.lastPage, free.contains(last + 1) == isFree, reached.contains(last + 1) == isReached {
                last += 1
            }
            defer { number = last + 1 }
            if !isFree { rest += number...last }
            guard isFree || isWhole else { continue }
            let what =
                isFree
                ? "in use and in a free list: the next commits write over it" : "neither in use nor in a free list"
            note(PageDamage(number, last == number ? "it is \(what)" : "pages \(number) to \(last) are \(what)"))
        }
    }
}
