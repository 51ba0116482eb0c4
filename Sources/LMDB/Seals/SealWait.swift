#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Waits for the seal of a commit, so that a page can be judged that this commit may have written.
///
/// A writer seals its commit within moments. A process that ended in between, or a power cut, leaves a commit without a
/// seal until the next writer comes, and waiting at each page would take hours. So no more than a tenth of a second goes
/// to one commit, however many pages ask.
struct SealWait {
    private var seal: UInt64?
    private var newest: UInt64?
    private var count = 0

    /// Sleeps for a millisecond.
    ///
    /// - Parameters:
    ///   - seal: the commit of the newest seal that is trusted.
    ///   - newest: the newest commit.
    /// - Returns: false, at once, if nothing has changed for so long that the seal is not awaited any more.
    mutating func goesOn(seal: UInt64?, newest: UInt64?) -> Bool {
        if (self.seal, self.newest) != (seal, newest) { (self.seal, self.newest, count) = (seal, newest, 0) }
        guard count < Self.mostWaits else { return false }
        count += 1
        usleep(1_000)
        return true
    }

    private static var mostWaits: Int { 100 }
}
