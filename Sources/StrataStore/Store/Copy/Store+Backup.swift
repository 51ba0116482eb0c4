package import Foundation
import LMDB
import Logging
import StrataModel

/// A summary of a backup.
package struct BackupReport: Sendable {
    /// The verification of the copy.
    package let verification: VerificationReport
    /// The number of large values copied.
    package let blobCount: Int
    package let blobSizeInBytes: UInt64
}

extension Store {
    /// Copies the store, as of now, into a directory that does not exist yet, with every large value that it names, and
    /// verifies the copy. Reads and saves go on meanwhile.
    ///
    /// The directory appears when the copy is complete, verified and durable; a backup that fails or is killed leaves
    /// nothing there. The copy keeps the store's id and lineage.
    ///
    /// - Throws: `persistentStoreOpen` if something is at that place; `invalidRequest` if it is in this store; `corrupt`
    ///   with the problems as details if the copy does not verify; `noSpace`.
    @discardableResult
    package func backup(to target: URL, progress: ProgressHandler? = nil) throws -> BackupReport {
        try checkOpen()
        try refuseUsed(target)
        // While it is held no value is swept that the copied state names.
        let lease = try blobs.readingLease()
        defer { withExtendedLifetime(lease) {} }
        do {
            return try BackupFolder.filled(for: target) { folder in
                try backUp(into: folder, target.path(percentEncoded: false), isRestored: false, progress)
            }
        } catch {
            throw copyError(error, during: "backup", target)
        }
    }

    /// Copies this store, which is a backup, to where it is to be used. The new store has the same id, a lineage of its
    /// own, and gives row numbers far above the existing ones, because the original store may have given more since the
    /// backup.
    ///
    /// - Parameter erasures: made in the copy before it appears; those that the backup has are passed over.
    /// - Throws: as `backup`; `persistentStoreTimeout` if something keeps an erasure from being completed.
    package func restore(
        to target: URL, erasing erasures: [RecordedErasure] = [], progress: ProgressHandler? = nil
    ) throws -> BackupReport {
        try checkOpen()
        try refuseUsed(target)
        do {
            return try BackupFolder.filled(for: target) { folder in
                let report = try backUp(into: folder, target.path(percentEncoded: false), isRestored: true, progress)
                return try erasures.isEmpty ? report : Self.erase(erasures, in: folder, progress)
            }
        } catch {
            throw copyError(error, during: "restoring", target)
        }
    }

    /// The error of a copy. Files that are missing in an unfinished copy are missing in this store.
    func copyError(_ error: any Error, during operation: String, _ target: URL) -> any Error {
        let known = StoreFile.publicError(file.publicError(error, during: operation), during: operation, making: target)
        guard var failure = known as? StrataError, failure.code == .missingBlob else { return known }
        failure.context.path = path
        return failure
    }

    private func backUp(
        into folder: URL, _ path: String, isRestored: Bool, _ progress: ProgressHandler?
    ) throws -> BackupReport {
        try CopyWatch.during(folder, total: sizeOfDataFile(), progress) {
            try file.environment.copy(to: folder.path(percentEncoded: false), .compacting)
        }
        if isRestored { try Self.beginLineage(in: folder) }
        var options = StoreOptions()
        options.isReadOnly = true
        let copy = try Store.open(.directory(folder), model: nil, options: options)
        defer { copy.close() }
        var lost: [VerificationProblem] = []
        let copied = try copy.takeBlobs(
            { digest in
                // A value that is missing in the copy is reported with the path of the original file.
                let data = blobs.contents(digest: digest)
                if data.map({ BlobReference(of: $0).digest }) != digest, let damage = blobs.damage(of: digest) {
                    let name = digest.withUnsafeBytes(\.hexadecimal)
                    lost.append(VerificationProblem(kind: .blob, location: name, message: damage))
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
                .corrupt, "The verification of the backup found \(CountText.of(report.problemCount, "problem")).",
                context: .init(path: path),
                details: report.problems.map { StrataError(.corrupt, $0.description) })
        }
        return BackupReport(verification: report, blobCount: copied.count, blobSizeInBytes: copied.sizeInBytes)
    }

    /// Gives a copy of a store, which is not open, a lineage of its own, and lets it give row numbers far above the
    /// existing ones. A standby becomes a store that can be saved to.
    package static func beginLineage(in folder: URL) throws {
        try changeHeader(in: folder) { header, transaction, state in
            header.lineage = UUID()
            header.isStandby = false
            // Without the counter row numbers restart a block above the largest row.
            _ = try StoreFile.withKey("rows") { try transaction.delete(state, $0) }
            // A restored store has its log for itself, unless it is opened with its shared log again.
            _ = try StoreFile.withKey("log") { try transaction.delete(state, $0) }
        }
    }

    /// Makes a store, which is not open, a standby.
    package static func makeStandby(in folder: URL) throws {
        try changeHeader(in: folder) { header, _, _ in header.isStandby = true }
    }

    static func changeHeader(
        in folder: URL, _ change: (inout StoreHeader, WriteTransaction, _ state: Table) throws -> Void
    ) throws {
        var options = EnvironmentOptions()
        options.durability = .full
        let environment = try Environment.open(at: folder.path(percentEncoded: false), options: options)
        do {
            let tables = try environment.openTables(["meta", "state"])
            try environment.write { transaction in
                guard let bytes = try StoreFile.withKey("header", { try transaction.get(tables[0], $0) }) else {
                    throw CorruptRecord("store without a header", at: 0)
                }
                var header = try StoreHeader(bytes)
                try change(&header, transaction, tables[1])
                try header.encoded().withUnsafeBytes { value in
                    try StoreFile.withKey("header") { try transaction.put(tables[0], $0, value) }
                }
            }
            try environment.close()
        } catch {
            try environment.close()
            throw error
        }
    }

    /// Removes the copy that this process is making at a place, on whichever thread; the copy then fails and leaves
    /// nothing. For a program that is about to end.
    package static func abandonCopies(to target: URL) { BackupFolder.abandon(for: target) }

    private func sizeOfDataFile() -> Int {
        var status = stat()
        return stat(path + "/data.mdb", &status) == 0 ? Int(status.st_size) : 0
    }

    /// Removes unfinished copies of ended processes in the directory of a place.
    package static func removeLeftovers(of target: URL) {
        let parent = target.standardizedFileURL.deletingLastPathComponent().path(percentEncoded: false)
        BackupFolder.sweepLeftovers(in: parent)
    }

    /// Throws if the place is taken, or in this store; the remains of an interrupted copy do not count.
    func refuseUsed(_ target: URL) throws {
        try refuseInside(target)
        try Self.refuseUsed(target)
    }

    static func refuseUsed(_ target: URL) throws {
        let path = target.path(percentEncoded: false)
        guard FileManager.default.fileExists(atPath: path) else { return }
        var isFree = false
        do {
            isFree = try Environment.sweepLeftoverCopies(in: path)
        } catch {
            StoreLogger.shared.debug("no directory for a backup at \(path): \(error)")
        }
        guard !isFree else { return }
        // A process killed just after a copy was put in place leaves the hidden directory it was made in.
        removeLeftovers(of: target)
        throw StrataError(takenPlace: path)
    }

    /// Copies every large value that this store names from another place. A value that is missing there is missing here
    /// too, which a verification then reports.
    package func takeBlobs(
        _ contents: (Data) throws -> Data?, _ progress: ProgressHandler?
    ) throws -> (count: Int, sizeInBytes: UInt64) {
        let digests = try blobDigests()
        var counter = ProgressCounter("copying large values", total: digests.count, progress)
        var copied = (count: 0, sizeInBytes: UInt64(0))
        for digest in digests {
            counter.step()
            guard let data = try contents(digest) else { continue }
            _ = try blobs.stage(data)
            copied.count += 1
            copied.sizeInBytes += UInt64(data.count)
        }
        return copied
    }

    /// The digests of the large values that the store names.
    package func blobDigests() throws -> [Data] {
        var digests: [Data] = []
        try file.read { transaction, _, _ in
            try transaction.withCursor(file.tables.blobs) { cursor in
                var found = try cursor.first()
                while found {
                    digests.append(Data(cursor.key))
                    found = try cursor.next()
                }
            }
        }
        return digests
    }
}
