#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB
import Synchronization

/// Makes small commits into a large file cheaper on Linux: after a commit it splits the folios in which the page cache
/// holds what the commit added to the data file. A folio is a run of pages that Linux caches as one.
///
/// Since Linux 6.16 ext4 caches what one call writes as one folio: LMDB's writes make folios of up to 256 KiB. Writing
/// one page later costs a walk over its whole folio, and syncing it costs another. Asking the system to age one page of
/// a folio (`MADV_COLD`) splits it into pages, and all of them stay in the cache.
///
/// The part of the file that existed when it was opened is left as it is. So are the first 64 MiB of each file: the
/// pages of a small file are rewritten close together, so splitting would cost more than it saves. Systems without
/// large folios lose nothing.
///
/// Measured by `strata-bench run --filter durable`.
final class FolioSplitter: Sendable {
    /// The smallest folio that is worth splitting, in bytes.
    static let smallestUnit = 32 << 10
    /// The size of the beginning of each file that is left as it is, in bytes.
    static let beginning = 64 << 20
    /// The growth of the file, in bytes, that is worth the calls, which take about 1 ms a MiB.
    static let leastGrowth = 256 << 10
    private static let populateRead: Int32 = 22  // MADV_POPULATE_READ
    private static let cold: Int32 = 20  // MADV_COLD
    /// Whether the file system may have large folios, and the system knows the calls.
    let isOfUse: Bool
    /// The number of folios that were split.
    let cutCount = Atomic<Int>(0)
    /// The part of the file that was split, or was there before, in bytes. Only the writer changes it.
    private let doneSize = Atomic<Int>(0)

    /// - Parameter isSynced: whether commits sync the file. Pages that are not synced are dirty, and their folios
    ///   cannot be split.
    init(_ directory: EnvironmentDirectory, isSynced: Bool) {
        #if os(Linux)
            isOfUse =
                isSynced && clmdb_file_system_type(directory.descriptor) == 0xEF53
                // A call for no bytes succeeds where the system knows it; older systems have no large folios.
                && madvise(nil, 0, Self.populateRead) == 0
        #else
            isOfUse = false
        #endif
    }

    /// Records the file's size at its opening, in bytes.
    func begin(size: Int) {
        doneSize.store(max(size, Self.beginning), ordering: .relaxed)
    }

    /// Splits the folios that a commit has added; called while the transaction still keeps the map in place.
    func committed(size: Int, mapAddress: UInt) {
        let done = doneSize.load(ordering: .relaxed)
        guard isOfUse, mapAddress != 0, size - done >= Self.leastGrowth else { return }
        let end = size / Self.smallestUnit * Self.smallestUnit
        split(from: done / Self.smallestUnit * Self.smallestUnit, to: end, mapAddress)
        doneSize.store(end, ordering: .relaxed)
    }

    private func split(from start: Int, to end: Int, _ mapAddress: UInt) {
        #if os(Linux)
            let pageSize = Int(getpagesize())
            for offset in stride(from: start, to: end, by: Self.smallestUnit) {
                guard let page = UnsafeMutableRawPointer(bitPattern: mapAddress + UInt(offset)) else { return }
                // `MADV_COLD` skips pages that are not mapped. Behind the end of the file this call fails, where a load
                // would end the process.
                guard madvise(page, pageSize, Self.populateRead) == 0 else { return }
                if madvise(page, pageSize, Self.cold) == 0 { cutCount.add(1, ordering: .relaxed) }
            }
        #endif
    }
}
