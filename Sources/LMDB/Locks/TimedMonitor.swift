#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A mutex with a condition whose waits can end at a deadline.
///
/// Both have fixed addresses for the life of the object, and the operating system guards their state, so the class is
/// `Sendable`.
final class TimedMonitor: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Runs the body with the mutex held.
    func withLock<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Waits for a broadcast at most until the deadline. The mutex must be held.
    /// - Returns: false when the deadline has passed.
    func wait(until deadline: ContinuousClock.Instant) -> Bool {
        let remaining = ContinuousClock.now.duration(to: deadline)
        guard remaining > .zero else { return false }
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        // Waiting at most a second at a time bounds the effect of a jump of the wall clock; callers loop.
        let slice = min(remaining, .seconds(1)).components
        let nanoseconds = time.tv_nsec + Int(slice.attoseconds / 1_000_000_000)
        time.tv_sec += Int(slice.seconds) + nanoseconds / 1_000_000_000
        time.tv_nsec = nanoseconds % 1_000_000_000
        _ = pthread_cond_timedwait(condition, mutex, &time)
        return true
    }

    /// Wakes every waiter.
    func broadcast() {
        pthread_cond_broadcast(condition)
    }
}
