import CLMDBBare
import Foundation

/// The physical limit of the design: the puts and gets Strata makes for the same movies, and nothing else.
///
/// For a movie one log record (72-byte header and the row image), one row (16-byte header and the image), two 21-byte
/// index keys, one 20-byte link key; for an owner a log record, a row and a counter. Keys of a commit are written in
/// key order. Same flags, same commits.
final class BareLMDB {
    struct Failure: Error {
        let code: Int32
    }

    private(set) var environment: OpaquePointer?
    private(set) var events: MDB_dbi = 0
    private(set) var objects: MDB_dbi = 0
    private(set) var indexes: MDB_dbi = 0
    private(set) var links: MDB_dbi = 0
    private(set) var counts: MDB_dbi = 0
    private(set) var tombstones: MDB_dbi = 0
    private var sequence: UInt64 = 0

    init(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Self.check(mdb_env_create(&environment))
        try Self.check(mdb_env_set_mapsize(environment, 64 << 30))
        try Self.check(mdb_env_set_maxdbs(environment, 8))
        try Self.check(mdb_env_open(environment, path, UInt32(MDB_NOTLS), 0o600))
        try write { transaction in
            for (name, table) in [
                ("events", \BareLMDB.events), ("objects", \.objects), ("indexes", \.indexes),
                ("links", \.links), ("counts", \.counts), ("tombstones", \.tombstones),
            ] {
                try Self.check(mdb_dbi_open(transaction, name, UInt32(MDB_CREATE), &self[keyPath: table]))
            }
        }
    }

    deinit { mdb_env_close(environment) }

    static func check(_ code: Int32) throws {
        if code != 0 { throw Failure(code: code) }
    }

    func write(_ body: (OpaquePointer?) throws -> Void) throws {
        var transaction: OpaquePointer?
        try Self.check(mdb_txn_begin(environment, nil, 0, &transaction))
        try body(transaction)
        try Self.check(mdb_txn_commit(transaction))
    }

    // MARK: Inserting

    static let movieImageSize = 48
    static let ownerImageSize = 32

    static func movieID(_ row: Int) -> UInt64 { 1 << 48 | UInt64(row) }
    static func ownerID(_ row: Int) -> UInt64 { 2 << 48 | UInt64(row) }

    func insertOwners(_ count: Int) throws {
        try write { transaction in
            for row in 0..<count {
                try append(transaction, size: 72 + Self.ownerImageSize)
                try put(transaction, objects, Self.ownerID(row), size: 16 + Self.ownerImageSize)
            }
        }
    }

    /// Inserts movies `first..<first + rows.count` in one durable commit; `owner` is that of all, where it is given.
    func insert(_ rows: [MovieRow], first: Int, owner: Int? = nil) throws {
        try write { transaction in
            var linkKeys: [(UInt64, UInt64)] = []
            linkKeys.reserveCapacity(rows.count)
            for (offset, row) in rows.enumerated() {
                let id = Self.movieID(first + offset)
                try append(transaction, size: 72 + Self.movieImageSize + row.title.utf8.count)
                try put(transaction, objects, id, size: 16 + Self.movieImageSize + row.title.utf8.count)
                linkKeys.append((Self.ownerID(owner ?? row.owner), id))
            }
            linkKeys.sort { $0 < $1 }
            try writeIndexes(transaction, Self.indexKeys(rows, first: first))
            try writeLinks(transaction, linkKeys)
        }
    }

    private func writeIndexes(_ transaction: OpaquePointer?, _ keys: [(UInt64, UInt64, UInt64)]) throws {
        try withUnsafeTemporaryAllocation(byteCount: 24, alignment: 8) { key in
            for (index, value, id) in keys {
                Self.writeIndexKey(index, value, id, into: key)
                try putEmpty(transaction, indexes, key, size: 21)
            }
        }
    }

    /// Two keys a movie, in their order.
    static func indexKeys(_ rows: [MovieRow], first: Int) -> [(UInt64, UInt64, UInt64)] {
        var keys: [(UInt64, UInt64, UInt64)] = []
        keys.reserveCapacity(rows.count * 2)
        for (offset, row) in rows.enumerated() {
            keys.append((1, UInt64(bitPattern: Int64(row.year)) ^ (1 << 63), movieID(first + offset)))
            keys.append((2, row.rating.bitPattern | (1 << 63), movieID(first + offset)))
        }
        keys.sort { ($0.0, $0.1, $0.2) < ($1.0, $1.1, $1.2) }
        return keys
    }

    /// 21 bytes.
    static func writeIndexKey(_ index: UInt64, _ value: UInt64, _ id: UInt64, into key: UnsafeMutableRawBufferPointer) {
        key.storeBytes(of: UInt32(index).bigEndian, as: UInt32.self)
        key.storeBytes(of: 1, toByteOffset: 4, as: UInt8.self)
        key.storeBytes(of: value.bigEndian, toByteOffset: 5, as: UInt64.self)
        key.storeBytes(of: id.bigEndian, toByteOffset: 13, as: UInt64.self)
    }

    /// Links in order, and for each owner its counter.
    private func writeLinks(_ transaction: OpaquePointer?, _ keys: [(UInt64, UInt64)]) throws {
        try withUnsafeTemporaryAllocation(byteCount: 24, alignment: 8) { key in
            key.storeBytes(of: UInt32(5).bigEndian, as: UInt32.self)
            var index = 0
            while index < keys.count {
                let owner = keys[index].0
                key.storeBytes(of: owner.bigEndian, toByteOffset: 4, as: UInt64.self)
                var added: UInt64 = 0
                while index < keys.count, keys[index].0 == owner {
                    key.storeBytes(of: keys[index].1.bigEndian, toByteOffset: 12, as: UInt64.self)
                    try putEmpty(transaction, links, key, size: 20)
                    added += 1
                    index += 1
                }
                var keyValue = MDB_val(mv_size: 12, mv_data: key.baseAddress)
                var value = MDB_val()
                if mdb_get(transaction, counts, &keyValue, &value) == 0 {
                    added += value.mv_data?.loadUnaligned(as: UInt64.self) ?? 0
                }
                try withUnsafeMutableBytes(of: &added) { bytes in
                    var new = MDB_val(mv_size: 8, mv_data: bytes.baseAddress)
                    try Self.check(mdb_put(transaction, counts, &keyValue, &new, 0))
                }
            }
        }
    }

    func append(_ transaction: OpaquePointer?, size: Int) throws {
        sequence += 1
        try put(transaction, events, sequence, size: size, flags: UInt32(MDB_APPEND))
    }

    func put(
        _ transaction: OpaquePointer?, _ table: MDB_dbi, _ key: UInt64, size: Int, flags: UInt32 = 0
    ) throws {
        var bytes = key.bigEndian
        try withUnsafeMutableBytes(of: &bytes) { keyBytes in
            var keyValue = MDB_val(mv_size: 8, mv_data: keyBytes.baseAddress)
            var value = MDB_val(mv_size: size, mv_data: nil)
            try Self.check(mdb_put(transaction, table, &keyValue, &value, flags | UInt32(MDB_RESERVE)))
            if let bytes = value.mv_data { memset(bytes, 7, size) }
        }
    }

    private func putEmpty(
        _ transaction: OpaquePointer?, _ table: MDB_dbi, _ key: UnsafeMutableRawBufferPointer, size: Int
    ) throws {
        var keyValue = MDB_val(mv_size: size, mv_data: key.baseAddress)
        var value = MDB_val(mv_size: 0, mv_data: key.baseAddress)
        try Self.check(mdb_put(transaction, table, &keyValue, &value, 0))
    }

    // MARK: Reading

    private var reader: OpaquePointer?

    /// One renewed read transaction an operation, as Strata's pool does.
    private func read<R>(_ body: (OpaquePointer?) throws -> R) throws -> R {
        if reader == nil {
            try Self.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &reader))
        } else {
            try Self.check(mdb_txn_renew(reader))
        }
        defer { mdb_txn_reset(reader) }
        return try body(reader)
    }

    /// Reads one byte of a row, so that the page is really there.
    func getMovie(_ row: Int) throws -> UInt8 {
        try read { try get($0, objects, Self.movieID(row)) }
    }

    private func get(_ transaction: OpaquePointer?, _ table: MDB_dbi, _ key: UInt64) throws -> UInt8 {
        var bytes = key.bigEndian
        return try withUnsafeMutableBytes(of: &bytes) { keyBytes in
            var keyValue = MDB_val(mv_size: 8, mv_data: keyBytes.baseAddress)
            var value = MDB_val()
            try Self.check(mdb_get(transaction, table, &keyValue, &value))
            return value.mv_data?.load(fromByteOffset: 20, as: UInt8.self) ?? 0
        }
    }

    /// The owner's links and each member's row.
    func getMovies(ofOwner row: Int) throws -> Int {
        try read { transaction in
            var cursor: OpaquePointer?
            try Self.check(mdb_cursor_open(transaction, links, &cursor))
            defer { mdb_cursor_close(cursor) }
            return try withUnsafeTemporaryAllocation(byteCount: 12, alignment: 8) { prefix in
                prefix.storeBytes(of: UInt32(5).bigEndian, as: UInt32.self)
                prefix.storeBytes(of: Self.ownerID(row).bigEndian, toByteOffset: 4, as: UInt64.self)
                var key = MDB_val(mv_size: 12, mv_data: prefix.baseAddress)
                var value = MDB_val()
                var result = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
                var count = 0
                while result == 0, key.mv_size == 20, let found = key.mv_data, let wanted = prefix.baseAddress,
                    memcmp(found, wanted, 12) == 0
                {
                    let id = UInt64(bigEndian: found.loadUnaligned(fromByteOffset: 12, as: UInt64.self))
                    _ = try get(transaction, objects, id)
                    count += 1
                    result = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
                }
                return count
            }
        }
    }
}
