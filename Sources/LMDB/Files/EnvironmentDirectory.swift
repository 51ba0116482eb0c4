// The open directory of an environment (`EnvironmentDirectory`), and the identity and ownership of its files.

import CLMDB
import Locking

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The identity of a file: its device and inode number, whatever its names are.
struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let number: UInt64

    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }

    /// Makes the identity from a result of Linux's `statx`.
    init(major: UInt32, minor: UInt32, number: UInt64) {
        // The C library's `makedev`.
        let (major, minor) = (UInt64(major), UInt64(minor))
        device = (major & 0xFFF) << 8 | (major & 0xFFFF_F000) << 32 | minor & 0xFF | (minor & 0xFFFF_FF00) << 12
        self.number = number
    }
}

/// The users whose files may be opened.
package enum FileOwnership: Sendable, Equatable {
    /// Files and directory belong to this user, and no other user may write to them.
    case privateOnly
    /// Not checked; for directories shared on purpose.
    case unchecked
}

/// The open directory of a store. Every check of its files goes through this descriptor, not through a path.
final class EnvironmentDirectory: Sendable {
    static let dataName = "data.mdb"
    static let lockName = "lock.mdb"
    static let writerLockName = "writer.lock"
    static let sumsName = "pages.sums"

    /// The absolute path; symbolic links in it are kept.
    let path: String
    let descriptor: Int32
    /// Whether opening made the directory.
    let wasCreated: Bool

    /// Opens the directory, refusing a symbolic link; makes it with mode 0700 when asked to.
    init(path givenPath: String, createIfMissing: Bool) throws(LMDBError) {
        path = try Self.absolute(givenPath)
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        var opened = open(path, flags)
        var created = false
        if opened < 0, errno == ENOENT, createIfMissing {
            created = mkdir(path, 0o700) == 0
            if !created && errno != EEXIST { throw SystemError.current("create the store directory", path) }
            opened = open(path, flags)
        }
        guard opened >= 0 else { throw SystemError.current("open the store directory", path) }
        descriptor = opened
        wasCreated = created
    }

    deinit {
        close(descriptor)
    }

    private static func absolute(_ path: String) throws(LMDBError) -> String {
        if path.hasPrefix("/") { return path }
        guard let buffer = getcwd(nil, 0) else { throw SystemError.current("find the working directory", path) }
        defer { free(buffer) }
        return String(cString: buffer) + "/" + path
    }

    /// The path of a file in the directory.
    func path(of name: String) -> String { path + "/" + name }

    /// Whether the path still leads to this directory: another one may have taken its place, as a restored store does.
    var isInPlace: Bool {
        var (named, own) = (stat(), stat())
        return lstat(path, &named) == 0 && fstat(descriptor, &own) == 0 && FileIdentity(named) == FileIdentity(own)
    }

    /// The status of the entry itself, a link not followed; nil when there is none.
    func status(of name: String) throws(LMDBError) -> stat? {
        var status = stat()
        if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status }
        if errno == ENOENT { return nil }
        throw SystemError.current("look at a file", path(of: name))
    }

    /// Whether the name still refers to the file with this identity.
    func holds(_ name: String, as identity: FileIdentity) -> Bool {
        var (major, minor, number): (UInt32, UInt32, UInt64) = (0, 0, 0)
        if clmdb_identify(descriptor, name, &major, &minor, &number) == 0 {
            return FileIdentity(major: major, minor: minor, number: number) == identity
        }
        // An older system or a sandbox does not know the call.
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && FileIdentity(status) == identity
    }

    /// Checks that the entry, if there is one, is a plain file that only this user can change.
    ///
    /// For LMDB's lock file alone, which LMDB opens by its name: closing a descriptor of it would give up the locks
    /// that this process holds on it.
    func checkLockFile(ownership: FileOwnership) throws(LMDBError) {
        guard let status = try status(of: Self.lockName) else { return }
        try Self.checkFile(status, ownership: ownership, path: path(of: Self.lockName))
    }

    /// Makes LMDB's lock file with room for its first bytes, unless it is there. LMDB stores to a map of the file, and where
    /// the disk has no room that would end the process.
    ///
    /// The caller holds the registry's lock: nothing else in this process has a lock on the file that closing it gives up.
    func makeLockFile(readers: Int) throws(LMDBError) {
        #if os(Linux)
            let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            // If the file cannot be made, LMDB reports the error, or works without it.
            let opened = openat(descriptor, Self.lockName, flags, 0o600)
            guard opened >= 0 else { return }
            defer { close(opened) }
            // The slots of the readers but one, of 64 bytes each. LMDB makes the file longer by its own header; of a file
            // that has that length or more, it would take all for slots.
            let size = max(1, (readers - 1) * 64)
            let result = posix_fallocate(opened, 0, off_t(size))
            guard result != 0 else { return }
            remove(Self.lockName)
            throw SystemError.lmdb(result, "make the lock file", path(of: Self.lockName))
        #endif
    }

    private static func checkFile(
        _ status: stat, ownership: FileOwnership, path: String
    ) throws(LMDBError) {
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw LMDBError(.symbolicLink, operation: "open a file", path: path)
        }
        try check(status, ownership: ownership, path: path)
    }

    /// Checks owner and mode of the directory itself.
    func checkDirectory(ownership: FileOwnership) throws(LMDBError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemError.current("look at the directory", path) }
        try Self.check(status, ownership: ownership, path: path)
    }

    private static func check(
        _ status: stat, ownership: FileOwnership, path: String
    ) throws(LMDBError) {
        guard ownership == .privateOnly else { return }
        if status.st_uid != geteuid() {
            throw LMDBError(
                .insecurePermissions, operation: "open what another user owns", path: path,
                detail: "run as user \(status.st_uid)")
        }
        if status.st_mode & 0o022 != 0 {
            throw LMDBError(
                .insecurePermissions, operation: "open what others may write to", path: path,
                detail: "its mode is \(String(status.st_mode & 0o7777, radix: 8)); run chmod go-w on it")
        }
    }

    /// Opens a file of the directory; a link is refused, not followed.
    func openFile(_ name: String, _ flags: Int32) throws(LMDBError) -> Int32 {
        let opened = openat(descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if opened >= 0 { return opened }
        if errno == ENXIO || errno == EISDIR {
            throw LMDBError(.symbolicLink, operation: "open a file", path: path(of: name))
        }
        throw SystemError.current("open a file", path(of: name))
    }

    /// Opens a file as `openFile`, and checks that it is a plain file that only this user can change.
    func openFile(
        _ name: String, _ flags: Int32, ownership: FileOwnership
    ) throws(LMDBError) -> (descriptor: Int32, identity: FileIdentity) {
        // Opening a pipe would wait for its other end.
        let opened = try openFile(name, flags | O_NONBLOCK)
        do throws(LMDBError) {
            var status = stat()
            guard fstat(opened, &status) == 0 else { throw SystemError.current("look at a file", path(of: name)) }
            try Self.checkFile(status, ownership: ownership, path: path(of: name))
            return (opened, FileIdentity(status))
        } catch {
            Self.closeFile(opened)
            throw error
        }
    }

    /// Closes a descriptor from `openFile`.
    static func closeFile(_ descriptor: Int32) {
        _ = close(descriptor)
    }

    /// Makes the directory's entries durable.
    func synchronize() throws(LMDBError) {
        guard fsync(descriptor) == 0 else { throw SystemError.current("sync the directory", path) }
    }

    /// Makes the name of the directory itself durable.
    private func synchronizeParent() throws(LMDBError) {
        let parent = openat(descriptor, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A directory that this user may not list cannot be synced either.
        if parent < 0, errno == EACCES || errno == EPERM { return }
        guard parent >= 0 else { throw SystemError.current("open the directory above", path) }
        defer { close(parent) }
        guard fsync(parent) == 0 else { throw SystemError.current("sync the directory above", path) }
    }

    /// Calls `body` while no other process, and no other thread, is in such a call for this directory. Where directories
    /// cannot be locked it is called without.
    /// - Throws: `busy` if another process has the lock until the timeout; what `body` throws.
    func exclusively<R>(timeout: Duration, _ body: () throws(LMDBError) -> R) throws(LMDBError) -> R {
        // A second descriptor, since all who have this object share the first one's lock.
        let lock = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw SystemError.current("open the store directory", path) }
        defer { close(lock) }
        guard FileLock.take(.exclusive, of: lock, until: .now + timeout) != EWOULDBLOCK else {
            throw LMDBError(
                .busy, operation: "make the data file", path: path,
                detail: "another process has a lock on the store's directory, as one that makes the store")
        }
        return try body()
    }

    /// Gives a finished temporary file its final name; fails when the name is taken.
    ///
    /// Other processes use the file as soon as it has the name, so the directory's own name is durable before. The file
    /// keeps its temporary name until the final one is durable, also if that fails; see `synchronize(ifNew:)`.
    func publish(_ temporary: String, as name: String, isSynced: Bool = true) throws(LMDBError) {
        do throws(LMDBError) {
            if isSynced { try synchronizeParent() }
            guard linkat(descriptor, temporary, descriptor, name, 0) == 0 else {
                throw SystemError.current("put a finished file in place", path(of: name))
            }
        } catch {
            // A file system may report a failure after it has given the name.
            if try status(of: temporary)?.st_nlink == 1 { remove(temporary) }
            throw error
        }
        if isSynced { try synchronize() }
        remove(temporary)
    }

    /// Makes the name of the open data file durable if the file has its temporary one as well, which then goes: the
    /// process that made the file has not come to that yet, or has failed.
    func synchronize(ifNew file: Int32) throws(LMDBError) {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw SystemError.current("look at a file", path) }
        guard status.st_nlink > 1 else { return }
        try synchronize()
        for name in names where name.hasPrefix(".new-") {
            let temporary = name + "/" + Self.dataName
            guard holds(temporary, as: FileIdentity(status)) else { continue }
            remove(temporary)
            unlinkat(descriptor, name, AT_REMOVEDIR)
        }
    }

    /// Removes unfinished files of processes that have ended: `.new-<process>-…` and `.copy-<process>-…`. One of them
    /// may be the other name of a file, which is made durable then.
    func sweepLeftovers() throws(LMDBError) {
        if removeLeftovers() > 0 { try synchronize() }
    }

    private func removeLeftovers() -> Int {
        var count = 0
        for name in names where Self.isLeftover(name) {
            if unlinkat(descriptor, name, 0) == 0 {
                count += 1
                continue
            }
            for file in [Self.dataName, Self.lockName] { unlinkat(descriptor, name + "/" + file, 0) }
            if unlinkat(descriptor, name, AT_REMOVEDIR) == 0 { count += 1 }
        }
        return count
    }

    /// Whether the directory is empty.
    var isEmpty: Bool { names.isEmpty }

    private static func isLeftover(_ name: String) -> Bool {
        let parts = name.split(separator: "-")
        guard parts.count == 3, parts[0] == ".new" || parts[0] == ".copy", let process = Int32(parts[1]), process > 0,
            UInt64(parts[2]) != nil
        else { return false }
        return kill(process, 0) != 0 && errno == ESRCH
    }

    /// The names in the directory, without `.` and `..`.
    var names: [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Removes a name if it is there.
    func remove(_ name: String) {
        unlinkat(descriptor, name, 0)
    }
}
