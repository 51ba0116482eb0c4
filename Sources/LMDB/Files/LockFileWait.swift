#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension EnvironmentDirectory {
    /// Waits until no process has the first byte of LMDB's lock file for itself, as one that opens the store first or
    /// replaces its files. LMDB would wait without a limit, also for a process that is stopped.
    ///
    /// The caller holds the registry's lock: nothing else in this process has a lock on the file that closing it gives up.
    /// - Throws: `busy` at the timeout.
    func waitForLockFile(timeout: Duration) throws(LMDBError) {
        // What cannot be opened, LMDB reports, or does without.
        let opened = openat(descriptor, Self.lockName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard opened >= 0 else { return }
        defer { close(opened) }
        let deadline = ContinuousClock.now + timeout
        var pause: UInt32 = 50
        while let holder = RecordLock.holder(of: opened, length: 1) {
            guard ContinuousClock.now < deadline else {
                let name = holder > 0 ? "process \(holder)" : "another process"
                throw LMDBError(
                    .busy, operation: "open the environment", path: path,
                    detail: "\(name) has its lock file for itself, as one that replaces the store's files")
            }
            usleep(pause)
            pause = min(pause * 2, 2_000)
        }
    }
}
