import Foundation
import StrataModel

@testable import StrataCoreData

/// Writes a file as Core Data does, from a model and SQL for the rows.
struct CoreDataFixture {
    var entities: [EntityDescription]
    /// Columns by table, without those that every table has.
    var tables: [(name: String, columns: String)]
    var joins: [String] = []
    var rows: [String] = []
    /// Whether the model is in the file.
    var hasModel = true
    var identifier = "7D6B1E2C-0000-4000-8000-00000000C0DE"

    /// Writes the file.
    ///
    /// - Parameter inLog: statements that stay in the log of changes beside the file.
    func write(to path: String, inLog: [String] = []) throws {
        let database = try WritableDatabase(path)
        try database.run("PRAGMA journal_mode = \(inLog.isEmpty ? "DELETE" : "WAL")")
        try database.run(
            "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)")
        try database.run("CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)")
        try database.run("INSERT INTO Z_METADATA VALUES (1, '\(identifier)', NULL)")
        let names = entities.map(\.name)
        for (index, entity) in entities.enumerated() {
            let parent = entity.superentityName.flatMap { names.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
            try database.run("INSERT INTO Z_PRIMARYKEY VALUES (\(index + 1), '\(entity.name)', \(parent), 0)")
        }
        for table in tables {
            try database.run(
                "CREATE TABLE \(table.name) (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, \(table.columns))")
        }
        for join in joins { try database.run(join) }
        if hasModel {
            try database.run("CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)")
            let bytes = ModelArchive.packed(ModelArchive.bytes(entities))
            try database.run("INSERT INTO Z_MODELCACHE VALUES (\(Self.literal(bytes)))")
        }
        try database.run("BEGIN")
        for row in rows { try database.run(row) }
        try database.run("COMMIT")
        guard !inLog.isEmpty else { return }
        try database.run("PRAGMA wal_checkpoint(TRUNCATE)")
        for statement in inLog { try database.run(statement) }
        // A connection that closes would take the log in; so the files are copied while it is open.
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: path + ".copy" + suffix)
        }
        database.close()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        for suffix in ["", "-wal"] {
            try FileManager.default.moveItem(atPath: path + ".copy" + suffix, toPath: path + suffix)
        }
    }

    static func literal(_ bytes: some Sequence<UInt8>) -> String {
        "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
    }
}

/// A database of SQLite for writing.
final class WritableDatabase {
    private let library: SQLiteLibrary
    private var handle: OpaquePointer?

    init(_ path: String) throws {
        library = try SQLiteLibrary.shared.get()
        // SQLITE_OPEN_READWRITE and SQLITE_OPEN_CREATE
        guard library.open(path, &handle, 0x6, nil) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    deinit { close() }

    func close() {
        _ = library.close(handle)
        handle = nil
    }

    func run(_ text: String) throws {
        var statement: OpaquePointer?
        guard library.prepare(handle, text, -1, &statement, nil) == 0, let statement else { throw failure(text) }
        defer { _ = library.finalize(statement) }
        while true {
            switch library.step(statement) {
            case 100: continue
            case 101: return
            default: throw failure(text)
            }
        }
    }

    private func failure(_ text: String) -> CocoaError {
        let reason = library.message(handle).map { String(cString: $0) } ?? ""
        return CocoaError(.fileWriteUnknown, userInfo: [NSLocalizedDescriptionKey: "\(reason): \(text)"])
    }
}

/// A directory that is removed at the end of the test.
final class ImportFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "strata-coredata-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var file: String { url.appending(path: "Library.sqlite").path }
    var store: URL { url.appending(path: "Library.strata", directoryHint: .isDirectory) }
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }
}
