package import Foundation

/// Files that appear together: each is written under another name beside its place, and all get their names when every
/// one is complete.
///
/// Before that, `abandon` leaves the file system as it was.
package struct NewFiles: Sendable {
    private struct Part {
        let path: String
        let target: String
    }

    private var parts: [Part] = []
    /// The directories that were made, outer ones first.
    private var directories: [String] = []

    package init() {}

    /// Makes a directory, with those above it, unless it exists.
    ///
    /// - Throws: `POSIXError`.
    package mutating func makeDirectory(_ path: String) throws {
        let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        if mkdir(path, 0o777) == 0 {
            directories.append(path)
            return
        }
        switch errno {
        case EEXIST where Self.isDirectory(path): return
        case ENOENT:
            let parent = (path as NSString).deletingLastPathComponent
            guard !parent.isEmpty, parent != path else { throw Self.failure(ENOENT) }
            try makeDirectory(parent)
            guard mkdir(path, 0o777) == 0 else { throw Self.failure(errno) }
            directories.append(path)
        case EEXIST: throw Self.failure(ENOTDIR)
        case let number: throw Self.failure(number)
        }
    }

    /// Writes a file that replaces one of the name in the end. For a symbolic link, that is its target. A pipe, a socket or
    /// a device is not replaced: it gets the bytes at once.
    ///
    /// - Throws: `POSIXError`.
    package mutating func write(_ data: Data, to path: String) throws {
        var status = stat()
        let isThere = stat(path, &status) == 0
        if isThere, status.st_mode & S_IFMT == S_IFDIR { throw Self.failure(EISDIR) }
        if isThere, status.st_mode & S_IFMT != S_IFREG {
            try Self.write(data, to: open(path, O_WRONLY | O_CLOEXEC))
            return
        }
        let target = isThere ? URL(filePath: path).resolvingSymlinksInPath().path(percentEncoded: false) : path
        let part = Part(path: "\(target).\(UUID().uuidString.prefix(8)).partial", target: target)
        let descriptor = open(part.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        if descriptor >= 0 { parts.append(part) }
        if isThere, descriptor >= 0 { fchmod(descriptor, status.st_mode & 0o777) }
        try Self.write(data, to: descriptor)
    }

    /// Gives the files their names.
    ///
    /// - Throws: `POSIXError`.
    package mutating func finish() throws {
        while let part = parts.first {
            guard rename(part.path, part.target) == 0 else { throw Self.failure(errno) }
            parts.removeFirst()
        }
        directories.removeAll()
    }

    /// Removes what was written and has not got its name, and the directories that were made for it.
    package mutating func abandon() {
        for part in parts { unlink(part.path) }
        for directory in directories.reversed() { rmdir(directory) }
        parts.removeAll()
        directories.removeAll()
    }

    // MARK: The system

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func failure(_ number: Int32) -> POSIXError { POSIXError(POSIXErrorCode(rawValue: number) ?? .EIO) }

    /// Writes everything and closes the file; -1 is a file that could not be opened just now.
    ///
    /// - Throws: `POSIXError`.
    private static func write(_ data: Data, to descriptor: Int32) throws {
        guard descriptor >= 0 else { throw failure(errno) }
        let number = data.withUnsafeBytes { bytes -> Int32? in
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
        // Some file systems say only here that they are full.
        let isClosed = close(descriptor) == 0
        if let number = number ?? (isClosed ? nil : errno) { throw failure(number) }
    }
}
