#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB

/// Reads the length of an open file, as cheaply as the system allows.
enum FileLength {
    /// The length in bytes; nil if it is no plain file, or if the system call fails.
    ///
    /// On Linux only the length is requested: reading the times makes the next sync slower (`clmdb_identify`).
    static func of(_ descriptor: Int32) -> Int? {
        let length = clmdb_length(descriptor)
        if length != -2 { return length < 0 ? nil : Int(length) }
        // An older system or a sandbox does not know the call.
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }
}
