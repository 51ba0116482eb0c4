package import Foundation
import StrataModel

extension Store {
    /// Makes erasures in a copy that nobody has opened yet.
    ///
    /// - Throws: `persistentStoreTimeout` if something keeps an erasure from being completed.
    package static func make(_ erasures: [RecordedErasure], in folder: URL) throws {
        if erasures.isEmpty { return }
        var options = StoreOptions()
        options.createsIfMissing = false
        let copy = try Store.open(.directory(folder), model: nil, options: options)
        defer { copy.close() }
        let erased = try copy.apply(erasures)
        guard erased.isComplete else {
            throw StrataError(
                .persistentStoreTimeout,
                "The erasures could not be completed in the copy: \(erased.waiting.joined(separator: "; ")). Try again."
            )
        }
    }

    /// Makes erasures in a copy that nobody has opened yet, and verifies it again.
    static func erase(
        _ erasures: [RecordedErasure], in folder: URL, _ progress: ProgressHandler?
    ) throws -> BackupReport {
        try make(erasures, in: folder)
        var options = StoreOptions()
        options.isReadOnly = true
        let copy = try Store.open(.directory(folder), model: nil, options: options)
        defer { copy.close() }
        let verification = try copy.verify(.full, progress: progress)
        guard verification.isSound else {
            throw StrataError(
                .corrupt, "The verification after the erasures found \(verification.problemCount) problems.",
                details: verification.problems.map { StrataError(.corrupt, $0.description) })
        }
        return BackupReport(
            verification: verification, blobCount: copy.blobs.usage.count,
            blobSizeInBytes: copy.blobs.usage.sizeInBytes)
    }
}

extension LogFrame {
    /// The erasures that the transaction records.
    package func erasures() throws -> [RecordedErasure] {
        try withRecords { _, events in
            var found: [RecordedErasure] = []
            for (offset, bytes) in events.enumerated() {
                guard let erasure = try EventView(bytes).erasure() else { continue }
                found.append(
                    RecordedErasure(
                        eventNumber: record.firstEvent.advanced(by: offset), transactionID: record.id,
                        date: record.date, author: record.author, metadata: record.metadata, record: erasure))
            }
            return found
        }
    }
}
