package import Foundation

/// Help with files for large values, backups and listings: to write and sync, to ask for sizes and names.
package enum BlobFile {
    /// A failed system call.
    package struct Failure: Error, CustomStringConvertible {
        package let operation: String
        package let path: String
        package let number: Int32
        /// The reason of the failure, where the system's error number does not say it.
        package var detail: String?

        package init(operation: String, path: String, number: Int32, detail: String? = nil) {
            self.operation = operation
            self.path = path
            self.number = number
            self.detail = detail
        }

        /// Whether the disk is full or failed, or a quota or limit was reached.
        package var isOfDisk: Bool { [ENOSPC, EIO, EDQUOT, EFBIG].contains(number) }

        package var reason: String { detail ?? String(cString: strerror(number)) }
        package var description: String { "\(operation) \(path): \(reason)" }
    }

    package static func syncDirectory(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(operation: "open", path: path, number: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw Failure(operation: "sync", path: path, number: errno) }
    }

    /// Makes a directory and those above it that are missing, and makes their names durable.
    ///
    /// - Parameter mode: of the directory itself; nil for the one that new directories have.
    package static func makeDirectories(_ url: URL, mode: Int? = nil) throws {
        var missing: [URL] = []
        var next = url.absoluteURL.standardizedFileURL
        while !exists(next.path(percentEncoded: false)) {
            missing.append(next)
            next = next.deletingLastPathComponent()
        }
        guard !missing.isEmpty else { return }
        do {
            for place in missing.reversed() {
                let path = place.path(percentEncoded: false)
                guard mkdir(path, place == missing[0] ? mode_t(mode ?? 0o777) : 0o777) != 0 else { continue }
                let number = errno
                var status = stat()
                // Another process may have made it.
                if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { continue }
                throw Failure(
                    operation: "make a directory", path: path, number: number == EEXIST ? ENOTDIR : number)
            }
            for made in missing {
                let parent = made.deletingLastPathComponent().path(percentEncoded: false)
                // A directory that this user may not list cannot be synced either.
                if access(parent, R_OK) == 0 { try syncDirectory(parent) }
            }
        } catch {
            // The next try makes them again, and syncs.
            for made in missing { rmdir(made.path(percentEncoded: false)) }
            throw error
        }
    }

    /// Writes a private file piece by piece, and syncs it.
    package static func create(_ path: String, _ body: (_ write: (Data) throws -> Void) throws -> Void) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(operation: "create", path: path, number: errno) }
        defer { close(descriptor) }
        try body { try writeAll($0, descriptor, path) }
        guard fsync(descriptor) == 0 else { throw Failure(operation: "sync", path: path, number: errno) }
    }

    /// Writes all bytes at the position of an open file.
    ///
    /// - Parameter path: for the error.
    package static func writeAll(_ data: Data, _ descriptor: Int32, _ path: String) throws {
        try writeAll(BytesInPieces(data), descriptor, path)
    }

    static func writeAll(_ bytes: BytesInPieces, _ descriptor: Int32, _ path: String) throws {
        try bytes.forEach { bytes in
            var written = 0
            while written < bytes.count {
                let count = Foundation.write(
                    descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
                if count > 0 {
                    written += count
                } else if errno != EINTR {
                    throw Failure(operation: "write", path: path, number: errno)
                }
            }
        }
    }

    /// Nil if there is no plain file.
    static func size(_ path: String) -> UInt64? {
        var info = stat()
        guard lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
        return UInt64(info.st_size)
    }

    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// No names for a missing directory.
    package static func names(in directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        return names(of: stream)
    }

    /// The sorted names in an open directory, which is closed.
    package static func names(of stream: OpaquePointer) -> [String] {
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    static func digest(_ name: String) -> Data? {
        guard name.utf8.count == 64 else { return nil }
        var digest = Data(capacity: 32)
        var rest = Substring(name)
        while !rest.isEmpty {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
            digest.append(byte)
            rest = rest.dropFirst(2)
        }
        return digest
    }
}
