#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A lock of a process on a file or a part of it, which the system frees when the process ends or closes any descriptor of
/// the file.
struct RecordLock {
    private var lock = flock()

    /// - Parameters:
    ///   - type: `F_WRLCK`, `F_RDLCK` or `F_UNLCK`.
    ///   - length: the number of bytes from the first one; 0 is the whole file.
    init(_ type: Int16, length: off_t = 0) {
        lock.l_type = type
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 0
        lock.l_len = length
    }

    /// Sets the lock without waiting; if it fails, `errno` says why.
    mutating func set(on file: Int32) -> Bool { fcntl(file, F_SETLK, &lock) == 0 }

    /// The other process that has a lock which a lock for reading would wait for; nil if none has. It is 0 or less if the
    /// system does not say which one.
    static func holder(of file: Int32, length: off_t = 0) -> pid_t? {
        var wanted = RecordLock(Int16(F_RDLCK), length: length)
        guard fcntl(file, F_GETLK, &wanted.lock) == 0, wanted.lock.l_type != Int16(F_UNLCK) else { return nil }
        return wanted.lock.l_pid
    }
}
