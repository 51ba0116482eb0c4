#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB

/// The length of a file that commits and reads ask for again and again.
enum FileLength {
    /// In bytes; nil for what is not a plain file, and where the system does not tell.
    ///
    /// Linux is asked for nothing but the length: a look at the times makes the next sync slower (`clmdb_identify`).
    static func of(_ descriptor: Int32) -> Int? {
        let length = clmdb_length(descriptor)
        if length != -2 { return length < 0 ? nil : Int(length) }
        // An older system or a sandbox does not know the call.
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }
}
