import Foundation
import Locking
import Logging
import StrataModel

/// The directory in which a copy of a store is made, beside its final place.
///
/// It is renamed to its final name when its content is complete and durable, so that half a copy is never opened. It is
/// inside a hidden directory of its own, which is locked while the copy is made: once that is removed, nothing can be
/// created at its path any more. The next copy in the same directory removes the remains of ended processes.
struct BackupFolder {
    let url: URL
    private let frame: String
    private let target: String
    private let parent: String
    /// The hidden directory, open and locked.
    private let lock: Int32
    /// Held while a folder is begun, published or removed; true once this process makes no more of them.
    private static let isAbandoned = Locked(false)

    init(for target: URL) throws {
        let destination = target.standardizedFileURL
        let parent = destination.deletingLastPathComponent()
        self.target = Self.path(destination)
        self.parent = Self.path(parent)
        Self.sweepLeftovers(in: self.parent)
        let name = "\(Self.prefix(destination.lastPathComponent))\(getpid())-\(UInt64.random(in: 0 ... .max))"
        let frame = Self.path(parent.appending(path: name, directoryHint: .isDirectory))
        self.frame = frame
        url = URL(filePath: frame + "/store", directoryHint: .isDirectory)
        let folder = self.parent
        // If directories cannot be locked, the process id in the name decides whether the folder is in use.
        lock = try Self.isAbandoned.withLock { isAbandoned in
            guard !isAbandoned, mkdir(frame, 0o700) == 0 else {
                let failure = BlobFile.Failure(
                    operation: "make a copy in", path: folder, number: isAbandoned ? ECANCELED : errno)
                // A file system may report an error although the operation succeeded.
                rmdir(frame)
                throw failure
            }
            let opened = open(frame, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if opened >= 0 { flock(opened, LOCK_EX | LOCK_NB) }
            return opened
        }
    }

    /// Makes a directory with the files of `fill`, or none at all.
    static func filled<R>(for target: URL, _ fill: (URL) throws -> R) throws -> R {
        let folder = try BackupFolder(for: target)
        do {
            let result = try fill(folder.url)
            try folder.publish()
            return result
        } catch {
            folder.remove()
            throw error
        }
    }

    /// Moves the copy to its final place.
    ///
    /// - Throws: `persistentStoreOpen` if something has come to that place meanwhile, which stays; otherwise
    ///   `BlobFile.Failure`, and then there is nothing at that place.
    func publish() throws {
        let path = Self.path(url)
        try BlobFile.syncDirectory(path)
        // An empty directory at that place is replaced; a directory with content is not.
        try Self.isAbandoned.withLock { isAbandoned in
            guard !isAbandoned, rename(path, target) == 0 else {
                let failure = BlobFile.Failure(
                    operation: "put in place", path: target, number: isAbandoned ? ECANCELED : errno)
                // The rename succeeded although an error was reported.
                if !isAbandoned, !BlobFile.exists(path) { Self.remove(target) }
                throw StrataError(overtaken: failure) ?? failure
            }
        }
        remove()
        do {
            try BlobFile.syncDirectory(parent)
        } catch {
            Self.remove(target)
            throw error
        }
    }

    /// Removes the unfinished copy.
    func remove() {
        Self.remove(frame)
        if lock >= 0 { close(lock) }
    }

    private static func path(_ url: URL) -> String {
        let path = url.path(percentEncoded: false)
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    private static let mark = ".partial-"
    private static func prefix(_ name: String) -> String { ".\(name)\(mark)" }

    /// - Returns: whether the folder is gone.
    @discardableResult
    static func remove(_ path: String) -> Bool {
        guard BlobFile.exists(path) else { return true }
        do {
            try FileManager.default.removeItem(atPath: path)
            return true
        } catch {
            StoreLogger.shared.warning("an unfinished copy at \(path) could not be removed: \(error)")
            return false
        }
    }

    /// Removes the copies that this process is making for a place; it makes no more. Each is renamed first, so that
    /// nothing can be added by its path.
    static func abandon(for target: URL) {
        let destination = target.standardizedFileURL
        let parent = destination.deletingLastPathComponent()
        let own = "\(prefix(destination.lastPathComponent))\(getpid())-"
        let asides = isAbandoned.withLock { isAbandoned in
            isAbandoned = true
            return BlobFile.names(in: path(parent)).filter { $0.hasPrefix(own) }.compactMap { name -> String? in
                let old = path(parent.appending(path: name))
                return rename(old, old + ".abandoned") == 0 ? old + ".abandoned" : nil
            }
        }
        // The thread that writes may still finish a file that it has open.
        for aside in asides {
            for _ in 0..<20 where BlobFile.exists(aside) { remove(aside) }
        }
    }

    /// Removes unfinished copies of ended processes in a directory, also those of other stores.
    ///
    /// - Returns: the paths of those that could not be removed.
    @discardableResult
    static func sweepLeftovers(in folder: String) -> [String] {
        var left: [String] = []
        for found in BlobFile.names(in: folder) where found.hasPrefix(".") {
            guard let mark = found.range(of: mark, options: .backwards) else { continue }
            // A process and a random number; also behind it, where the copy was given up.
            let numbers = found[mark.upperBound...].split(separator: ".", omittingEmptySubsequences: false)[0]
                .split(separator: "-")
            guard numbers.count == 2, let process = Int32(numbers[0]), UInt64(numbers[1]) != nil else { continue }
            let place = folder + "/" + found
            if isLeft(place, by: process), !remove(place) { left.append(place) }
        }
        return left
    }

    /// Whether the process that made a directory has ended. Another one may have its number by now.
    static func isLeft(_ place: String, by process: Int32) -> Bool {
        guard process > 0, process != getpid() else { return false }
        let directory = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard directory >= 0 else { return false }
        defer { close(directory) }
        guard flock(directory, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else { return false }
        if kill(process, 0) != 0, errno == ESRCH { return true }
        // It is not locked at once.
        var status = stat()
        return fstat(directory, &status) == 0 && time(nil) - status.changeTime > longestStart
    }

    /// In seconds. An unlocked directory that is older was left by a process that was killed.
    private static let longestStart = 24 * 60 * 60
}

extension StrataError {
    /// The error for a place that was free when the copy was begun, and no longer is; nil for other failures.
    fileprivate init?(overtaken failure: BlobFile.Failure) {
        switch failure.number {
        case ENOTEMPTY, EEXIST:
            self.init(
                .persistentStoreOpen,
                "Another process has made a store in this place meanwhile. That one stays as it is.",
                context: .init(path: failure.path), cause: failure)
        case ENOTDIR: self.init(takenPlace: failure.path)
        default: return nil
        }
    }

    /// - Parameter path: where a store is to be made and something is already.
    init(takenPlace path: String) {
        self.init(.persistentStoreOpen, "The place of the new store is already taken.", context: .init(path: path))
    }
}

extension stat {
    /// When the directory was last changed, in seconds.
    fileprivate var changeTime: Int {
        #if canImport(Darwin)
            st_mtimespec.tv_sec
        #else
            st_mtim.tv_sec
        #endif
    }
}
