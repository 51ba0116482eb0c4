import Foundation
import Locking
import Logging

/// The directory in which a copy of a store is made, beside its final place.
///
/// It is renamed to its final name when its content is complete and durable, so that half a copy is never opened. The
/// next copy to the same place removes what a process that died has left. It is inside a hidden directory of its own:
/// once that is removed, nothing can be created at its path any more.
struct BackupFolder {
    let url: URL
    private let frame: String
    private let target: String
    private let parent: String
    /// Held while a folder is begun, published or removed; true once this process makes no more of them.
    private static let isAbandoned = Locked(false)

    init(for target: URL) throws {
        let destination = target.standardizedFileURL
        let parent = destination.deletingLastPathComponent()
        self.target = Self.path(destination)
        self.parent = Self.path(parent)
        Self.sweepLeftovers(for: target)
        let name = "\(Self.prefix(destination.lastPathComponent))\(getpid())-\(UInt64.random(in: 0 ... .max))"
        let frame = Self.path(parent.appending(path: name, directoryHint: .isDirectory))
        self.frame = frame
        url = URL(filePath: frame + "/store", directoryHint: .isDirectory)
        try Self.isAbandoned.withLock { isAbandoned in
            guard !isAbandoned, mkdir(frame, 0o700) == 0 else {
                let failure = BlobFile.Failure(
                    operation: "make a copy in", path: self.parent, number: isAbandoned ? ECANCELED : errno)
                // A file system may report an error although the operation succeeded.
                rmdir(frame)
                throw failure
            }
        }
    }

    /// Makes a directory with what `fill` puts into it, or none at all.
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
    /// - Throws: `BlobFile.Failure`; then there is nothing at that place.
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
                throw failure
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
    func remove() { Self.remove(frame) }

    private static func path(_ url: URL) -> String {
        let path = url.path(percentEncoded: false)
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    private static func prefix(_ name: String) -> String { ".\(name).partial-" }

    private static func remove(_ path: String) {
        guard BlobFile.exists(path) else { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            StoreLogger.shared.warning("an unfinished backup at \(path) could not be removed: \(error)")
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

    /// Removes what processes that died have left of their copies to a place.
    static func sweepLeftovers(for target: URL) {
        let destination = target.standardizedFileURL
        let parent = destination.deletingLastPathComponent()
        let prefix = prefix(destination.lastPathComponent)
        for found in BlobFile.names(in: path(parent)) where found.hasPrefix(prefix) {
            let process = found.dropFirst(prefix.count).split(separator: "-").first.flatMap { Int32($0) }
            guard let process, process > 0, kill(process, 0) != 0, errno == ESRCH else { continue }
            remove(path(parent.appending(path: found)))
        }
    }
}
