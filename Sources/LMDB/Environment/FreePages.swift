import Synchronization

/// Decides when a commit puts LMDB's free pages in order, so that small commits write neighbouring pages.
///
/// LMDB hands out free pages commit by commit, the oldest commit's first. The pages that a small commit frees are
/// spread over a large file, and so are then the pages of a later commit: each is a request of its own to the disk.
/// LMDB merges the lists of several commits only while it looks for a run of consecutive pages. So every sixteenth
/// commit begins by asking for the longest run there is, and gives it back. By the time LMDB has found that run it has
/// merged nearly all lists, and the commits that follow take neighbouring pages. In the file only the order of the free
/// list changes.
///
/// Measured by `strata-bench run --size 1000000 --filter durable --rounds 31`.
final class FreePages: Sendable {
    /// The number of commits from one ordering to the next.
    static let commitsBetween = 16
    /// Fewer free pages than this are not worth ordering: they are used up before the next one.
    static let fewestPages = 1024
    /// The most pages to look at, from the oldest lists, from which the next commits take theirs.
    static let mostPages = 16_384
    /// The most lists to look at: LMDB goes through 120 for a run of two pages, then makes the file longer.
    static let mostLists = 120
    /// The length of a run that is enough, in pages: a longer one would only take more memory.
    static let longestRun = 64
    /// The number of times that the lists were put in order.
    let gatheringCount = Atomic<Int>(0)
    private let commitCount = Atomic<Int>(0)

    /// Counts a commit.
    func committed() { commitCount.add(1, ordering: .relaxed) }

    /// Whether the lists are to be put in order now; if so, commits are counted from here again. Asked by the writer.
    func isDue() -> Bool {
        guard commitCount.load(ordering: .relaxed) >= Self.commitsBetween else { return false }
        commitCount.store(0, ordering: .relaxed)
        return true
    }
}
