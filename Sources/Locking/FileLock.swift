#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Takes a `flock` or gives up at a deadline, because the process that has the lock may be stopped.
package enum FileLock {
    /// Whether other processes may have the lock at the same time.
    package enum Kind: Sendable {
        case shared, exclusive
    }

    /// The usual time to wait while another process holds a lock for a short piece of work.
    package static let patience = Duration.seconds(10)

    /// Takes the lock of an open file or directory.
    ///
    /// - Returns: 0; `EWOULDBLOCK` if it was not free until the deadline; otherwise the system's error number.
    package static func take(
        _ kind: Kind, of descriptor: Int32, until deadline: ContinuousClock.Instant
    ) -> Int32 {
        let operation = (kind == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB
        var pause: UInt32 = 50
        while flock(descriptor, operation) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { return errno }
            guard ContinuousClock.now < deadline else { return EWOULDBLOCK }
            usleep(pause)
            pause = min(pause * 2, 2_000)
        }
        return 0
    }
}
