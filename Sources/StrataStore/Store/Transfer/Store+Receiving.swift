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
    /// - Throws: `divergedLog` if this log has other transactions, or the frames do not follow its end; `corrupt`.
    ///   Nothing was written then.
    @discardableResult
    package func receive(
        _ frames: [LogFrame], blob: @escaping @Sendable (Data) throws -> Data? = { _ in nil }
    ) throws -> TransactionNumber {
        try checkOpen()
        if isReadOnly {
            throw StrataError(.readOnly, "The store is open for reading only.", context: .init(path: path))
        }
        let last = Locked(TransactionNumber.zero)
        do {
            try onWriter { [file, blobs] in
                let reached = try FrameReceiver(file, blobs).receive(frames, blob: blob)
                last.withLock { $0 = reached }
            }
        } catch {
            throw file.publicError(error, during: "receiving transactions")
        }
        feed.notify()
        // The frames may have declared a view.
        beginKeepingViews()
        // Erasures of the other log are made here, too.
        _ = try finishErasures()
        return last.withLock { $0 }
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
            let tables = try StoreTables(opening: environment)
            try MissingViewTables.opened(environment, for: tables) {
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
        header.hasTexts = tables.views?.texts != nil
        var appending = FrameAppending(tables, after: .start, SchemaHistory([]))
        for frame in frames { try appending.append(frame, transaction) }
        try appending.finish(transaction)
        header.isEncrypted = appending.histories.newest?.hasEncryption ?? false
        try header.encoded().withUnsafeBytes { value in
            try StoreFile.withKey("header") { try transaction.put(tables.meta, $0, value) }
        }
    }
}
