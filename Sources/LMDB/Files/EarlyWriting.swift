#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB
import Locking

/// Has the system send the pages of a large commit to the disk while LMDB still hands it the rest.
///
/// LMDB gives all pages to the system's cache, then asks for them to be synced, and waits. A thread beside it asks again
/// and again for what has come to be sent on its way (`sync_file_range`, which promises nothing: the sync that follows is
/// needed as before). What cannot be written is told by that sync: only calls that wait take a file's errors, and this one
/// does not (sync_file_range(2)). Where the system has no such call, or no thread, a commit goes as it does without.
///
/// What it comes to: `strata-bench run --size 1000000 --filter cascade`.
struct EarlyWriting {
    /// A transaction that took less than this has little to write.
    private static let least = Duration.milliseconds(4)
    private static let pauseInMicroseconds: UInt32 = 200
    /// Held while the file is used.
    private let isOver: Locked<Bool>

    /// Begins, where a transaction that took so long is worth it.
    ///
    /// - Parameter file: stays open until `end`.
    init?(_ file: Int32, after duration: Duration) {
        guard duration >= Self.least else { return nil }
        let isOver = Locked(false)
        self.isOver = isOver
        do throws(BackgroundThread.Unavailable) {
            try BackgroundThread.start("strata.write") {
                while isOver.withLock({ $0 ? false : clmdb_begin_writing(file) == 0 }) {
                    usleep(Self.pauseInMicroseconds)
                }
            }
        } catch {
            return nil
        }
    }

    /// Ends it; the file is not used any more.
    func end() { isOver.withLock { $0 = true } }
}
