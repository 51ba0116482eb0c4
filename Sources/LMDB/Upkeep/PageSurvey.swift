/// What a look at every page of a file has found.
package struct PageSurvey: Sendable {
    /// One thing that is wrong.
    package struct Problem: Sendable, Hashable {
        /// The number of the page.
        package let page: UInt64
        /// What is wrong with it, as the end of a sentence that begins with the page.
        package let sentence: String
    }

    /// Which commits of a file are looked at.
    package enum Scope: Sendable {
        /// The newest.
        case newest
        /// The newest and the one before it, which LMDB returns to if the newest meta page is lost.
        case newestAndOneBefore
    }

    /// What is wrong; empty if the file is whole.
    package internal(set) var problems: [Problem]
    /// Whether the pages have sums, which they were compared with.
    package internal(set) var hasSums = false
    /// Whether LMDB can follow the trees of the newest commit.
    package let treesAreWhole: Bool
    /// Whether the meta pages are as they must be; if not, nothing else was looked at.
    package let metaPagesAreWhole: Bool
    /// How many pages were read.
    package let pageCount: Int
    /// How many bytes were read.
    package let sizeInBytes: Int

    /// Looks at the pages of a commit that is kept readable meanwhile.
    ///
    /// A writer may have replaced the commit before by the next one, which is then not looked at.
    init(of commit: UInt64, _ scope: Scope, _ metas: MetaPageCheck, _ file: PageCopies) {
        let own = commit & 1
        let (newest, other) = (metas.meta(own).transaction, metas.meta(own ^ 1))
        let isOvertaken = newest == commit && other.transaction == commit &+ 1
        var found = isOvertaken ? [] : metas.problems(newest: commit)
        if found.isEmpty, newest != commit { found = [PageDamage(own, "it says commit \(newest); \(commit) is read")] }
        var pageCount = 2
        metaPagesAreWhole = found.isEmpty
        if metaPagesAreWhole {
            let hasOther = !isOvertaken && commit > 1
            let now = metas.partition(of: own, in: file, frees: hasOther && other.main.depth > 0)
            found = now.problems
            pageCount += now.pageCount
            treesAreWhole = now.treesAreWhole
            if scope == .newestAndOneBefore, hasOther {
                let before = metas.partition(of: own ^ 1, in: file, frees: false)
                found += before.problems.map { PageDamage($0.page, "\($0.sentence) (in the commit before the newest)") }
                pageCount += before.pageCount
            }
        } else {
            treesAreWhole = false
        }
        problems = found.map { Problem(page: $0.page, sentence: $0.sentence) }
        self.pageCount = pageCount
        sizeInBytes = pageCount * file.pageSize
    }
}

extension MetaPageCheck {
    fileprivate func partition(of number: UInt64, in file: PageCopies, frees: Bool) -> FilePartition {
        pages[Int(number)].withUnsafeBytes { FilePartition($0, number, in: file, frees: frees) }
    }
}
