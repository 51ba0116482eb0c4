import Foundation
import LMDB

/// Copies of a store that ended processes have left beside its directory, and in it.
package enum LeftCopies {
    /// The part of a name between that of a store and the id of the process that compacts it.
    package static let compacting = ".compacting-"
    /// The ending of the name of the store's file from before a compaction.
    package static let beforeCompaction = ".before-compact"

    /// The place where a store is made that will replace another one.
    package static func restoring(_ path: String) -> String { path + ".restoring" }

    /// The place of a store that another one has replaced.
    package static func beforeRestore(_ path: String) -> String { path + ".before-restore" }

    /// Removes them: copies that were not finished, in any directory beside the store's, copies of interrupted
    /// compactions, and restored stores that were to replace this one, whose restore did not finish.
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
        guard hasRestored(own), let lock = try PlaceLock(on: URL(filePath: restoring(own), directoryHint: .isDirectory))
        else { return left }
        defer { lock.release() }
        return left + restored(own).filter { !BackupFolder.remove($0) }
    }

    /// Restored stores that were to replace this one, whose restore did not finish.
    private static func restored(_ path: String) -> [String] {
        let other = beforeRestore(path)
        return (BlobFile.exists(restoring(path)) ? [restoring(path)] : []) + (RestoreMark.isIn(other) ? [other] : [])
    }

    /// Whether there is a restored store that was to replace this one, whose restore did not finish.
    package static func hasRestored(_ path: String) -> Bool { !restored(path).isEmpty }

    /// Removes a restored store that was to replace another one, after the process was killed before that. The caller
    /// has the lock of that place.
    package static func removeRestored(_ path: String) throws {
        for copy in restored(path) { try FileManager.default.removeItem(atPath: copy) }
    }

    /// Removes the file that a compaction has kept, journals that did not continue the store's file, and folders with
    /// files that were put aside because a shared log had everything in them.
    ///
    /// - Returns: their paths.
    static func removeKeptFiles(in path: String) throws -> [String] {
        let names = BlobFile.names(in: path)
        let folders = names.filter { $0.hasPrefix(DamagedCopy.prefix) || $0.hasPrefix(DamagedCopy.outdatedPrefix) }
        for name in folders { try FileManager.default.removeItem(atPath: path + "/" + name) }
        let journals = names.filter { $0.hasPrefix(Environment.unusedJournalPrefix) }
        let files: [String] = try (["data.mdb" + beforeCompaction] + journals).compactMap { name in
            let kept = path + "/" + name
            guard unlink(kept) == 0 else {
                if errno == ENOENT || errno == ENOTDIR { return nil }
                throw BlobFile.Failure(operation: "remove", path: kept, number: errno)
            }
            return kept
        }
        return files + folders.map { path + "/" + $0 }
    }
}

extension String {
    fileprivate var droppingLastSlash: String { count > 1 && hasSuffix("/") ? String(dropLast()) : self }
}
