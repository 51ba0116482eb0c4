package import Foundation

/// A lock of one process on a place where a store is being made. The system frees it when the process ends, so the
/// files of a killed process can be told from those that a running one is making.
package final class PlaceLock {
    private let path: String
    private let descriptor: Int32

    /// Takes the lock of a place, a hidden file beside it.
    ///
    /// - Returns: nil if another process, or another thread, has it.
    /// - Throws: `BlobFile.Failure`.
    package init?(on place: URL) throws {
        let place = place.standardizedFileURL
        path = place.deletingLastPathComponent().appending(component: ".\(place.lastPathComponent).lock")
            .path(percentEncoded: false)
        while true {
            let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard opened >= 0 else { throw BlobFile.Failure(operation: "lock", path: path, number: errno) }
            guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
                let number = errno
                close(opened)
                if number == EWOULDBLOCK { return nil }
                throw BlobFile.Failure(operation: "lock", path: path, number: number)
            }
            // The process that had the lock before has removed the file since it was opened here.
            if PlaceIdentity(path) == PlaceIdentity(descriptor: opened) {
                descriptor = opened
                return
            }
            close(opened)
        }
    }

    /// Frees the lock.
    package func release() { unlink(path) }

    deinit { close(descriptor) }
}
