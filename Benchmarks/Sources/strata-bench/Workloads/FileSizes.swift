import ArgumentParser
import CLMDBBare
import Foundation

/// The sizes of the files, with the log and the views apart, beside SQLite's file and the bytes of the values.
enum FileSizes {
    static func measure(_ moment: String, _ stores: MovieStores, _ bench: Bench) throws {
        guard bench.filter.isEmpty || "file".contains(bench.filter) else { return }
        try stores.sqlite?.checkpoint()
        let strata = stores.strata.url
        let own: [String: Int] = try ChildProgram.run(["table-sizes", strata.path(percentEncoded: false)])
        let isLog = Set(["events", "transactions"])
        bench.add(
            FileSize(
                moment: moment, what: Peer.strata.rawValue, bytes: strata.allocatedBytes,
                logBytes: own.filter { isLog.contains($0.key) }.values.reduce(0, +),
                viewBytes: own.filter { !isLog.contains($0.key) }.values.reduce(0, +)))
        if let lmdb = stores.lmdb {
            let tables: [String: Int] = try ChildProgram.run(["table-sizes", lmdb.path])
            bench.add(
                FileSize(
                    moment: moment, what: Peer.lmdb.rawValue, bytes: URL(filePath: lmdb.path).allocatedBytes,
                    logBytes: tables.filter { isLog.contains($0.key) }.values.reduce(0, +),
                    viewBytes: tables.filter { !isLog.contains($0.key) }.values.reduce(0, +)))
        }
        if let sqlite = stores.sqlite {
            bench.add(
                FileSize(
                    moment: moment, what: Peer.sqlite.rawValue, bytes: URL(filePath: sqlite.path).allocatedBytes))
        }
        bench.add(FileSize(moment: moment, what: "the values themselves", bytes: stores.valueBytes))
    }
}

extension URL {
    /// The size of the file or folder on disk, in bytes.
    ///
    /// By `stat`, since Foundation for Linux multiplies blocks of 512 bytes by the file system's block size.
    var allocatedBytes: Int {
        let inside = FileManager.default.enumerator(at: self, includingPropertiesForKeys: nil)
        return ([self] + (inside?.compactMap { $0 as? URL } ?? [])).reduce(0) { sum, file in
            var status = stat()
            return lstat(file.path(percentEncoded: false), &status) == 0 ? sum + Int(status.st_blocks) * 512 : sum
        }
    }
}

/// `strata-bench table-sizes PATH`: the bytes of each table of an LMDB environment, by pages.
///
/// A process of its own, since LMDB must not open an environment twice in one.
struct TableSizesProgram: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "table-sizes", shouldDisplay: false)

    @Argument var path: String

    func run() throws { try ChildProgram.answer(Self.sizes(path)) }

    private static func sizes(_ path: String) throws -> [String: Int] {
        var environment: OpaquePointer?
        try BareLMDB.check(mdb_env_create(&environment))
        defer { mdb_env_close(environment) }
        try BareLMDB.check(mdb_env_set_maxdbs(environment, 32))
        // With the lock file, since Strata may still tidy its buffers, and must not reuse pages that are read here.
        try BareLMDB.check(mdb_env_open(environment, path, UInt32(MDB_RDONLY), 0o600))
        var transaction: OpaquePointer?
        try BareLMDB.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
        defer { mdb_txn_abort(transaction) }
        var main: MDB_dbi = 0
        try BareLMDB.check(mdb_dbi_open(transaction, nil, 0, &main))
        var sizes: [String: Int] = [:]
        for name in try names(transaction, main) {
            var table: MDB_dbi = 0
            var statistics = MDB_stat()
            try BareLMDB.check(mdb_dbi_open(transaction, name, 0, &table))
            try BareLMDB.check(mdb_stat(transaction, table, &statistics))
            let pages = statistics.ms_branch_pages + statistics.ms_leaf_pages + statistics.ms_overflow_pages
            sizes[name] = Int(pages) * Int(statistics.ms_psize)
        }
        return sizes
    }

    private static func names(_ transaction: OpaquePointer?, _ main: MDB_dbi) throws -> [String] {
        var cursor: OpaquePointer?
        try BareLMDB.check(mdb_cursor_open(transaction, main, &cursor))
        defer { mdb_cursor_close(cursor) }
        var (key, value) = (MDB_val(), MDB_val())
        var names: [String] = []
        var result = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
        while result == 0 {
            names.append(
                String(decoding: UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size), as: UTF8.self))
            result = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
        }
        return names
    }
}
