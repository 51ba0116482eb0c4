#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import Synchronization

/// The address space that the maps of this process take.
///
/// A map is as large as it may be without another cost than addresses, but those are not without end either: 512 maps
/// of 256 GiB fill the 128 TiB of a process, and then neither memory nor threads are to be had. So each new map takes a
/// part of what the others have left of a budget, and one that fills up grows.
enum AddressSpace {
    /// What all maps together may take before new ones have the smallest size.
    private static let budgetInBytes = 2 << 40
    /// The part of what is left that one map takes.
    private static let part = 8
    /// The smallest size is the budget divided by this.
    private static let smallestPart = 2_048

    private static let mappedInBytes = Atomic<Int>(0)

    /// The largest size that a new map should have now, in bytes: 256 GiB for the first.
    static var share: Int { share(mapped: mappedInBytes.load(ordering: .relaxed), limit: limitInBytes) }

    /// - Parameter limit: the address space that the process may use, in bytes.
    static func share(mapped: Int, limit: Int) -> Int {
        // A map leaves room for everything else that the process is.
        let budget = min(budgetInBytes, limit / 4)
        return max((budget - mapped) / part, budget / smallestPart)
    }

    /// Notes that a map that took `old` bytes takes `new` now.
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
