package import Foundation
import LMDB
import Locking
package import StrataModel

extension Store {
    /// Appends transactions that were made elsewhere, in one commit: the bytes of the log as they are, and the views
    /// that follow from them. Those that are here already are passed over.
    ///
    /// - Parameters:
    ///   - frames: in order, without gaps.
    ///   - blob: the bytes of a large value by its digest. A value that is missing there is missing here too, and
    ///     reading it throws `missingBlob`.
    /// - Returns: the last transaction of the log.
    /// - Throws: `divergedLog` if this log has other transactions, or the frames do not follow its end; `corrupt`;
    ///   `modelChanged` if the store must be opened again first, because the frames declare its first view. Nothing was
    ///   written then.
    @discardableResult
    package func receive(
        _ frames: [LogFrame], blob: @escaping @Sendable (Data) throws -> Data? = { _ in nil }
    ) throws -> TransactionNumber {
        try checkOpen()
        if isReadOnly {
            throw StrataError(.readOnly, "The store is open for reading only.", context: .init(path: path))
        }
        let last = Locked(TransactionNumber.zero)
        let lease = frames.contains { !$0.blobDigests.isEmpty } ? try beginBlobLease() : nil
        defer { withExtendedLifetime(lease) {} }
        do {
            try stageBlobs(of: frames, blob)
            try onWriter { [file] in
                let reached = try file.write { transaction in
                    let head = try file.readHead(transaction)
                    let fresh = try Self.unknown(frames, head, file, transaction)
                    guard !fresh.isEmpty else { return head.transaction }
                    var appending = FrameAppending(
                        file.tables, after: head, try file.histories(for: head, transaction))
                    for frame in fresh { try appending.append(frame, transaction) }
                    try appending.finish(transaction)
                    return appending.head.transaction
                }
                last.withLock { $0 = reached }
            }
        } catch let error as StrataError where error.code == .modelChanged {
            try prepareViewTables()
            throw error
        } catch {
            throw file.publicError(error, during: "receiving transactions")
        }
        feed.notify()
        return last.withLock { $0 }
    }

    private func stageBlobs(of frames: [LogFrame], _ blob: (Data) throws -> Data?) throws {
        for digest in frames.flatMap(\.blobDigests) where self.blob(digest: digest) == nil {
            guard let data = try blob(digest) else { continue }
            guard BlobReference(of: data).digest == digest else {
                throw StrataError(
                    .corrupt, "The bytes of a large value are not those of its digest.", context: .init(path: path))
            }
            _ = try blobs.stage(data)
        }
    }

    /// The frames after the head. Those before it must be the same as here.
    private static func unknown(
        _ frames: [LogFrame], _ head: LogHead, _ file: StoreFile, _ transaction: ReadTransaction
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

    /// Makes the tables of declared views, for the next opening.
    private func prepareViewTables() throws {
        guard file.tables.views == nil else { return }
        do {
            try onWriter { [file] in
                _ = try ViewTables(opening: file.environment)
                try file.write { try file.noteViews($0) }
            }
        } catch {
            throw file.publicError(error, during: "making the tables of views")
        }
    }
}

extension Store {
    /// Makes an empty copy of a store, with its id and lineage, in a directory that does not exist yet; it is filled by
    /// `receive`.
    ///
    /// - Parameter frames: the first transactions of its log, at least the one that installs the first model.
    /// - Throws: `persistentStoreOpen` if something is at that place; `divergedLog`; `corrupt`; `noSpace`.
    package static func makeReplica(
        of position: LogPosition, at target: URL, beginningWith frames: [LogFrame]
    ) throws {
        try refuseUsed(target)
        try makeDirectory(target.deletingLastPathComponent(), mode: 0o755)
        do {
            try BackupFolder.filled(for: target) { folder in
                try fill(folder.path(percentEncoded: false), position, frames)
            }
        } catch let error as LMDBError {
            throw StrataError(error, during: "making a copy", path: target.path(percentEncoded: false))
        }
    }

    private static func fill(_ path: String, _ position: LogPosition, _ frames: [LogFrame]) throws {
        var options = EnvironmentOptions()
        options.durability = .full
        let environment = try Environment.open(at: path, options: options)
        do {
            var tables = try StoreTables(opening: environment)
            do {
                try environment.write { try begin(tables, position, frames, $0) }
            } catch let error as StrataError where error.code == .modelChanged && tables.views == nil {
                tables.views = try ViewTables(opening: environment)
                try environment.write { try begin(tables, position, frames, $0) }
            }
            try environment.close()
        } catch {
            try environment.close()
            throw error
        }
    }

    private static func begin(
        _ tables: StoreTables, _ position: LogPosition, _ frames: [LogFrame], _ transaction: WriteTransaction
    ) throws {
        var header = StoreHeader(
            identifier: position.identifier, lineage: position.lineage,
            createdMicroseconds: position.createdMicroseconds)
        header.incompatibleFlags = StoreHeader.newFlags
        header.hasViews = tables.views != nil
        try header.encoded().withUnsafeBytes { value in
            try StoreFile.withKey("header") { try transaction.put(tables.meta, $0, value) }
        }
        var appending = FrameAppending(tables, after: .start, SchemaHistory([]))
        for frame in frames { try appending.append(frame, transaction) }
        try appending.finish(transaction)
    }
}
