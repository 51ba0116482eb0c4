/// A failure of the storage layer: the operation, the path, and the kind of failure.
package struct LMDBError: Error, Sendable, Equatable {
    /// The kind of failure; layers above map these and never see LMDB's numbers.
    package enum Code: Sendable, Equatable {
        /// The map has no room left and could not grow.
        case mapFull
        /// Another process grew the file beyond this process's map.
        case mapResized
        /// Every reader slot is taken by a live reader.
        case readersFull
        /// The key exists already, or an appended key is not larger than the last one.
        case keyExists
        /// The record or table does not exist.
        case notFound
        /// The tree or a value reaches outside the file.
        case corrupted
        /// An earlier commit failed half way; `Environment.reopen()` is needed.
        case panic
        /// A commit failed while the meta page was written: it may or may not be durable.
        /// `Environment.reopen()`, then look for the transaction.
        case outcomeUnknown
        /// A key outside 1...511 bytes, or a value LMDB cannot hold.
        case badValueSize
        /// The lock file belongs to another build or version of LMDB.
        case versionMismatch
        /// The header contradicts itself.
        case invalid
        /// The file is not an LMDB file.
        case foreign
        /// There is no data file.
        case missing
        /// The data file has no bytes.
        case empty
        /// The data file ends before pages that its header counts.
        case truncated
        /// The data file has a newer on-disk format.
        case newerFormat
        /// The disk is full, a file size limit was met, or the device failed; nothing was committed.
        case noSpaceOrIO
        /// The operating system refused access.
        case permissionDenied
        /// A lock was not free, or transactions stayed open, until the timeout.
        case busy
        /// A process with the same id in another PID namespace, as of a container, reads the store. LMDB tells readers
        /// apart by a lock on the byte of `lock.mdb` at their process id.
        case processIDInUse
        /// The environment was opened by the parent of this process.
        case usedAfterFork
        /// The directory is on a network or user-space file system.
        case networkFileSystem
        /// The path or one of the files is a symbolic link or not a plain file.
        case symbolicLink
        /// Another user owns the files, or others may write to them.
        case insecurePermissions
        /// A write was asked of a read-only environment.
        case readOnly
        /// One of the store's files was deleted or replaced while the store was open.
        case fileReplaced
        /// The transaction touches more pages than LMDB can keep.
        case transactionTooLarge
        /// A transaction that already failed was used further.
        case badTransaction
        /// More tables than `EnvironmentOptions.maximumTables`.
        case tablesFull
        /// A table has flags (duplicate or integer keys) that this layer never uses.
        case incompatibleTable
        /// A file exists where a new one was to be made.
        case alreadyExists
        /// The store is open in this process with options that do not fit.
        case conflictingOptions
        /// The system has stopped since the store was written, and only a writer can take it back to its checkpoint.
        case unrestored
        /// The environment was closed.
        case closed
        /// Another code of LMDB or the operating system.
        case other(Int32)
    }

    /// The kind of failure.
    package let code: Code
    /// The operation that failed, as a verb phrase: "open the environment".
    package let operation: String
    /// The store's directory, or the file concerned.
    package let path: String
    /// The operating system's error number, or 0.
    package let errno: Int32
    /// More about the cause, or an empty string.
    package let detail: String

    /// Makes an error from its parts.
    package init(_ code: Code, operation: String, path: String, errno: Int32 = 0, detail: String = "") {
        self.code = code
        self.operation = operation
        self.path = path
        self.errno = errno
        self.detail = detail
    }
}

extension LMDBError: CustomStringConvertible {
    /// One sentence: the operation, the path and the reason.
    package var description: String {
        var text = "Could not \(operation) at \(path): \(code.sentence)"
        if !detail.isEmpty { text += " (\(detail))" }
        if errno != 0 { text += " [\(SystemError.text(errno)), errno \(errno)]" }
        return text + "."
    }
}

extension LMDBError.Code {
    /// The fixed message of a code, without a full stop.
    package var sentence: String {
        switch self {
        case .mapFull: "the map is full and cannot grow"
        case .mapResized: "another process made the file larger than this process's map"
        case .readersFull: "every reader slot is in use"
        case .keyExists: "the key exists already or does not follow the last key"
        case .notFound: "it is not there"
        case .corrupted: "the file is damaged"
        case .panic: "an earlier commit failed half way, so the environment must be reopened"
        case .outcomeUnknown: "the commit failed while its meta page was written, so its outcome is unknown"
        case .badValueSize: "a key must have 1 to 511 bytes and a value less than 4 GiB"
        case .versionMismatch: "the lock file belongs to another version of LMDB"
        case .invalid: "the header of the data file contradicts itself"
        case .foreign: "the file is not an LMDB data file"
        case .missing: "there is no data file"
        case .empty: "the data file is empty"
        case .truncated: "the data file has been cut short"
        case .newerFormat: "the data file has a newer format"
        case .noSpaceOrIO: "the disk is full, a size limit was met or the device failed"
        case .permissionDenied: "permission was denied"
        case .busy: "a lock was not free, or transactions stayed open, until the timeout"
        default: rareSentence
        }
    }

    private var rareSentence: String {
        switch self {
        case .processIDInUse: "a process of another PID namespace with the same id has the store open"
        case .usedAfterFork: "the environment was opened before a fork; open it again in the child"
        case .networkFileSystem: "a network or user-space file system cannot hold a store safely"
        case .symbolicLink: "a symbolic link or special file stands where a plain one is needed"
        case .insecurePermissions: "a store is for one user alone"
        case .readOnly: "the environment is read-only"
        case .fileReplaced: "a file of the store was deleted or replaced while the store was open"
        case .transactionTooLarge: "the transaction touches too many pages"
        case .badTransaction: "the transaction failed earlier and can only be aborted"
        case .tablesFull: "there are more tables than the environment was opened for"
        case .incompatibleTable: "the table has flags that are not supported"
        case .alreadyExists: "a file exists already"
        case .conflictingOptions: "the store is open in this process with other options"
        case .unrestored: "the system has stopped since the store was written, and no writer has taken it back yet"
        case .closed: "the environment is closed"
        case .other(let number) where number > 0: "\(SystemError.text(number)) (error \(number) of the system)"
        case .other(let number): "unexpected code \(number)"
        default: "unexpected failure"
        }
    }
}
