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
        try refuseUsed(target)
        // While it is held nobody sweeps a value that the snapshot names.
        let lease = try blobs.readingLease()
        defer { withExtendedLifetime(lease) {} }
        do {
            return try BackupFolder.filled(for: target) { folder in
                try backUp(into: folder, target.path(percentEncoded: false), isRestored: false, progress)
            }
        } catch {
            throw core.publicError(error, during: "backup")
        }
    }

    /// Copies this store, which is a backup, to where it is to be used. The new one has the same id, a lineage of its
    /// own, and gives row numbers from far above those that it has, since the store of then has gone on giving them.
    ///
    /// - Throws: as `backup`.
    package func restore(to target: URL, progress: ProgressHandler? = nil) throws -> BackupReport {
        try checkOpen()
        try refuseUsed(target)
        do {
            return try BackupFolder.filled(for: target) { folder in
                try backUp(into: folder, target.path(percentEncoded: false), isRestored: true, progress)
            }
        } catch {
            throw core.publicError(error, during: "restoring")
        }
    }

    private func backUp(
        into folder: URL, _ path: String, isRestored: Bool, _ progress: ProgressHandler?
    ) throws -> BackupReport {
        try CopyWatch.during(folder, total: sizeOfDataFile(), progress) {
            try core.environment.copy(to: folder.path(percentEncoded: false), .compacting)
        }
        if isRestored { try Self.beginLineage(in: folder, as: core.header) }
        var options = StoreOptions()
        options.isReadOnly = true
        let copy = try Store.open(.directory(folder), model: nil, options: options)
        defer { copy.close() }
        var lost: [VerificationProblem] = []
        let copied = try copy.takeBlobs(
            { digest in
                // What the copy lacks is told of the file that it was to come from.
                let data = blobs.contents(digest: digest)
                if data.map({ BlobReference(of: $0).digest }) != digest, let fault = blobs.fault(of: digest) {
                    let name = digest.withUnsafeBytes(\.hexadecimal)
                    lost.append(VerificationProblem(kind: .blob, place: name, message: fault))
                }
                return data
            }, progress)
        guard lost.isEmpty else {
            throw StrataError(
                .corrupt, "Large values of the store are lost or damaged: \(lost.count).",
                context: .init(path: self.path), details: lost.map { StrataError(.corrupt, $0.description) })
        }
        let report = try copy.verify(.full, progress: progress)
        guard report.isSound else {
            throw StrataError(
                .corrupt, "The backup does not verify: \(report.problemCount) problems.", context: .init(path: path),
                details: report.problems.map { StrataError(.corrupt, $0.description) })
        }
        return BackupReport(verification: report, blobCount: copied.count, blobSizeInBytes: copied.sizeInBytes)
    }

    private static func beginLineage(in folder: URL, as header: StoreHeader) throws {
        var options = EnvironmentOptions()
        options.durability = .full
        let environment = try Environment.open(at: folder.path(percentEncoded: false), options: options)
        do {
            let tables = try environment.openTables(["meta", "state"])
            var header = header
            header.lineage = UUID()
            try environment.write { transaction in
                try header.encoded().withUnsafeBytes { value in
                    try StoreCore.withKey("header") { try transaction.put(tables[0], $0, value) }
                }
                // Without the counter it restarts a block above the largest row.
                _ = try StoreCore.withKey("rows") { try transaction.delete(tables[1], $0) }
            }
            try environment.close()
        } catch {
            try environment.close()
            throw error
        }
    }

    /// Takes away what this process is making for a place, on whatever thread: the copy then fails, and nothing of it
    /// stays. For a program that is about to end.
    package static func abandonCopies(to target: URL) { BackupFolder.abandon(for: target) }

    private func sizeOfDataFile() -> Int {
        var status = stat()
        return stat(path + "/data.mdb", &status) == 0 ? Int(status.st_size) : 0
    }

    /// Removes what processes that have ended left of copies to a place.
    package static func removeLeftovers(of target: URL) { BackupFolder.sweepLeftovers(for: target) }

    /// What a backup that was cut short has left does not count.
    func refuseUsed(_ target: URL) throws { try Self.refuseUsed(target) }

    static func refuseUsed(_ target: URL) throws {
        let path = target.path(percentEncoded: false)
        guard FileManager.default.fileExists(atPath: path) else { return }
        var isFree = false
        do {
            isFree = try Environment.sweepLeftoverCopies(in: path)
        } catch {
            StoreLog.logger.debug("no directory for a backup at \(path): \(error)")
        }
        guard !isFree else { return }
        // Who was killed just after a copy was put in its place left the hidden directory it was made in.
        removeLeftovers(of: target)
        throw StrataError(
            .persistentStoreOpen, "Something stands where the new store is to go.", context: .init(path: path))
    }

    /// Takes every large value that this store names from another place. A value that is missing there is missing here
    /// too, which a verification then says.
    func takeBlobs(
        _ contents: (Data) -> Data?, _ progress: ProgressHandler?
    ) throws -> (count: Int, sizeInBytes: UInt64) {
        var digests: [Data] = []
        try core.read { transaction, _, _ in
            try transaction.withCursor(core.tables.blobs) { cursor in
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
            guard let data = contents(digest) else { continue }
            _ = try blobs.stage(data)
            copied.count += 1
            copied.sizeInBytes += UInt64(data.count)
        }
        return copied
    }
}
