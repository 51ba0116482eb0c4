import Foundation
import Locking
import Logging

/// The directory in which a backup is made, beside the place where it is to stand.
///
/// It gets the place's name when everything in it is whole and durable, so that nobody ever opens half a backup. What a
/// process that died has left is removed by the next backup to the same place.
///
/// It stands in a hidden directory of its own: when that has been taken away nothing can be made at its path any more.
struct BackupFolder {
    let url: URL
    private let frame: String
    private let target: String
    private let parent: String
    /// Held while a folder is begun, put in place or taken away; true once this process makes no more of them.
    private static let isAbandoned = Locked(false)

    init(for target: URL) throws {
        let place = target.standardizedFileURL
        let parent = place.deletingLastPathComponent()
        self.target = Self.path(place)
        self.parent = Self.path(parent)
        Self.sweepLeftovers(for: target)
        let name = "\(Self.prefix(place.lastPathComponent))\(getpid())-\(UInt64.random(in: 0 ... .max))"
        let frame = Self.path(parent.appending(path: name, directoryHint: .isDirectory))
        self.frame = frame
        url = URL(filePath: frame + "/store", directoryHint: .isDirectory)
        try Self.isAbandoned.withLock { isAbandoned in
            guard !isAbandoned, mkdir(frame, 0o700) == 0 else {
                let failure = BlobFile.Failure(
                    operation: "make a copy in", path: self.parent, number: isAbandoned ? ECANCELED : errno)
                // A file system may fail after the deed.
                rmdir(frame)
                throw failure
            }
        }
    }

    /// Makes a directory with what `fill` puts into it, or nothing.
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

    /// Puts the backup in its place.
    ///
    /// - Throws: `BlobFile.Failure`; then nothing stands there.
    func publish() throws {
        let path = Self.path(url)
        try BlobFile.syncDirectory(path)
        // An empty directory in its place is replaced, one with anything in it is not.
        try Self.isAbandoned.withLock { isAbandoned in
            guard !isAbandoned, rename(path, target) == 0 else {
                let failure = BlobFile.Failure(
                    operation: "put in place", path: target, number: isAbandoned ? ECANCELED : errno)
                // Done all the same, and told otherwise.
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

    /// Removes what was made of it.
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
            StoreLog.logger.warning("an unfinished backup at \(path) could not be removed: \(error)")
        }
    }

    /// Removes what this process is making for a place; it makes no more. It is renamed first, so that nothing can be
    /// put into it by its path.
    static func abandon(for target: URL) {
        let place = target.standardizedFileURL
        let parent = place.deletingLastPathComponent()
        let own = "\(prefix(place.lastPathComponent))\(getpid())-"
        let asides = isAbandoned.withLock { isAbandoned in
            isAbandoned = true
            return BlobFile.names(in: path(parent)).filter { $0.hasPrefix(own) }.compactMap { name -> String? in
                let old = path(parent.appending(path: name))
                return rename(old, old + ".abandoned") == 0 ? old + ".abandoned" : nil
            }
        }
        // Whoever writes may still finish a file that is open.
        for aside in asides {
            for _ in 0..<20 where BlobFile.exists(aside) { remove(aside) }
        }
    }

    /// Removes what processes that died have left of their copies to a place.
    static func sweepLeftovers(for target: URL) {
        let place = target.standardizedFileURL
        let parent = place.deletingLastPathComponent()
        let prefix = prefix(place.lastPathComponent)
        for found in BlobFile.names(in: path(parent)) where found.hasPrefix(prefix) {
            let process = found.dropFirst(prefix.count).split(separator: "-").first.flatMap { Int32($0) }
            guard let process, process > 0, kill(process, 0) != 0, errno == ESRCH else { continue }
            remove(path(parent.appending(path: found)))
        }
    }
}
