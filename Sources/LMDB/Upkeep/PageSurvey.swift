/// The findings of a survey of every page of a file.
package struct PageSurvey: Sendable {
    /// One thing that is wrong.
    package struct Problem: Sendable, Hashable {
        /// The number of the page.
        package let page: UInt64
        /// The problem, as the end of a sentence that begins with the page.
        package let sentence: String
    }

    /// The problems; empty if the file is whole.
    package internal(set) var problems: [Problem]
    /// Whether the pages have sums, which they were compared with.
    package internal(set) var hasSums = false
    /// Whether LMDB can follow the trees of the newest commit.
    package let treesAreWhole: Bool
    /// Whether the meta pages are as they must be; if not, nothing else was looked at.
    package let metaPagesAreWhole: Bool
    /// The number of pages that were read.
    package let pageCount: Int
    /// The number of bytes that were read.
    package let sizeInBytes: Int

    /// Looks at the pages of a commit that is kept readable meanwhile.
    ///
    /// The trees of the commit before are not looked at. After a power cut their pages may have been written over
    /// (`Durability.relaxed`), and the next commit replaces what the other meta page says of them.
    init(of commit: UInt64, _ metas: MetaPageCheck, _ file: PageCopies) {
        let own = commit & 1
        let (newest, other) = (metas.meta(own).transaction, metas.meta(own ^ 1))
        // A writer may have replaced the commit before by the next one.
        let isOvertaken = newest == commit && other.transaction == commit &+ 1
        var found = isOvertaken ? [] : metas.problems(newest: commit)
        if found.isEmpty, newest != commit { found = [PageDamage(own, "it says commit \(newest); \(commit) is read")] }
        var pageCount = 2
        metaPagesAreWhole = found.isEmpty
        if metaPagesAreWhole {
            let partition = metas.partition(
                of: own, in: file, frees: !isOvertaken && commit > 1 && other.main.depth > 0)
            found = partition.problems
            pageCount += partition.pageCount
            treesAreWhole = partition.treesAreWhole
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
