import Foundation
import StrataCoreData
package import StrataModel
import StrataXcode

/// Writes a file as Core Data does, from a model and SQL for the rows.
package struct CoreDataFixture {
    package var entities: [EntityDescription]
    /// Columns by table, without those that every table has.
    package var tables: [(name: String, columns: String)]
    package var joins: [String] = []
    package var rows: [String] = []
    /// Whether the model is in the file.
    package var hasModel = true
    package var identifier = "7D6B1E2C-0000-4000-8000-00000000C0DE"
    /// Core Data's, by entity.
    package var versionHashes: [String: [UInt8]] = [:]

    package init(
        entities: [EntityDescription], tables: [(name: String, columns: String)], joins: [String] = [],
        rows: [String] = []
    ) {
        self.entities = entities
        self.tables = tables
        self.joins = joins
        self.rows = rows
    }

    /// Writes the file.
    ///
    /// - Parameter inLog: statements that stay in the log of changes beside the file.
    package func write(to path: String, inLog: [String] = []) throws {
        let database = try WritableDatabase(path)
        try database.run("PRAGMA journal_mode = \(inLog.isEmpty ? "DELETE" : "WAL")")
        try database.run(
            "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)")
        try database.run("CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)")
        try database.run("INSERT INTO Z_METADATA VALUES (1, '\(identifier)', \(facts))")
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
            let bytes = ModelArchiver.packed(try Self.model(entities))
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

    /// A property list with the version hashes, as a literal of SQL.
    private var facts: String {
        guard !versionHashes.isEmpty else { return "NULL" }
        let hashes = versionHashes.map { ($0.key, KeyedArchiveWriter.Value.data($0.value)) }
        return Self.literal(
            KeyedArchiveWriter.propertyList(.dictionary([("NSStoreModelVersionHashes", .dictionary(hashes))])))
    }

    /// The archived model, unpacked.
    package static func model(_ entities: [EntityDescription]) throws -> [UInt8] {
        var archiver = ModelArchiver(try ManagedObjectModel(entities: entities))
        return archiver.write()
    }

    /// The statements that put a packed model into a file.
    package static func cache(_ packed: [UInt8]) -> [String] {
        [
            "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
            "INSERT INTO Z_MODELCACHE VALUES (\(literal(packed)))",
        ]
    }

    package static func literal(_ bytes: some Sequence<UInt8>) -> String {
        "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
    }
}
