#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import Synchronization

/// The address space that the maps of this process take.
///
/// A large map costs nothing but addresses, but a process has only 128 TiB of them: after 512 maps of 256 GiB it gets
/// neither memory nor threads. So each new map takes a fraction of the part of a budget that the others have left, and
/// a map that fills up grows.
enum AddressSpace {
    /// The address space of all maps together above which new ones have the smallest size.
    private static let budgetInBytes = 2 << 40
    /// The divisor of the remaining budget that gives the size of one map.
    private static let divisor = 8
    /// The smallest size is the budget divided by this.
    private static let largestDivisor = 2_048

    private static let mappedInBytes = Atomic<Int>(0)

    /// The largest size that a new map should have now, in bytes: 256 GiB for the first.
    static var share: Int { share(mapped: mappedInBytes.load(ordering: .relaxed), limit: limitInBytes) }

    /// - Parameter limit: the address space that the process may use, in bytes.
    static func share(mapped: Int, limit: Int) -> Int {
        // The process needs addresses for everything else too.
        let budget = min(budgetInBytes, limit / 4)
        return max((budget - mapped) / divisor, budget / largestDivisor)
    }

    /// Counts a map that took `old` bytes as one of `new` bytes.
    static func note(_ new: Int, insteadOf old: Int) { mappedInBytes.add(new - old, ordering: .relaxed) }

    private static var limitInBytes: Int {
        var limit = rlimit()
        #if canImport(Glibc)
            let kind = __rlimit_resource_t(9)  // RLIMIT_AS
        #else
            let kind = RLIMIT_AS
        #endif
        guard getrlimit(kind, &limit) == 0 else { return .max }
        return Int(clamping: limit.rlim_cur)
    }
}
