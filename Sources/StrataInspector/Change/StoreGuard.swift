import Foundation
import StrataModel

/// Keeps all processes from opening a store while its file is replaced.
///
/// Every process that has a store open holds a shared lock on the first byte of `lock.mdb`, and takes it before it opens
/// the file. An exclusive lock on that byte therefore means that no process has the store open or can open it. The lock
/// belongs to the open file description, so that it also excludes openings in this process.
struct StoreGuard {
    private let descriptor: Int32

    // F_OFD_SETLK, which the C library declares only for GNU sources.
    #if os(Linux)
        private static let setLock: Int32 = 37
    #else
        private static let setLock: Int32 = 90
    #endif

    /// Commands have a store open for a moment.
    static let usualPatience = Duration.seconds(1)

    /// - Parameter patience: how long it waits for processes that have the store open.
    /// - Throws: `persistentStoreTimeout` when another process has the store open.
    init(_ path: String, patience: Duration = .zero) throws {
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
        let deadline = ContinuousClock.now + patience
        while fcntl(descriptor, Self.setLock, &lock) != 0 {
            guard ContinuousClock.now < deadline else {
                close(descriptor)
                throw StrataError(
                    .persistentStoreTimeout, "Another process has the store open; nothing was changed.",
                    context: .init(path: path))
            }
            usleep(500)
        }
    }

    func release() { close(descriptor) }
}
