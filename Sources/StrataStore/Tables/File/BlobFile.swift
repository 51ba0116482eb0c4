import Foundation

/// File operations for large values: private files, synced, never through a symbolic link.
enum BlobFile {
    /// A failed system call.
    struct Failure: Error, CustomStringConvertible {
        let operation: String
        let path: String
        let number: Int32

        /// Whether the disk is full or failed, or a quota or limit was reached.
        var isOfDisk: Bool { [ENOSPC, EIO, EDQUOT, EFBIG].contains(number) }

        var reason: String { String(cString: strerror(number)) }
        var description: String { "\(operation) \(path): \(reason)" }
    }

    /// A file below `blobs/`; `digest` is nil if the name is no digest, as for a half-written file.
    struct Entry {
        let path: String
        let digest: Data?
    }

    // MARK: Locks

    /// Waits for the shared lock of a file, which is made if it is missing.
    static func lockShared(_ path: String) throws -> Int32 {
        let descriptor = try openLock(path)
        while flock(descriptor, LOCK_SH) != 0 {
            guard errno == EINTR else {
                let failure = Failure(operation: "lock", path: path, number: errno)
                close(descriptor)
                throw failure
            }
        }
        return descriptor
    }

    /// Waits for the shared lock of a file that is only read. Nil if there is no such file and it is not to be made, or
    /// cannot be: then no process can sweep either.
    static func lockForReading(_ path: String, makingIt: Bool) throws -> Int32? {
        var descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0, errno == ENOENT {
            guard makingIt else { return nil }
            descriptor = open(path, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if descriptor < 0, [EROFS, EACCES, EPERM].contains(errno) { return nil }
        }
        guard descriptor >= 0 else {
            throw Failure(operation: "open", path: path, number: errno)
        }
        while flock(descriptor, LOCK_SH) != 0 {
            guard errno == EINTR else {
                let failure = Failure(operation: "lock", path: path, number: errno)
                close(descriptor)
                throw failure
            }
        }
        return descriptor
    }

    /// The exclusive lock, or nil while another process or lease holds the file.
    static func tryLock(_ path: String) throws -> Int32? {
        let descriptor = try openLock(path)
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    static func unlock(_ descriptor: Int32) { close(descriptor) }

    private static func openLock(_ path: String) throws -> Int32 {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Failure(operation: "open", path: path, number: errno) }
        return descriptor
    }

    // MARK: Bytes

    /// Writes `folder/name` below `root`, unless it is there with the right size: a new file, sync, rename, sync of the
    /// directories.
    static func write(_ data: Data, to root: String, folder: String, name: String) throws {
        let directory = "\(root)/\(folder)"
        let path = "\(directory)/\(name)"
        if size(path) == UInt64(data.count) { return }
        if try makeDirectory(root) { try syncDirectory((root as NSString).deletingLastPathComponent) }
        try makeDirectory(directory)
        let temporary = "\(directory)/.\(UUID().uuidString)"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(operation: "create", path: temporary, number: errno) }
        do {
            try writeAll(data, descriptor, temporary)
            guard fsync(descriptor) == 0 else { throw Failure(operation: "sync", path: temporary, number: errno) }
            close(descriptor)
        } catch {
            close(descriptor)
            unlink(temporary)
            throw error
        }
        guard rename(temporary, path) == 0 else {
            let failure = Failure(operation: "rename", path: path, number: errno)
            unlink(temporary)
            throw failure
        }
        try syncDirectory(directory)
        try syncDirectory(root)
    }

    private static func writeAll(_ data: Data, _ descriptor: Int32, _ path: String) throws {
        try data.withUnsafeBytes { bytes in
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

    /// - Returns: whether the directory was missing.
    @discardableResult
    private static func makeDirectory(_ path: String) throws -> Bool {
        if mkdir(path, 0o700) == 0 { return true }
        guard errno == EEXIST else { throw Failure(operation: "make", path: path, number: errno) }
        return false
    }

    static func syncDirectory(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(operation: "open", path: path, number: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw Failure(operation: "sync", path: path, number: errno) }
    }

    /// Why an existing file cannot be opened; nil if it can be, or is missing.
    static func refusal(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor < 0 else {
            close(descriptor)
            return nil
        }
        return errno == ENOENT ? nil : Failure(operation: "open", path: path, number: errno).reason
    }

    /// The file's bytes; nil if it is missing, not a plain file, of another size, or unreadable.
    static func read(_ path: String, sizeInBytes: UInt64? = nil) -> Data? {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var info = stat()
        guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG,
            sizeInBytes == nil || sizeInBytes == UInt64(info.st_size)
        else { return nil }
        do { return try file.readToEnd() ?? Data() } catch { return nil }
    }

    /// Nil if there is no plain file.
    static func size(_ path: String) -> UInt64? {
        var info = stat()
        guard lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
        return UInt64(info.st_size)
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func remove(_ path: String) -> Bool { unlink(path) == 0 }

    /// Every file two levels below `root`.
    static func list(_ root: String) -> [Entry] {
        names(in: root).flatMap { folder in
            names(in: "\(root)/\(folder)").map { name in
                Entry(path: "\(root)/\(folder)/\(name)", digest: digest(folder + name))
            }
        }
    }

    /// No names for a missing directory.
    static func names(in directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
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

    private static func digest(_ name: String) -> Data? {
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
