package import Foundation
import LMDB
import Logging
import StrataModel

/// What a backup holds.
package struct BackupReport: Sendable {
    /// Of the copy.
    package let verification: VerificationReport
    /// Large values copied, and their bytes.
    package let blobCount: Int
    package let blobSizeInBytes: UInt64
}

extension Store {
    /// Copies the store, as of now, into a directory that does not exist yet, with every large value that it names, and
    /// verifies the copy. Readers and writers go on meanwhile.
    ///
    /// It appears there when it is whole, verified and durable; a backup that fails or is killed leaves nothing under
    /// that name. The copy keeps the store's id and lineage.
    ///
    /// - Throws: `persistentStoreOpen` when something stands there; `corrupt` with the problems as details when the
    ///   copy does not verify; `noSpace`.
    @discardableResult
    package func backup(to target: URL, progress: ProgressHandler? = nil) throws -> BackupReport {
        try checkOpen()
        let path = target.path(percentEncoded: false)
        try refuseUsed(target, path)
        // While it is held nobody sweeps a value that the snapshot names.
        let lease = try blobs.lease()
        defer { withExtendedLifetime(lease) {} }
        do {
            let folder = try BackupFolder(for: target)
            do {
                let report = try backUp(into: folder.url, path, progress)
                try folder.publish()
                return report
            } catch {
                folder.remove()
                throw error
            }
        } catch {
            throw core.publicError(error, during: "backup")
        }
    }

    private func backUp(into folder: URL, _ path: String, _ progress: ProgressHandler?) throws -> BackupReport {
        try core.environment.copy(to: folder.path(percentEncoded: false), .compacting)
        var options = StoreOptions()
        options.isReadOnly = true
        let copy = try Store.open(.directory(folder), model: nil, options: options)
        defer { copy.close() }
        let copied = try copyBlobs(to: copy, progress)
        let report = try copy.verify(.full, progress: progress)
        guard report.isSound else {
            throw StrataError(
                .corrupt, "The backup does not verify: \(report.problemCount) problems.", context: .init(path: path),
                details: report.problems.map { StrataError(.corrupt, $0.description) })
        }
        return BackupReport(verification: report, blobCount: copied.count, blobSizeInBytes: copied.sizeInBytes)
    }

    /// What a backup that was cut short has left does not count.
    private func refuseUsed(_ target: URL, _ path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        var isFree = false
        do {
            isFree = try Environment.sweepLeftoverCopies(in: path)
        } catch {
            StoreLog.logger.debug("no directory for a backup at \(path): \(error)")
        }
        guard !isFree else { return }
        throw StrataError(
            .persistentStoreOpen, "Something stands where the backup is to go.", context: .init(path: path))
    }

    /// A value that is missing here is missing there too, which the verification then says.
    private func copyBlobs(to copy: Store, _ progress: ProgressHandler?) throws -> (count: Int, sizeInBytes: UInt64) {
        var digests: [Data] = []
        try copy.core.read { transaction, _, _ in
            try transaction.withCursor(copy.core.tables.blobs) { cursor in
                var found = try cursor.first()
                while found {
                    digests.append(Data(cursor.key))
                    found = try cursor.next()
                }
            }
        }
        var counter = ProgressCounter("copying large values", total: digests.count, progress)
        var copied = (count: 0, sizeInBytes: UInt64(0))
        for digest in digests {
            counter.step()
            guard let data = blobs.contents(digest: digest) else { continue }
            _ = try copy.blobs.stage(data)
            copied.count += 1
            copied.sizeInBytes += UInt64(data.count)
        }
        return copied
    }
}
