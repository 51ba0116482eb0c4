import Foundation

/// OO1 in SQLite: prepared statements, and an index on either end of connections.
final class SQLiteCatalog: CatalogPeer {
    private let path: String
    private var database: SQLiteDatabase
    private var lookup, forward, backward, insertPart, insertConnection: SQLiteDatabase.Statement
    private var sum = 0

    init(path: String, _ catalog: Catalog) throws {
        self.path = path
        database = try SQLiteDatabase(path: path)
        try database.run(
            """
            CREATE TABLE part (
                id INTEGER PRIMARY KEY, type TEXT NOT NULL, x INTEGER NOT NULL, y INTEGER NOT NULL, build REAL NOT NULL);
            CREATE TABLE connection (
                source INTEGER NOT NULL, target INTEGER NOT NULL, type TEXT NOT NULL, length INTEGER NOT NULL);
            CREATE INDEX connection_source ON connection (source, target);
            CREATE INDEX connection_target ON connection (target, source);
            """)
        (lookup, forward, backward, insertPart, insertConnection) = try Self.statements(database)
        try database.run("BEGIN")
        try write(catalog.parts)
        try database.run("COMMIT; ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)")
    }

    private typealias Statement = SQLiteDatabase.Statement

    private static func statements(
        _ database: SQLiteDatabase
    ) throws -> (Statement, Statement, Statement, Statement, Statement) {
        let columns = "SELECT p.id, p.x, p.y, p.type FROM"
        return (
            try database.prepare("\(columns) part p WHERE p.id = ?"),
            try database.prepare("\(columns) connection c JOIN part p ON p.id = c.target WHERE c.source = ?"),
            try database.prepare("\(columns) connection c JOIN part p ON p.id = c.source WHERE c.target = ?"),
            try database.prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?)"),
            try database.prepare("INSERT INTO connection VALUES (?, ?, ?, ?)")
        )
    }

    func reopen() throws {
        database = try SQLiteDatabase(path: path)
        (lookup, forward, backward, insertPart, insertConnection) = try Self.statements(database)
    }

    private func write(_ parts: [Catalog.Part]) throws {
        for part in parts {
            insertPart.bind(1, part.id)
            insertPart.bind(2, part.type)
            insertPart.bind(3, part.x)
            insertPart.bind(4, part.y)
            insertPart.bind(5, part.build.timeIntervalSinceReferenceDate)
            try insertPart.forEach { _ in }
            for place in part.targets.indices {
                insertConnection.bind(1, part.id)
                insertConnection.bind(2, part.targets[place])
                insertConnection.bind(3, part.types[place])
                insertConnection.bind(4, part.lengths[place])
                try insertConnection.forEach { _ in }
            }
        }
    }

    private func take(_ row: Statement) {
        sum &+= doNothing(row.integer(1), row.integer(2)) &+ row.textLength(3)
    }

    func look(up ids: [Int]) throws -> Int {
        var count = 0
        for id in ids {
            lookup.bind(1, id)
            try lookup.forEach { row in
                take(row)
                count += 1
            }
        }
        return count
    }

    func traverse(from id: Int, depth: Int, isReverse: Bool) throws -> Int {
        var count = try look(up: [id])
        try walk(id, depth, isReverse ? backward : forward, &count)
        return count
    }

    private func walk(_ id: Int, _ depth: Int, _ statement: Statement, _ count: inout Int) throws {
        guard depth > 0 else { return }
        var next: [Int] = []
        statement.bind(1, id)
        try statement.forEach { row in
            take(row)
            next.append(row.integer(0))
        }
        count += next.count
        for id in next { try walk(id, depth - 1, statement, &count) }
    }

    func insert(_ parts: [Catalog.Part]) throws {
        try database.run("BEGIN IMMEDIATE")
        try write(parts)
        try database.run("COMMIT")
    }

    func summary() throws -> [Int] {
        var found: [Int] = []
        for sql in [
            "SELECT count(*) FROM part", "SELECT count(*) FROM connection",
            "SELECT sum(id * 7 + x * 3 + y * 5) FROM part", "SELECT sum(length + source * 3 + target) FROM connection",
        ] { try database.prepare(sql).forEach { found.append($0.integer(0)) } }
        return found
    }
}
