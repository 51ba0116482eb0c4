import Foundation
import Logging

/// The directory in which a backup is made, beside the place where it is to stand.
///
/// It gets the place's name when everything in it is whole and durable, so that nobody ever opens half a backup. What a
/// process that died has left is removed by the next backup to the same place.
struct BackupFolder {
    let url: URL
    private let target: String
    private let parent: String

    init(for target: URL) throws {
        let place = target.standardizedFileURL
        let parent = place.deletingLastPathComponent()
        self.target = Self.path(place)
        self.parent = Self.path(parent)
        Self.sweepLeftovers(of: place.lastPathComponent, in: parent)
        let name = "\(Self.prefix(place.lastPathComponent))\(getpid())-\(UInt64.random(in: 0 ... .max))"
        url = parent.appending(path: name, directoryHint: .isDirectory)
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
        guard rename(path, target) == 0 else {
            let failure = BlobFile.Failure(operation: "put in place", path: target, number: errno)
            // Done all the same, and told otherwise.
            if !BlobFile.exists(path) { Self.remove(target) }
            throw failure
        }
        do {
            try BlobFile.syncDirectory(parent)
        } catch {
            Self.remove(target)
            throw error
        }
    }

    /// Removes what was made of it.
    func remove() { Self.remove(Self.path(url)) }

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

    private static func sweepLeftovers(of name: String, in parent: URL) {
        for found in BlobFile.names(in: path(parent)) where found.hasPrefix(prefix(name)) {
            let process = found.dropFirst(prefix(name).count).split(separator: "-").first.flatMap { Int32($0) }
            guard let process, process > 0, kill(process, 0) != 0, errno == ESRCH else { continue }
            remove(path(parent.appending(path: found)))
        }
    }
}
