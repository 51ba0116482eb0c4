#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Distinguishes a forked child from the process that opened an environment, at the cost of one load.
///
/// The mark is on a memory page that the kernel zeroes in every child. The page is written once, before the object is
/// shared, so reading it needs no lock.
final class ForkGuard: @unchecked Sendable {
    private let page: UnsafeMutableRawPointer
    private let size = Int(getpagesize())
    private let wipes: Bool
    private let processID = getpid()

    init(path: String) throws(LMDBError) {
        let mapped = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let mapped, mapped != MAP_FAILED else { throw SystemError.current("map the fork mark", path) }
        page = mapped
        page.storeBytes(of: 1, as: UInt8.self)
        #if os(Linux)
            let wipeOnFork: Int32 = 18  // MADV_WIPEONFORK, Linux 4.14
            wipes = madvise(page, size, wipeOnFork) == 0
        #else
            wipes = minherit(page, size, VM_INHERIT_ZERO) == 0
        #endif
    }

    deinit {
        munmap(page, size)
    }

    /// Whether this process is a child of the one that made the guard.
    @inline(__always)
    var isInChild: Bool {
        if page.load(as: UInt8.self) == 0 { return true }
        return !wipes && getpid() != processID
    }
}
