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
        while let holder = Self.holder(of: opened) {
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

    /// The process that has the byte for itself, nil if none has it. It is 0 or less if the system does not say which one.
    private static func holder(of file: Int32) -> pid_t? {
        var lock = flock()
        lock.l_type = Int16(F_RDLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 0
        lock.l_len = 1
        guard fcntl(file, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) else { return nil }
        return lock.l_pid
    }
}
