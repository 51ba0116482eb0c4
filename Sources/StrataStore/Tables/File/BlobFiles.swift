import Foundation
import LMDB
import Locking

/// The files of a store's large values below `blobs/`, and the file that locks them: private files, synced, never
/// reached through a symbolic link.
struct BlobFiles: Sendable {
    /// A file; `digest` is nil if the name is no digest, as for a half-written file.
    struct Entry {
        let folder: String
        let name: String
        let digest: Data?
    }

    /// The store's directory.
    let directory: String
    let ownership: FileOwnership
    /// Whether the name of `blobs` has been made durable since the store was opened.
    private let isRootDurable = Locked(false)

    init(directory: String, ownership: FileOwnership) {
        self.directory = directory
        self.ownership = ownership
    }

    private static let lockName = "blobs.lock"
    private static let rootName = "blobs"

    // MARK: Locks

    /// Waits for the shared lock of the lock file, which is made if it is missing.
    func lockShared() throws -> Int32 { try Self.lock(try openLock(Self.lockName), directory) }

    /// Waits for the shared lock of the lock file, which is only read. Nil if there is no such file and it is not to be
    /// made, or cannot be: then no process can sweep either.
    func lockForReading(makingIt: Bool) throws -> Int32? {
        let store = try OpenFolder(directory, ownership)
        if let descriptor = try store.file(Self.lockName, O_RDONLY) { return try Self.lock(descriptor, directory) }
        guard makingIt else { return nil }
        do throws(BlobFile.Failure) {
            guard let descriptor = try store.file(Self.lockName, O_RDONLY | O_CREAT) else { return nil }
            return try Self.lock(descriptor, directory)
        } catch {
            if error.detail == nil, [EROFS, EACCES, EPERM].contains(error.number) { return nil }
            throw error
        }
    }

    /// The exclusive lock, or nil while another process or lease holds the file.
    func tryLock() throws -> Int32? { try tryLock(Self.lockName) }

    /// The exclusive lock of the process that keeps views, or nil while another one has it.
    func tryLockViews() throws -> Int32? { try tryLock("views.lock") }

    private func tryLock(_ name: String) throws -> Int32? {
        let descriptor = try openLock(name)
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    static func unlock(_ descriptor: Int32) { close(descriptor) }

    private func openLock(_ name: String) throws(BlobFile.Failure) -> Int32 {
        let store = try OpenFolder(directory, ownership)
        guard let descriptor = try store.file(name, O_RDWR | O_CREAT) else {
            throw BlobFile.Failure(operation: "open", path: directory + "/" + name, number: ENOENT)
        }
        return descriptor
    }

    private static func lock(_ descriptor: Int32, _ directory: String) throws(BlobFile.Failure) -> Int32 {
        let number = FileLock.take(.shared, of: descriptor, until: .now + FileLock.patience)
        guard number == 0 else {
            close(descriptor)
            throw BlobFile.Failure(operation: "lock", path: directory + "/" + lockName, number: number)
        }
        return descriptor
    }

    // MARK: Bytes

    /// Writes `folder/name`, unless it exists with the right size: a new file, sync, rename, sync of the directories.
    ///
    /// A file or directory that is there may have been made just now by a process that has not synced the directories
    /// yet, or could not, so they are synced in every case.
    /// - Parameter isDurable: whether an existing file is known to have a durable name.
    func write(_ bytes: BytesInPieces, folder: String, name: String, isDurable: () throws -> Bool) throws {
        let store = try OpenFolder(directory, ownership)
        let isNew = try store.makeFolder(Self.rootName)
        let root = try OpenFolder(Self.rootName, in: store)
        _ = try root.makeFolder(folder)
        let parent = try OpenFolder(folder, in: root)
        let isThere = parent.size(of: name) == UInt64(bytes.count)
        if isThere, try isDurable() { return }
        try isRootDurable.withLock { isDurable in
            if isNew || !isDurable { try store.synchronize() }
            isDurable = true
        }
        if !isThere { try Self.create(bytes, name, in: parent) }
        try parent.synchronize()
        try root.synchronize()
    }

    private static func create(_ bytes: BytesInPieces, _ name: String, in parent: borrowing OpenFolder) throws {
        let temporary = ".\(UUID().uuidString)"
        let path = parent.path + "/" + temporary
        guard let descriptor = try parent.file(temporary, O_WRONLY | O_CREAT | O_EXCL) else {
            throw BlobFile.Failure(operation: "create", path: path, number: ENOENT)
        }
        do {
            try BlobFile.writeAll(bytes, descriptor, path)
            guard fsync(descriptor) == 0 else {
                throw BlobFile.Failure(operation: "sync", path: path, number: errno)
            }
            close(descriptor)
        } catch {
            close(descriptor)
            _ = parent.remove(temporary)
            throw error
        }
        do {
            try parent.rename(temporary, to: name)
        } catch {
            _ = parent.remove(temporary)
            throw error
        }
    }

    /// Calls `body` with the open directory of a file; nil if there is none.
    private func within<R>(
        _ folder: String, _ body: (borrowing OpenFolder) throws(BlobFile.Failure) -> R?
    ) throws(BlobFile.Failure) -> R? {
        do throws(BlobFile.Failure) {
            let root = try OpenFolder(Self.rootName, in: try OpenFolder(directory, ownership))
            let parent = try OpenFolder(folder, in: root)
            return try body(parent)
        } catch {
            guard error.number == ENOENT else { throw error }
            return nil
        }
    }

    /// Returns the reason why an existing file cannot be read; nil if it can be, or is missing.
    func refusal(folder: String, name: String) -> String? {
        do throws(BlobFile.Failure) {
            if let descriptor = try within(
                folder, { parent throws(BlobFile.Failure) in try parent.file(name, O_RDONLY) })
            {
                close(descriptor)
            }
            return nil
        } catch {
            return error.reason
        }
    }

    /// The file's bytes; nil if it is missing, not a plain file, of another size, or unreadable.
    ///
    /// - Parameter count: the number of bytes that are enough.
    func read(folder: String, name: String, sizeInBytes: UInt64? = nil, first count: Int? = nil) -> Data? {
        do {
            let opened = try within(folder) { parent throws(BlobFile.Failure) in try parent.file(name, O_RDONLY) }
            guard let opened else { return nil }
            let file = FileHandle(fileDescriptor: opened, closeOnDealloc: true)
            var info = stat()
            guard fstat(opened, &info) == 0, sizeInBytes == nil || sizeInBytes == UInt64(info.st_size) else {
                return nil
            }
            return try count.map { try file.read(upToCount: $0) } ?? file.readToEnd() ?? Data()
        } catch {
            return nil
        }
    }

    /// The file's bytes in pieces; nil if it is missing, not a plain file, of another size, or cannot be opened.
    func pieces(folder: String, name: String, sizeInBytes: UInt64) -> BytesInPieces? {
        do {
            let opened = try within(folder) { parent throws(BlobFile.Failure) in try parent.file(name, O_RDONLY) }
            return opened.flatMap { BytesInPieces(file: $0, path: "\(directory)/blobs/\(folder)/\(name)") }
                .flatMap { $0.count == sizeInBytes ? $0 : nil }
        } catch {
            return nil
        }
    }

    /// The size of a file in bytes; nil if there is no plain file.
    func size(folder: String, name: String) -> UInt64? {
        // A file that cannot be opened has no size.
        (try? within(folder) { parent throws(BlobFile.Failure) in parent.size(of: name) }).flatMap(\.self)
    }

    func remove(_ entry: Entry) -> Bool {
        let isRemoved = try? within(entry.folder) { parent throws(BlobFile.Failure) in parent.remove(entry.name) }
        return isRemoved.flatMap(\.self) ?? false
    }

    /// Whether there is a directory of large values.
    var exist: Bool {
        var info = stat()
        return lstat(directory + "/" + Self.rootName, &info) == 0
    }

    /// Every file two levels below `blobs/`; none if it is missing.
    ///
    /// - Throws: if something other than a directory is at its place.
    func list() throws(BlobFile.Failure) -> [Entry] {
        guard exist else { return [] }
        let root = try OpenFolder(Self.rootName, in: try OpenFolder(directory, ownership))
        var entries: [Entry] = []
        for folder in root.names {
            let names = try within(folder) { parent throws(BlobFile.Failure) in parent.names } ?? []
            entries += names.map { Entry(folder: folder, name: $0, digest: BlobFile.digest(folder + $0)) }
        }
        return entries
    }
}
