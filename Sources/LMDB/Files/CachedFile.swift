#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB
import Synchronization

/// How the system's cache holds the file: in units that small commits rewrite a page of.
///
/// Since Linux 6.16 ext4 keeps what was written at once in one unit of the cache (a large folio): LMDB's writes make units
/// of up to 256 KiB. A page that is written later costs a walk over the whole of its unit, when it is written and again
/// when it is synced. What commits add to the file is therefore cut into pages of its own, by asking for a place in a unit
/// to be aged (`MADV_COLD`), which leaves all of it in the cache. What was there when the file was opened is left alone,
/// and so is the beginning of each file: a small one's pages are rewritten close together, and cutting is a part of what
/// it takes to fill it. Systems without such units lose nothing.
///
/// What it comes to: `strata-bench run --filter durable`.
final class CachedFile: Sendable {
    /// Smaller units cost little.
    static let smallestUnit = 32 << 10
    /// The part of each file that is left alone.
    static let beginning = 64 << 20
    /// The file's growth that is worth the calls, which come to about 1 ms a MiB.
    static let leastGrowth = 256 << 10
    private static let populateRead: Int32 = 22  // MADV_POPULATE_READ
    private static let cold: Int32 = 20  // MADV_COLD
    /// Whether the file lies where units may be large, and the system knows the calls.
    let isOfUse: Bool
    /// How often a unit was asked for.
    let cutCount = Atomic<Int>(0)
    /// Bytes of the file that have been seen to, or were there before. Changed by who writes.
    private let doneSize = Atomic<Int>(0)

    init(_ directory: EnvironmentDirectory, _ options: EnvironmentOptions) {
        #if os(Linux)
            // What is not synced is dirty and cannot be cut.
            isOfUse =
                !options.isReadOnly && options.durability != .disposable
                && clmdb_file_system_type(directory.descriptor) == 0xEF53
                // Of no bytes the call says whether it is known; systems that do not know it have no such units.
                && madvise(nil, 0, Self.populateRead) == 0
        #else
            isOfUse = false
        #endif
    }

    /// Notes the file's size at its opening.
    func begin(size: Int) {
        doneSize.store(max(size, Self.beginning), ordering: .relaxed)
    }

    /// Comes after a commit, while its transaction still keeps the map in place.
    func committed(size: Int, mapAddress: UInt) {
        let done = doneSize.load(ordering: .relaxed)
        guard isOfUse, mapAddress != 0, size - done >= Self.leastGrowth else { return }
        let end = size / Self.smallestUnit * Self.smallestUnit
        cut(from: done / Self.smallestUnit * Self.smallestUnit, to: end, mapAddress)
        doneSize.store(end, ordering: .relaxed)
    }

    private func cut(from start: Int, to end: Int, _ mapAddress: UInt) {
        #if os(Linux)
            let pageSize = Int(getpagesize())
            for offset in stride(from: start, to: end, by: Self.smallestUnit) {
                guard let page = UnsafeMutableRawPointer(bitPattern: mapAddress + UInt(offset)) else { return }
                // Only what is mapped is looked at. Behind the end of the file this fails where a look would be a signal.
                guard madvise(page, pageSize, Self.populateRead) == 0 else { return }
                if madvise(page, pageSize, Self.cold) == 0 { cutCount.add(1, ordering: .relaxed) }
            }
        #endif
    }
}
