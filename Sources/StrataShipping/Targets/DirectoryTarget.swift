public import Foundation
import StrataModel
import StrataStore

/// A directory that keeps a copy of a store's log, such as one on another disk or a mounted share.
///
/// Each file is written under a hidden name, synced, and linked to its own name, so that half a file is never seen. It
/// keeps the hidden name until its own name is durable: a file with two names has not come to that yet.
public struct DirectoryTarget: ShippingTarget {
    /// The directory.
    public let url: URL

    private static let partialPrefix = ".partial-"
    /// Seconds after which a file that is still under its hidden name is left over.
    private static let longestWrite = 3600.0

    /// Takes a directory, which is made when a store is first shipped to it. Once that is so, it is recognized by its
    /// file `strata.target`: where that is missing, nothing is written.
    public init(_ url: URL) { self.url = url.absoluteURL.standardizedFileURL }

    /// Without a slash at the end, so that nothing is left of the root of all files.
    private var root: String {
        let path = url.path(percentEncoded: false)
        return path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// The path of the directory.
    public var label: String { root.isEmpty ? "/" : root }

    /// The files below a folder of the directory, but for hidden ones.
    public func entries(under prefix: String, after start: String?) throws -> [TargetEntry] {
        var found: [TargetEntry] = []
        try asTargetErrors {
            try walk(prefix) { name, status in
                if let start, !start.utf8.lexicographicallyPrecedes(name.utf8) { return }
                found.append(TargetEntry(name: name, sizeInBytes: Int(status.st_size), date: status.changeDate))
            }
        }
        return found.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Calls `body` with every plain file below a folder of the target.
    private func walk(_ prefix: String, _ body: (String, stat) throws -> Void) throws {
        let folder = prefix.isEmpty ? label : root + "/" + prefix.dropLast()
        guard BlobFile.exists(folder) else { return }
        guard let stream = opendir(folder) else {
            throw BlobFile.Failure(operation: "list", path: folder, number: errno)
        }
        for name in BlobFile.names(of: stream) where !name.hasPrefix(".") {
            var status = stat()
            // A file that another process has removed meanwhile is none.
            guard lstat(folder + "/" + name, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR { try walk(prefix + name + "/", body) }
            guard status.st_mode & S_IFMT == S_IFREG else { continue }
            // A listed file counts as being at the target.
            if status.st_nlink > 1 { try Self.syncFolder(of: folder + "/" + name) }
            try body(prefix + name, status)
        }
    }

    /// The content of a file.
    public func read(_ name: String) throws -> Data? {
        try asTargetErrors {
            let path = root + "/" + name
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                if errno == ENOENT || errno == ENOTDIR { return nil }
                throw BlobFile.Failure(operation: "open", path: path, number: errno)
            }
            let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            do {
                return try file.readToEnd() ?? Data()
            } catch {
                throw BlobFile.Failure(operation: "read", path: path, number: EIO, detail: "\(error)")
            }
        }
    }

    /// Writes a file under a hidden name, syncs it, and links it to its own name.
    public func write(_ data: Data, to name: String) throws -> TargetWrite {
        try asTargetErrors {
            let path = root + "/" + name
            if !BlobFile.exists(path), try withPartial(data, for: name, { try Self.put($0, at: path) }) {
                return .written
            }
            var status = stat()
            if lstat(path, &status) == 0, status.st_nlink > 1 { try Self.syncFolder(of: path) }
            return .existed
        }
    }

    private static func syncFolder(of path: String) throws {
        let folder = (path as NSString).deletingLastPathComponent
        try BlobFile.syncDirectory(folder.isEmpty ? "/" : folder)
    }

    /// Writes a file under a hidden name, syncs it, and renames it.
    public func replace(_ name: String, with data: Data) throws {
        try asTargetErrors {
            let path = root + "/" + name
            _ = try withPartial(data, for: name) { partial in
                guard rename(partial, path) == 0 else {
                    throw BlobFile.Failure(operation: "rename", path: path, number: errno)
                }
                return true
            }
        }
    }

    /// Calls `body` with the hidden name of a file that is written and synced, and syncs the folder if it is put at its
    /// place.
    private func withPartial(_ data: Data, for name: String, _ body: (String) throws -> Bool) throws -> Bool {
        let folder = try makeFolder(of: name)
        let partial = folder + "/" + Self.partialPrefix + UUID().uuidString
        let isPlaced: Bool
        do {
            try BlobFile.create(partial) { write in try write(data) }
            isPlaced = try body(partial)
        } catch {
            unlink(partial)
            guard let failure = error as? BlobFile.Failure else { throw error }
            // The hidden name says nothing to people.
            throw BlobFile.Failure(
                operation: failure.operation, path: root + "/" + name, number: failure.number, detail: failure.detail)
        }
        if isPlaced { try Self.syncFolder(of: partial) }
        unlink(partial)
        return isPlaced
    }

    /// Makes the folder of a file. The directory itself is made for the mark alone: a directory without one is what is
    /// left of a disk that is away.
    private func makeFolder(of name: String) throws -> String {
        guard name != TargetPresence.fileName else {
            try BlobFile.makeDirectories(URL(filePath: label, directoryHint: .isDirectory))
            return root
        }
        guard BlobFile.exists(root + "/" + TargetPresence.fileName) else { throw TargetPresence.isAway(label) }
        var folder = root
        for part in name.split(separator: "/").dropLast() {
            let parent = folder
            folder += "/" + part
            guard mkdir(folder, 0o777) == 0 else {
                if errno == EEXIST { continue }
                throw BlobFile.Failure(operation: "make a directory", path: folder, number: errno)
            }
            do {
                // A directory that this user may not list cannot be synced either.
                let above = parent.isEmpty ? "/" : parent
                if access(above, R_OK) == 0 { try BlobFile.syncDirectory(above) }
            } catch {
                // The next try makes it again, and syncs.
                rmdir(folder)
                throw error
            }
        }
        return folder
    }

    /// - Returns: whether the file was put there; false if the name is taken.
    private static func put(_ partial: String, at path: String) throws -> Bool {
        if link(partial, path) == 0 { return true }
        let number = errno
        if number == EEXIST { return false }
        // Some file systems have no hard links.
        guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK].contains(number) else {
            throw BlobFile.Failure(operation: "link", path: path, number: number)
        }
        if BlobFile.exists(path) { return false }
        guard rename(partial, path) == 0 else {
            throw BlobFile.Failure(operation: "rename", path: path, number: errno)
        }
        return true
    }

    /// Removes a file, and folders that are empty then.
    public func remove(_ name: String) throws {
        try asTargetErrors {
            let path = root + "/" + name
            guard unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR else {
                throw BlobFile.Failure(operation: "remove", path: path, number: errno)
            }
            // Folders that are empty now go as well.
            var folder = (name as NSString).deletingLastPathComponent
            while !folder.isEmpty, rmdir(root + "/" + folder) == 0 {
                folder = (folder as NSString).deletingLastPathComponent
            }
        }
    }

    /// Removes files that have been under their hidden names for an hour.
    public func removeLeftovers() throws {
        try asTargetErrors { try sweep(label, before: Date(timeIntervalSinceNow: -Self.longestWrite)) }
    }

    /// Removes files in a folder that are still under their hidden names and were last written before a moment. A
    /// shipper that is writing one of them fails, and tries again.
    func removeLeftovers(under prefix: String, before moment: Date) throws {
        try asTargetErrors { try sweep(root + "/" + prefix.dropLast(), before: moment) }
    }

    /// Makes durable which files there are, also that removed ones are gone.
    func synchronizeFolders() throws { try asTargetErrors { try synchronizeFolders(label) } }

    private func synchronizeFolders(_ folder: String) throws {
        for name in BlobFile.names(in: folder) {
            var status = stat()
            if lstat(folder + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
                try synchronizeFolders(folder + "/" + name)
            }
        }
        try BlobFile.syncDirectory(folder)
    }

    private func sweep(_ folder: String, before moment: Date) throws {
        for name in BlobFile.names(in: folder) {
            let path = folder + "/" + name
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: try sweep(path, before: moment)
            case S_IFREG where name.hasPrefix(Self.partialPrefix) && status.changeDate < moment:
                if status.st_nlink > 1 { try Self.syncFolder(of: path) }
                unlink(path)
            default: break
            }
        }
    }

    private func asTargetErrors<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let failure as BlobFile.Failure {
            let context = StrataError.Context(path: failure.path)
            guard [ENOSPC, EDQUOT, EFBIG].contains(failure.number) else {
                throw StrataError(
                    .targetUnavailable, "The target cannot be used: \(failure.operation) failed (\(failure.reason)).",
                    context: context, cause: failure)
            }
            throw StrataError(
                .noSpace, "The target is full. Make room there, or keep fewer snapshots.", context: context,
                cause: failure)
        } catch let error as StrataError {
            throw error
        } catch {
            throw StrataError(
                .targetUnavailable, "The target cannot be used: \(error.localizedDescription)",
                context: .init(path: label), cause: error)
        }
    }
}

extension stat {
    /// When the content of the file was last changed.
    fileprivate var changeDate: Date {
        #if canImport(Darwin)
            let time = st_mtimespec
        #else
            let time = st_mtim
        #endif
        return Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
    }
}
