#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB
import Locking

/// Has the system send the pages of a large commit to the disk while LMDB still hands it the rest.
///
/// LMDB writes all pages to the system's cache, then asks for a sync, and waits. Meanwhile a thread of this type asks
/// every 200 us that the pages written so far be sent to the disk (`sync_file_range`, which guarantees nothing: the
/// sync is still needed). The sync reports what cannot be written, since only calls that wait consume a file's errors,
/// and this call does not wait (sync_file_range(2)). Without the call, or without a thread, a commit only takes longer.
///
/// Measured by `strata-bench run --size 1000000 --filter cascade`.
struct EarlyWriting {
    /// Transactions shorter than this write too little to gain.
    private static let least = Duration.milliseconds(4)
    private static let pauseInMicroseconds: UInt32 = 200
    /// Whether to stop; its lock is held while the file is used.
    private let isOver: Locked<Bool>

    /// Starts for a transaction that took `duration`; nil if that is not worth it, or if there is no thread.
    ///
    /// - Parameter file: must stay open until `end`.
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

    /// Stops; the file is not used afterwards.
    func end() { isOver.withLock { $0 = true } }
}
