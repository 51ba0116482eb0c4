import CLMDB

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The exchange of two directories in one step: at every moment, and after a power cut, each of the two names stands for
/// one of them.
package enum PathExchange {
    /// - Returns: 0, or the system's error number.
    package static func exchange(_ path: String, _ other: String) -> Int32 {
        switch clmdb_exchange(path, other) {
        case 0: 0
        case -2: ENOSYS
        default: errno
        }
    }

    /// Whether an error number says that the system or the file system cannot exchange these two, though it may be able to
    /// rename them.
    package static func isUnknown(_ number: Int32) -> Bool {
        [ENOSYS, EINVAL, ENOTSUP, EOPNOTSUPP, EXDEV].contains(number)
    }
}
