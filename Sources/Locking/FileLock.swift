#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A `flock` that is waited for only until a deadline: the process that has it may be stopped.
package enum FileLock {
    /// Whether other processes may have the lock at the same time.
    package enum Kind: Sendable {
        case shared, exclusive
    }

    /// How long a short piece of work of another process is waited for.
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
