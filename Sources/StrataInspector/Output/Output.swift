import Foundation
import Locking

/// Standard output, buffered. The program ends without an error when the reader of a pipe has closed it.
///
/// `buffer` is guarded by its mutex.
final class Output: Sendable {
    static let shared = Output()

    private let buffer = Locked<[UInt8]>([])
    private static let limit = 1 << 16

    /// Opens the standard descriptors that the parent has closed. Otherwise a file of a store gets such a number, and what
    /// is printed is written into it. Nothing can be read from them or written to them.
    static func takeClosedDescriptors() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The lowest number that is free is this one.
            _ = open("/dev/null", O_RDONLY)
        }
    }

    /// Makes a closed pipe an error of `write` instead of a signal.
    static func ignoreClosedPipes() { signal(SIGPIPE, SIG_IGN) }

    func line(_ text: String = "") { append(text, end: "\n") }

    /// Prints text without a line end.
    func text(_ text: String) { append(text, end: "") }

    private func append(_ text: String, end: StaticString) {
        let isFull = buffer.withLock { buffer in
            buffer.append(contentsOf: text.utf8)
            end.withUTF8Buffer { buffer.append(contentsOf: $0) }
            return buffer.count > Self.limit
        }
        if isFull { flush() }
    }

    func flush() {
        let bytes = buffer.withLock { buffer in
            defer { buffer.removeAll(keepingCapacity: true) }
            return buffer
        }
        guard let code = Self.write(bytes, to: STDOUT_FILENO) else { return }
        if code == EPIPE { Foundation.exit(ExitStatus.fine) }
        // A closed pipe is no error; a full disk is.
        Self.printError("strata: Standard output cannot be written: \(String(cString: strerror(code))).")
        Foundation.exit(ExitStatus.problem)
    }

    /// Whether standard output is a pipe whose other end was closed.
    static var hasNoReader: Bool { hasNoReader(STDOUT_FILENO) }

    /// Whether a descriptor is a pipe whose other end was closed.
    static func hasNoReader(_ descriptor: Int32) -> Bool {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&state, 1, 0) > 0 && state.revents & Int16(POLLERR | POLLNVAL) != 0
    }

    /// Prints lines on standard error. Names from files and stores may be in them, so what drives a terminal is escaped.
    static func printError(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { number, line in
            // Below the first line is a quoted text with a caret under it, which have the same tabs.
            ValueText.harmless(number == 0 ? String(line) : String(line.replacing("\t", with: "    ")))
        }
        _ = write(Array((lines.joined(separator: "\n") + "\n").utf8), to: STDERR_FILENO)
    }

    static func printErrorPart(_ text: String) { _ = write(Array(text.utf8), to: STDERR_FILENO) }

    /// - Returns: the system's error number; nil if everything was written.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = Foundation.write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
                if count > 0 {
                    written += count
                } else if errno != EINTR {
                    return errno
                }
            }
            return nil
        }
    }
}
