import CLMDBBare
import Foundation

/// Movies in bare LMDB: the puts and gets that Strata makes for the same movies, and nothing else.
///
/// For a movie one log record (72-byte header and the row image), one row (16-byte header and the image), three index
/// keys, one 20-byte link key; for an owner a log record, a row, an index key; for each owner that gets movies a
/// counter, and for each commit the record of the transaction, its id, the entity's counter and the head. Keys of a
/// commit are written in key order. The values are the movies' own, so that answers can be compared.
final class BareLMDB: MovieStore {
    struct Failure: Error {
        let code: Int32
    }

    let peer = Peer.lmdb
    let path: String
    private(set) var environment: OpaquePointer?
    private(set) var events: MDB_dbi = 0
    private(set) var objects: MDB_dbi = 0
    private(set) var indexes: MDB_dbi = 0
    private(set) var links: MDB_dbi = 0
    private(set) var counts: MDB_dbi = 0
    private(set) var tombstones: MDB_dbi = 0
    private(set) var transactions: MDB_dbi = 0
    private(set) var transactionIDs: MDB_dbi = 0
    private(set) var meta: MDB_dbi = 0
    private var eventNumber: UInt64 = 0
    private var commits: UInt64 = 0
    private var reader: OpaquePointer?

    init(path: String) throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Self.check(mdb_env_create(&environment))
        try Self.check(mdb_env_set_mapsize(environment, 64 << 30))
        try Self.check(mdb_env_set_maxdbs(environment, 12))
        try Self.check(mdb_env_open(environment, path, UInt32(MDB_NOTLS), 0o600))
        var transaction: OpaquePointer?
        try Self.check(mdb_txn_begin(environment, nil, 0, &transaction))
        for (name, table) in [
            ("events", \BareLMDB.events), ("objects", \.objects), ("indexes", \.indexes), ("links", \.links),
            ("counts", \.counts), ("tombstones", \.tombstones), ("transactions", \.transactions),
            ("transactionIDs", \.transactionIDs), ("meta", \.meta),
        ] {
            try Self.check(mdb_dbi_open(transaction, name, UInt32(MDB_CREATE), &self[keyPath: table]))
        }
        try Self.check(mdb_txn_commit(transaction))
    }

    deinit { mdb_env_close(environment) }

    static func check(_ code: Int32) throws {
        if code != 0 { throw Failure(code: code) }
    }

    /// One durable commit.
    func write(_ body: (OpaquePointer?) throws -> Void) throws {
        var transaction: OpaquePointer?
        try Self.check(mdb_txn_begin(environment, nil, 0, &transaction))
        do {
            try body(transaction)
            try describeCommit(transaction)
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        try Self.check(mdb_txn_commit(transaction))
    }

    /// Writes what each of Strata's commits has beside the changes.
    private func describeCommit(_ transaction: OpaquePointer?) throws {
        commits += 1
        try put(transaction, transactions, commits, size: 128, flags: UInt32(MDB_APPEND))
        // Ascending with time, as Strata's are.
        var id = (commits.bigEndian, UInt64.random(in: 0 ... .max))
        try withUnsafeMutableBytes(of: &id) { try put(transaction, transactionIDs, $0, size: 8) }
        try put(transaction, counts, 1, size: 8)
        try put(transaction, meta, 1, size: 96)
    }

    /// Renews one read transaction for each operation, as Strata's pool does.
    func read<R>(_ body: (OpaquePointer?) throws -> R) throws -> R {
        if reader == nil {
            try Self.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &reader))
        } else {
            try Self.check(mdb_txn_renew(reader))
        }
        defer { mdb_txn_reset(reader) }
        return try body(reader)
    }

    // MARK: Records

    func append(_ transaction: OpaquePointer?, size: Int, _ fill: (UnsafeMutableRawPointer) -> Void = { _ in }) throws {
        eventNumber += 1
        try put(transaction, events, eventNumber, size: size, flags: UInt32(MDB_APPEND), fill)
    }

    func put(
        _ transaction: OpaquePointer?, _ table: MDB_dbi, _ key: UInt64, size: Int, flags: UInt32 = 0,
        _ fill: (UnsafeMutableRawPointer) -> Void = { _ in }
    ) throws {
        var bytes = key.bigEndian
        try withUnsafeMutableBytes(of: &bytes) {
            try put(transaction, table, $0, size: size, flags: flags, fill)
        }
    }

    func put(
        _ transaction: OpaquePointer?, _ table: MDB_dbi, _ key: UnsafeMutableRawBufferPointer, size: Int,
        flags: UInt32 = 0, _ fill: (UnsafeMutableRawPointer) -> Void = { _ in }
    ) throws {
        var keyValue = MDB_val(mv_size: key.count, mv_data: key.baseAddress)
        var value = MDB_val(mv_size: size, mv_data: nil)
        try Self.check(mdb_put(transaction, table, &keyValue, &value, flags | UInt32(MDB_RESERVE)))
        if let bytes = value.mv_data {
            memset(bytes, 7, size)
            fill(bytes)
        }
    }

    func putEmpty(_ transaction: OpaquePointer?, _ table: MDB_dbi, _ key: UnsafeMutableRawBufferPointer) throws {
        var keyValue = MDB_val(mv_size: key.count, mv_data: key.baseAddress)
        var value = MDB_val(mv_size: 0, mv_data: key.baseAddress)
        try Self.check(mdb_put(transaction, table, &keyValue, &value, 0))
    }

    /// Fails if there is nothing to delete.
    func delete(_ transaction: OpaquePointer?, _ table: MDB_dbi, _ key: UnsafeMutableRawBufferPointer) throws {
        var keyValue = MDB_val(mv_size: key.count, mv_data: key.baseAddress)
        try Self.check(mdb_del(transaction, table, &keyValue, nil))
    }

    func delete(_ transaction: OpaquePointer?, _ table: MDB_dbi, _ key: UInt64) throws {
        var bytes = key.bigEndian
        try withUnsafeMutableBytes(of: &bytes) { try delete(transaction, table, $0) }
    }
}
