#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A mutex with a condition whose waits can end at a deadline. Waits do not depend on the wall clock.
///
/// Both have fixed addresses for the life of the object, and the operating system guards their state, so the class is
/// `Sendable`.
package final class TimedMonitor: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init() {
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        #if canImport(Darwin)
            pthread_cond_init(condition, nil)
        #else
            var attributes = pthread_condattr_t()
            pthread_condattr_init(&attributes)
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            pthread_cond_init(condition, &attributes)
            pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Runs the body with the mutex held.
    package func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// Waits for a broadcast, which may come for another reason, at most until the deadline. The mutex must be held.
    /// - Returns: false when the deadline has passed.
    package func wait(until deadline: ContinuousClock.Instant) -> Bool {
        let remaining = ContinuousClock.now.duration(to: deadline)
        guard remaining > .zero else { return false }
        // A deadline that is far away is waited for in parts; callers loop.
        let part = min(remaining, .seconds(60)).components
        var time = timespec()
        #if canImport(Darwin)
            time.tv_sec = Int(part.seconds)
            time.tv_nsec = Int(part.attoseconds / 1_000_000_000)
            _ = pthread_cond_timedwait_relative_np(condition, mutex, &time)
        #else
            clock_gettime(CLOCK_MONOTONIC, &time)
            let nanoseconds = time.tv_nsec + Int(part.attoseconds / 1_000_000_000)
            time.tv_sec += Int(part.seconds) + nanoseconds / 1_000_000_000
            time.tv_nsec = nanoseconds % 1_000_000_000
            _ = pthread_cond_timedwait(condition, mutex, &time)
        #endif
        return true
    }

    /// Wakes every waiter.
    package func broadcast() {
        pthread_cond_broadcast(condition)
    }
}
