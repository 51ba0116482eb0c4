import Foundation

/// Help with files for large values, backups and listings: to sync a directory, to ask for sizes and names.
enum BlobFile {
    /// A failed system call.
    struct Failure: Error, CustomStringConvertible {
        let operation: String
        let path: String
        let number: Int32
        /// What is wrong, where that is not what the system's number says.
        var detail: String?

        /// Whether the disk is full or failed, or a quota or limit was reached.
        var isOfDisk: Bool { [ENOSPC, EIO, EDQUOT, EFBIG].contains(number) }

        var reason: String { detail ?? String(cString: strerror(number)) }
        var description: String { "\(operation) \(path): \(reason)" }
    }

    static func syncDirectory(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(operation: "open", path: path, number: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw Failure(operation: "sync", path: path, number: errno) }
    }

    /// Makes a directory and those above it that are missing, and makes their names durable.
    ///
    /// - Parameter mode: of the directory itself; nil for the one that new directories have.
    static func makeDirectories(_ url: URL, mode: Int? = nil) throws {
        var missing: [URL] = []
        var next = url.absoluteURL.standardizedFileURL
        while !exists(next.path(percentEncoded: false)) {
            missing.append(next)
            next = next.deletingLastPathComponent()
        }
        guard !missing.isEmpty else { return }
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: mode.map { [.posixPermissions: $0] })
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

    /// Nil if there is no plain file.
    static func size(_ path: String) -> UInt64? {
        var info = stat()
        guard lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
        return UInt64(info.st_size)
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// No names for a missing directory.
    static func names(in directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        return names(of: stream)
    }

    /// The sorted names in an open directory, which is closed.
    static func names(of stream: OpaquePointer) -> [String] {
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
