import CSQLite
import Foundation

/// SQLite by its C API, set up for speed and safe commits: write-ahead log, full sync, the file mapped, a large cache.
final class SQLiteDatabase {
    private var handle: OpaquePointer?

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init(path: String) throws {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        try check(sqlite3_open_v2(path, &handle, flags, nil), "open")
        for pragma in [
            "journal_mode = WAL", "synchronous = FULL", "mmap_size = 4294967296", "cache_size = -262144",
        ] { try run("PRAGMA \(pragma)") }
    }

    deinit { sqlite3_close_v2(handle) }

    func run(_ sql: String) throws {
        try check(sqlite3_exec(handle, sql, nil, nil, nil), sql)
    }

    func prepare(_ sql: String) throws -> Statement { try Statement(self, sql) }

    fileprivate func check(_ code: Int32, _ what: String) throws {
        guard code != SQLITE_OK, code != SQLITE_ROW, code != SQLITE_DONE else { return }
        throw Failure(description: "SQLite: \(String(cString: sqlite3_errmsg(handle))) in \(what)")
    }

    /// A prepared statement, used many times.
    final class Statement {
        private let database: SQLiteDatabase
        private var handle: OpaquePointer?
        private let sql: String
        private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

        fileprivate init(_ database: SQLiteDatabase, _ sql: String) throws {
            self.database = database
            self.sql = sql
            try database.check(
                sqlite3_prepare_v3(database.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil), sql)
        }

        deinit { sqlite3_finalize(handle) }

        func bind(_ index: Int32, _ value: Int) { sqlite3_bind_int64(handle, index, Int64(value)) }
        func bind(_ index: Int32, _ value: Double) { sqlite3_bind_double(handle, index, value) }
        func bind(_ index: Int32, _ value: String) {
            sqlite3_bind_text(handle, index, value, Int32(value.utf8.count), Self.transient)
        }

        /// Calls `row` for each row, and resets the statement.
        func forEach(_ row: (Statement) -> Void) throws {
            var code = sqlite3_step(handle)
            while code == SQLITE_ROW {
                row(self)
                code = sqlite3_step(handle)
            }
            try database.check(code, sql)
            sqlite3_reset(handle)
        }

        func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }
        func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
        /// The length of a text in bytes; SQLite has loaded it then.
        func textLength(_ column: Int32) -> Int {
            _ = sqlite3_column_text(handle, column)
            return Int(sqlite3_column_bytes(handle, column))
        }
        /// The bytes of a text, in SQLite's memory.
        func withText<Result>(_ column: Int32, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
            let start = sqlite3_column_text(handle, column)
            return body(UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
        }
        func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

        func text(_ column: Int32) -> String { withText(column) { String(decoding: $0, as: UTF8.self) } }
    }
}
