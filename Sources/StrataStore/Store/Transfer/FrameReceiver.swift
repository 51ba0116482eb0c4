import Foundation
import LMDB
import StrataModel

/// Appends frames of another log to a store's log, on the thread that writes.
struct FrameReceiver {
    private let file: StoreFile
    private let blobs: BlobStore

    init(_ file: StoreFile, _ blobs: BlobStore) {
        self.file = file
        self.blobs = blobs
    }

    /// Appends those that are not here yet, in one commit, with their large values.
    ///
    /// - Returns: the last transaction of the log.
    /// - Throws: as `Store.receive`; `LMDBError`.
    @discardableResult
    func receive(_ frames: [LogFrame], blob: (Data) throws -> Data?) throws -> TransactionNumber {
        let lease = frames.contains { !$0.blobDigests.isEmpty } ? try blobs.lease() : nil
        defer { withExtendedLifetime(lease) {} }
        try stageBlobs(of: frames, blob)
        // Not through the gate of a shared log, which is where the frames may have come from.
        return try file.writeDirectly { transaction in
            let head = try file.readHead(transaction)
            let fresh = try unknown(frames, head, transaction)
            guard !fresh.isEmpty else { return head.transaction }
            var appending = FrameAppending(file.tables, after: head, try file.histories(for: head, transaction))
            try appending.noteBuildingViews(transaction)
            for frame in fresh { try appending.append(frame, transaction) }
            try appending.finish(transaction)
            if file.options.receivesOnly {
                // A store that only receives gives no row numbers, and a counter from a snapshot falls behind.
                _ = try StoreFile.withKey("rows") { try transaction.delete(file.tables.state, $0) }
            }
            if let newest = appending.histories.newest { try file.noteViews(of: newest.model, transaction) }
            if appending.histories.newest?.hasEncryption == true { try file.noteEncryption(transaction) }
            return appending.head.transaction
        }
    }

    private func stageBlobs(of frames: [LogFrame], _ blob: (Data) throws -> Data?) throws {
        for digest in frames.flatMap(\.blobDigests) where blobs.checkedContents(digest: digest) == nil {
            guard let data = try blob(digest) else { continue }
            guard BlobReference(of: data).digest == digest else {
                throw StrataError(
                    .corrupt, "The bytes of a large value are not those of its digest.", context: .init(path: file.path)
                )
            }
            _ = try blobs.stage(data)
        }
    }

    /// The frames after the head. Those before it must be the same as here.
    private func unknown(
        _ frames: [LogFrame], _ head: LogHead, _ transaction: ReadTransaction
    ) throws -> ArraySlice<LogFrame> {
        let reader = LogReader(transaction, file.tables, SchemaHistory([]))
        for frame in frames.prefix(while: { $0.record.number <= head.transaction }) {
            guard let here = try reader.transaction(frame.record.number, in: head) else { continue }
            guard here.digest == frame.record.digest else {
                throw StrataError(
                    .divergedLog, "Transaction \(here.number) is another one here than there.",
                    context: .init(eventNumber: here.firstEvent, path: file.path))
            }
        }
        return frames.drop { $0.record.number <= head.transaction }
    }
}
