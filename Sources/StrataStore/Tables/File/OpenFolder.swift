import Foundation
import LMDB

/// An open directory of a store. Its files are reached through its descriptor, never through a symbolic link, so
/// that nothing outside the store is read or written.
struct OpenFolder: ~Copyable {
    let descriptor: Int32
    /// The path in messages.
    let path: String
    private let ownership: FileOwnership

    /// Opens the store's own directory. Symbolic links above it are followed.
    init(_ path: String, _ ownership: FileOwnership) throws(BlobFile.Failure) {
        try self.init(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), path, ownership)
    }

    /// Opens a directory in another.
    init(_ name: String, in parent: borrowing OpenFolder) throws(BlobFile.Failure) {
        try self.init(
            openat(parent.descriptor, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), parent.path + "/" + name,
            parent.ownership)
    }

    private init(_ opened: Int32, _ path: String, _ ownership: FileOwnership) throws(BlobFile.Failure) {
        guard opened >= 0 else {
            // Linux reports a link as something that is no directory.
            let isOther = errno == ENOTDIR || errno == ELOOP
            throw BlobFile.Failure(
                operation: "open", path: path, number: errno,
                detail: isOther ? "something other than a directory is at this place" : nil)
        }
        do throws(BlobFile.Failure) {
            try Self.check(opened, isFile: false, ownership, path)
        } catch {
            close(opened)
            throw error
        }
        descriptor = opened
        self.path = path
        self.ownership = ownership
    }

    deinit { close(descriptor) }

    /// Checks kind, owner and mode of an opened file.
    private static func check(
        _ opened: Int32, isFile: Bool, _ ownership: FileOwnership, _ path: String
    ) throws(BlobFile.Failure) {
        var info = stat()
        guard fstat(opened, &info) == 0 else {
            throw BlobFile.Failure(operation: "look at", path: path, number: errno)
        }
        guard info.st_mode & S_IFMT == (isFile ? S_IFREG : S_IFDIR) else {
            throw BlobFile.Failure(operation: "open", path: path, number: EINVAL, detail: otherThanFile)
        }
        guard ownership == .privateOnly, info.st_uid != geteuid() || info.st_mode & 0o022 != 0 else { return }
        throw BlobFile.Failure(
            operation: "trust", path: path, number: EPERM,
            detail: info.st_uid != geteuid()
                ? "it belongs to another user (\(info.st_uid))" : "other users may write to it")
    }

    /// Opens a plain file; nil if there is none.
    ///
    /// - Throws: if something else is at that place, without waiting for it, or if it cannot be opened or trusted.
    func file(_ name: String, _ flags: Int32) throws(BlobFile.Failure) -> Int32? {
        let path = self.path + "/" + name
        let opened = openat(descriptor, name, flags | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if opened < 0, errno == ENOENT, flags & O_CREAT == 0 { return nil }
        guard opened >= 0 else {
            let isOther = [ELOOP, ENXIO, EISDIR, ENODEV].contains(errno)
            throw BlobFile.Failure(
                operation: "open", path: path, number: errno, detail: isOther ? Self.otherThanFile : nil)
        }
        do throws(BlobFile.Failure) {
            try Self.check(opened, isFile: true, ownership, path)
        } catch {
            close(opened)
            throw error
        }
        return opened
    }

    private static let otherThanFile = "something other than a plain file is at this place"

    /// - Returns: whether the directory was missing.
    func makeFolder(_ name: String) throws(BlobFile.Failure) -> Bool {
        if mkdirat(descriptor, name, 0o700) == 0 { return true }
        guard errno == EEXIST else {
            throw BlobFile.Failure(operation: "make", path: path + "/" + name, number: errno)
        }
        return false
    }

    /// The size of a plain file in bytes; nil if there is none.
    func size(of name: String) -> UInt64? {
        var info = stat()
        guard fstatat(descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0, info.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return UInt64(info.st_size)
    }

    func rename(_ name: String, to other: String) throws(BlobFile.Failure) {
        guard renameat(descriptor, name, descriptor, other) == 0 else {
            throw BlobFile.Failure(operation: "rename", path: path + "/" + other, number: errno)
        }
    }

    func remove(_ name: String) -> Bool { unlinkat(descriptor, name, 0) == 0 }

    func synchronize() throws(BlobFile.Failure) {
        guard fsync(descriptor) == 0 else { throw BlobFile.Failure(operation: "sync", path: path, number: errno) }
    }

    /// The names in it, sorted.
    var names: [String] {
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = fdopendir(copy) else { return [] }
        return BlobFile.names(of: stream)
    }
}
