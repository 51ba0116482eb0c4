#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB

/// Translates error numbers of LMDB and of the operating system into `LMDBError`s.
enum SystemError {
    /// The operating system's text for an error number.
    static func text(_ number: Int32) -> String {
        String(cString: strerror(number))
    }

    /// The code for a result of an LMDB function; positive results are errno values.
    static func code(_ result: Int32) -> LMDBError.Code {
        switch result {
        case MDB_MAP_FULL: .mapFull
        case MDB_MAP_RESIZED: .mapResized
        case MDB_READERS_FULL: .readersFull
        case MDB_KEYEXIST: .keyExists
        case MDB_NOTFOUND, MDB_BAD_DBI: .notFound
        case assertionFailed, MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_CURSOR_FULL, MDB_PAGE_FULL: .corrupted
        case MDB_PANIC: .panic
        case MDB_BAD_VALSIZE: .badValueSize
        case MDB_VERSION_MISMATCH: .versionMismatch
        case MDB_INVALID: .invalid
        case MDB_TXN_FULL: .transactionTooLarge
        case MDB_BAD_TXN, MDB_BAD_RSLOT: .badTransaction
        case MDB_DBS_FULL: .tablesFull
        case MDB_INCOMPATIBLE: .incompatibleTable
        default: errnoCode(result)
        }
    }

    private static func errnoCode(_ number: Int32) -> LMDBError.Code {
        switch number {
        case ENOSPC, EIO, EFBIG, EDQUOT: .noSpaceOrIO
        case EACCES, EPERM, EROFS: .permissionDenied
        case ENOENT: .missing
        case EEXIST: .alreadyExists
        case ELOOP, ENOTDIR: .symbolicLink
        default: .other(number)
        }
    }

    /// The result of a call that an assertion of LMDB has ended.
    static let assertionFailed = Int32(CLMDB_ASSERTION_FAILED)

    /// The error for a result of an LMDB function.
    @inline(never)
    static func lmdb(_ result: Int32, _ operation: String, _ path: String, detail: String = "") -> LMDBError {
        let failed = result == assertionFailed ? String(cString: clmdb_failed_assertion()) : detail
        return LMDBError(
            code(result), operation: operation, path: path, errno: result > 0 ? result : 0, detail: failed)
    }

    /// The error for the current value of `errno`.
    @inline(never)
    static func current(_ operation: String, _ path: String, detail: String = "") -> LMDBError {
        lmdb(errno, operation, path, detail: detail)
    }
}
