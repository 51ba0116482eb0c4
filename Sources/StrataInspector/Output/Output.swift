import Foundation
import Locking

/// Standard output, buffered, which ends the program quietly when its reader has gone.
///
/// `buffer` is guarded by its mutex.
final class Output: Sendable {
    static let shared = Output()

    private let buffer = Locked<[UInt8]>([])
    private static let limit = 1 << 16

    /// A closed pipe then shows as an error of `write` and not as a signal.
    static func ignoreClosedPipes() { signal(SIGPIPE, SIG_IGN) }

    func line(_ text: String = "") {
        let isFull = buffer.withLock { buffer in
            buffer.append(contentsOf: text.utf8)
            buffer.append(UInt8(ascii: "\n"))
            return buffer.count > Self.limit
        }
        if isFull { flush() }
    }

    func flush() {
        let bytes = buffer.withLock { buffer in
            defer { buffer.removeAll(keepingCapacity: true) }
            return buffer
        }
        if !Self.write(bytes, to: STDOUT_FILENO) { Foundation.exit(ExitStatus.fine) }
    }

    static func printError(_ text: String) { _ = write(Array((text + "\n").utf8), to: STDERR_FILENO) }

    static func printErrorPart(_ text: String) { _ = write(Array(text.utf8), to: STDERR_FILENO) }

    /// - Returns: false when nobody reads any more.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = Foundation.write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
                if count > 0 {
                    written += count
                } else if errno != EINTR {
                    return false
                }
            }
            return true
        }
    }
}
