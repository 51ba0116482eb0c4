import Foundation
import LMDB
import Locking
import StrataModel

// Errors of LMDB, of files and of damaged records, as callers of the store see them.

extension StoreFile {
    /// The error as callers of the store see it, with the original as its cause. Damage is also passed to
    /// `damageHandler`.
    func publicError(_ error: any Error, during work: String) -> any Error {
        let known = Self.publicError(error, during: work, path: path)
        if let known = known as? StrataError, known.code == .corrupt { damageHandler.withLock { $0 }?(known) }
        return known
    }

    /// The same for a store that is not open.
    static func publicError(_ error: any Error, during work: String, path: String) -> any Error {
        switch error {
        case let error as LMDBError: StrataError(error, during: work, path: path)
        case let error as BlobFile.Failure where error.number == EWOULDBLOCK:
            StrataError(
                .persistentStoreTimeout,
                "The store stayed busy during \(work): another process has a lock on \(error.path).",
                context: .init(path: error.path), cause: error)
        case let error as BlobFile.Failure:
            StrataError(
                error.isOfDisk ? .noSpace : .persistentStoreOperation,
                error.isOfDisk
                    ? "The disk is full or failed during \(work); nothing was changed."
                    : "The store failed during \(work): \(error.reason).",
                context: .init(path: error.path), cause: error)
        case let error as CorruptRecord:
            StrataError(
                .corrupt, "A record is damaged: \(error.reason).", context: .init(path: path), cause: error)
        case let error as BackgroundThread.Unavailable:
            StrataError(
                .persistentStoreOperation, "The store failed during \(work): \(error).", context: .init(path: path),
                cause: error)
        case let error as UnstorableValue:
            StrataError(.wrongType, "A value does not fit its property: \(error.reason).", cause: error)
        default: error
        }
    }

    /// The error of a store that is being made. The place that is full is that of the store, not the hidden one where it
    /// lies until it is complete.
    static func publicError(_ error: any Error, during work: String, making target: URL) -> any Error {
        let path = target.path(percentEncoded: false)
        let known = publicError(error, during: work, path: path)
        guard var failure = known as? StrataError, failure.code == .noSpace else { return known }
        failure.context.path = path
        return failure
    }
}

extension StrataError {
    /// Makes the error for a file that cannot be opened.
    init(opening error: LMDBError, path: String) {
        let context = Context(path: path)
        let (code, message): (Code, String) =
            switch error.code {
            case .missing: (.persistentStoreOpen, "There is no store.")
            case .empty: (.persistentStoreOpen, "The store's file is empty.")
            case .foreign: (.persistentStoreOpen, "The file is not a store.")
            case .newerFormat:
                (.persistentStoreOpen, "The store's file has a newer format than this version of Strata reads.")
            case .truncated: (.corrupt, "The store's file is truncated.")
            case .invalid, .corrupted: (.corrupt, Self.sentence(ofDamage: error))
            case .permissionDenied where error.errno == EROFS:
                (.persistentStoreOpen, "The store is on a read-only file system, and can only be read.")
            case .permissionDenied where !FileManager.default.fileExists(atPath: path + "/data.mdb"):
                (.persistentStoreOpen, "The store cannot be created: its directory cannot be written or entered.")
            case .permissionDenied:
                (
                    .persistentStoreOpen,
                    "The store's files cannot be read or written; reading needs to write to lock.mdb, too."
                )
            case .outcomeUnknown, .panic: (.noSpace, "The disk is full or failed while the store was being created.")
            case .unrestored:
                (
                    .persistentStoreOpen,
                    "The system has stopped since the store was written. Open it for writing first, with its shared log "
                        + "if it has one; that takes it to its newest state."
                )
            case .fileReplaced:
                (
                    .persistentStoreOperation,
                    "Another process replaced or deleted the store's files while it was being opened, as a restore or a "
                        + "compaction does. Try again."
                )
            default: (.persistentStoreOpen, "")
            }
        if message.isEmpty {
            self.init(error, during: "opening", path: path)
        } else {
            self.init(code, message, context: context, cause: error)
        }
    }

    init(_ error: LMDBError, during work: String, path: String) {
        let context = Context(path: path)
        switch error.code {
        case .noSpaceOrIO, .mapFull:
            self.init(
                .noSpace, "The disk is full or failed during \(work); nothing was changed.", context: context,
                cause: error)
        case .busy:
            let reason = error.detail.isEmpty ? "" : ": \(error.detail)"
            self.init(
                .persistentStoreTimeout, "The store stayed busy during \(work)\(reason).", context: context,
                cause: error)
        // Every store has the same tables, with the same flags, and an ordered log; so these mean damage.
        case .corrupted, .truncated, .invalid, .notFound, .incompatibleTable, .keyExists:
            self.init(.corrupt, Self.sentence(ofDamage: error), context: context, cause: error)
        case .outcomeUnknown, .panic:
            self.init(.inDoubt, "It is not known whether the last commit is on disk.", context: context, cause: error)
        case .readOnly:
            self.init(.readOnly, "The store is open for reading only.", context: context, cause: error)
        case .closed:
            self.init(.storeClosed, "The store is closed.", context: context, cause: error)
        case .processIDInUse:
            self.init(
                .persistentStoreOpen,
                "Another process with the process id of this one has the store open, as in another container. Run "
                    + "programs that share a store in one PID namespace.", context: context, cause: error)
        case .missing, .empty, .foreign, .newerFormat, .versionMismatch, .permissionDenied, .symbolicLink,
            .insecurePermissions, .networkFileSystem, .conflictingOptions, .alreadyExists:
            self.init(.persistentStoreOpen, "The store cannot be opened: \(error)", context: context, cause: error)
        case .transactionTooLarge:
            self.init(.saveTooLarge, "The save touches more pages than one commit can.", context: context, cause: error)
        case .fileReplaced:
            self.init(
                .persistentStoreOperation,
                "A file of the store was replaced or deleted while the store was open. Open the store again, and then "
                    + "try again.", context: context, cause: error)
        default:
            self.init(
                .persistentStoreOperation, "The store failed during \(work): \(error.code.sentence).", context: context,
                cause: error)
        }
    }
}

extension StrataError {
    /// The damage, and advice on what to do.
    private static func sentence(ofDamage error: LMDBError) -> String {
        let what = error.detail.isEmpty ? "" : " (\(error.detail))"
        return "The store's file is damaged\(what). Verify the store: if its log is sound, rebuild the views;"
            + " if it is not, make a sound copy with doctor."
    }
}

extension StrataError {
    /// Whether the first pages of the file are not those of a store; damage can cause this too.
    package var isOfForeignFile: Bool { (cause as? LMDBError)?.code == .foreign }
}

extension StrataError {
    /// A damaged record of `table`.
    static func corrupt(_ cause: CorruptRecord, _ table: String, _ context: Context = Context()) -> StrataError {
        StrataError(
            .corrupt, "A record of the table '\(table)' is damaged: \(cause.reason).", context: context, cause: cause)
    }
}
