import Foundation
import StrataModel

/// Keeps everybody else from opening a store while its file is exchanged.
///
/// Every process that has a store open holds a lock on the first byte of `lock.mdb`, shared; whoever opens it takes
/// that first. With the byte locked for writing, nobody has it open and nobody gets it open. The lock is one of the
/// open file description, so that it also stands against this process's own openings.
struct StoreGuard {
    private let descriptor: Int32

    // F_OFD_SETLK, a number that the C library shows to GNU sources only.
    #if os(Linux)
        private static let setLock: Int32 = 37
    #else
        private static let setLock: Int32 = 90
    #endif

    /// - Throws: `persistentStoreTimeout` when another process has the store open.
    init(_ path: String) throws {
        descriptor = open(path + "/lock.mdb", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StrataError(
                .persistentStoreOpen, "\(path)/lock.mdb cannot be opened: \(String(cString: strerror(errno))).")
        }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 0
        lock.l_len = 1
        guard fcntl(descriptor, Self.setLock, &lock) == 0 else {
            close(descriptor)
            throw StrataError(
                .persistentStoreTimeout, "Another process has the store open; nothing was changed.",
                context: .init(path: path))
        }
    }

    func release() { close(descriptor) }
}
