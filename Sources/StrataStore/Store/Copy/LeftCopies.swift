import Foundation
import LMDB

/// Copies of a store that ended processes have left beside its directory, and in it.
package enum LeftCopies {
    /// Between the name of a store and the number of the process that compacts it.
    package static let compacting = ".compacting-"
    /// Behind the name of the store's file, what it was before a compaction.
    package static let beforeCompaction = ".before-compact"

    /// The place where a store is made that will replace another one.
    package static func restoring(_ path: String) -> String { path + ".restoring" }

    /// Removes them: copies that were not finished, in any directory beside the store's, copies of interrupted
    /// compactions, and a store that was restored to replace this one and did not.
    ///
    /// - Returns: the paths of those that could not be removed.
    @discardableResult
    package static func remove(besides path: String) throws -> [String] {
        let url = URL(filePath: path, directoryHint: .isDirectory).standardizedFileURL
        let parent = url.deletingLastPathComponent().path(percentEncoded: false)
        var left = BackupFolder.sweepLeftovers(in: parent)
        let prefix = url.lastPathComponent + compacting
        for name in BlobFile.names(in: parent) where name.hasPrefix(prefix) {
            guard let process = Int32(name.dropFirst(prefix.count)),
                BackupFolder.isLeft(parent + "/" + name, by: process)
            else { continue }
            if !BackupFolder.remove(parent + "/" + name) { left.append(parent + "/" + name) }
        }
        let own = url.path(percentEncoded: false).droppingLastSlash
        guard BlobFile.exists(restoring(own)),
            let lock = try PlaceLock(on: URL(filePath: restoring(own), directoryHint: .isDirectory))
        else { return left }
        defer { lock.release() }
        if !BackupFolder.remove(restoring(own)) { left.append(restoring(own)) }
        return left
    }

    /// Whether there is a store that was restored to replace this one, and did not.
    package static func hasRestored(_ path: String) -> Bool { BlobFile.exists(restoring(path)) }

    /// Removes a store that was restored to replace another one, and did not because the process was killed. The caller
    /// has the lock of that place.
    package static func removeRestored(_ path: String) throws {
        if BlobFile.exists(restoring(path)) { try FileManager.default.removeItem(atPath: restoring(path)) }
    }

    /// Removes the file that a compaction has kept, and journals that did not continue the store's file.
    ///
    /// - Returns: their paths.
    static func removeKeptFiles(in path: String) throws -> [String] {
        let journals = BlobFile.names(in: path).filter { $0.hasPrefix(Environment.unusedJournalPrefix) }
        return try (["data.mdb" + beforeCompaction] + journals).compactMap { name in
            let kept = path + "/" + name
            guard unlink(kept) == 0 else {
                if errno == ENOENT || errno == ENOTDIR { return nil }
                throw BlobFile.Failure(operation: "remove", path: kept, number: errno)
            }
            return kept
        }
    }
}

extension String {
    fileprivate var droppingLastSlash: String { count > 1 && hasSuffix("/") ? String(dropLast()) : self }
}
