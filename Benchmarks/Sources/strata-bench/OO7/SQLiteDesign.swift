import Foundation

/// OO7 in SQLite: prepared statements, and an index for every step.
final class SQLiteDesign: DesignPeer {
    private let path: String
    private let design: Design
    private var database: SQLiteDatabase
    private var statements: [String: SQLiteDatabase.Statement] = [:]
    private var sum = 0
    /// The last visit of a composite part that met a part, by the part's id.
    private var visited: [Int]
    private var visit = 0

    init(path: String, _ design: Design) throws {
        self.path = path
        self.design = design
        visited = Array(repeating: 0, count: design.partCount + 1 + 20 * design.size.atomicPartsPerComposite)
        database = try SQLiteDatabase(path: path)
        try database.run(Self.schema)
        try database.run("BEGIN")
        for composite in design.composites { try insert(composite) }
        try insertAssemblies()
        try database.run("COMMIT; ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)")
    }

    private static let schema = """
        CREATE TABLE atomic (
            id INTEGER PRIMARY KEY, composite INTEGER NOT NULL, type TEXT NOT NULL, buildDate INTEGER NOT NULL,
            x INTEGER NOT NULL, y INTEGER NOT NULL, docId INTEGER NOT NULL);
        CREATE INDEX atomic_date ON atomic (buildDate);
        CREATE INDEX atomic_composite ON atomic (composite);
        CREATE TABLE connection (
            source INTEGER NOT NULL, target INTEGER NOT NULL, type TEXT NOT NULL, length INTEGER NOT NULL);
        CREATE INDEX connection_source ON connection (source, target);
        CREATE INDEX connection_target ON connection (target);
        CREATE TABLE composite (
            id INTEGER PRIMARY KEY, type TEXT NOT NULL, buildDate INTEGER NOT NULL, root INTEGER NOT NULL);
        CREATE TABLE document (id INTEGER PRIMARY KEY, title TEXT NOT NULL, text TEXT NOT NULL);
        CREATE INDEX document_title ON document (title);
        CREATE TABLE assembly (
            id INTEGER PRIMARY KEY, type TEXT NOT NULL, buildDate INTEGER NOT NULL, parent INTEGER,
            isBase INTEGER NOT NULL);
        CREATE INDEX assembly_parent ON assembly (parent, isBase);
        CREATE TABLE private (base INTEGER, composite INTEGER, PRIMARY KEY (base, composite)) WITHOUT ROWID;
        CREATE INDEX private_composite ON private (composite, base);
        CREATE TABLE shared (base INTEGER, composite INTEGER, PRIMARY KEY (base, composite)) WITHOUT ROWID;
        CREATE INDEX shared_composite ON shared (composite, base);
        CREATE TABLE module (id INTEGER PRIMARY KEY, root INTEGER NOT NULL, manual TEXT NOT NULL);
        """

    func reopen() throws {
        statements = [:]
        database = try SQLiteDatabase(path: path)
    }

    // MARK: Statements

    private func statement(_ sql: String) throws -> SQLiteDatabase.Statement {
        if let known = statements[sql] { return known }
        let made = try database.prepare(sql)
        statements[sql] = made
        return made
    }

    private func write(_ sql: String, _ values: Any...) throws {
        let statement = try statement(sql)
        for (place, value) in values.enumerated() {
            switch value {
            case let value as Int: statement.bind(Int32(place + 1), value)
            case let value as String: statement.bind(Int32(place + 1), value)
            default: throw SQLiteDatabase.Failure(description: "No such value: \(value)")
            }
        }
        try statement.forEach { _ in }
    }

    private func insert(_ composite: DesignComposite) throws {
        for part in composite.parts {
            try write(
                "INSERT INTO atomic VALUES (?, ?, ?, ?, ?, ?, ?)", part.id, composite.id, part.type, part.date, part.x,
                part.y, part.document)
        }
        for edge in composite.edges {
            try write(
                "INSERT INTO connection VALUES (?, ?, ?, ?)", composite.parts[edge.from].id,
                composite.parts[edge.to].id,
                edge.type, edge.length)
        }
        try write(
            "INSERT INTO composite VALUES (?, ?, ?, ?)", composite.id, composite.type, composite.date,
            composite.parts[0].id)
        try write("INSERT INTO document VALUES (?, ?, ?)", composite.id, composite.title, composite.text)
    }

    private func insertAssemblies() throws {
        for assembly in design.assemblies {
            let parent = assembly.parent.map { design.assemblies[$0].id } ?? 0
            try write(
                "INSERT INTO assembly VALUES (?, ?, ?, ?, ?)", assembly.id, assembly.type, assembly.date, parent,
                assembly.isBase ? 1 : 0)
            for id in assembly.priv { try write("INSERT INTO private VALUES (?, ?)", assembly.id, id) }
            for id in assembly.shared { try write("INSERT INTO shared VALUES (?, ?)", assembly.id, id) }
        }
        try write("INSERT INTO module VALUES (1, ?, ?)", design.assemblies[0].id, design.manual)
    }

    private func integers(_ sql: String, _ value: Int) throws -> [Int] {
        let statement = try statement(sql)
        statement.bind(1, value)
        var found: [Int] = []
        try statement.forEach { found.append($0.integer(0)) }
        return found
    }

    private func number(_ sql: String) throws -> Int {
        var found = 0
        try statement(sql).forEach { found = $0.integer(0) }
        return found
    }

    // MARK: Operations

    func run(_ operation: DesignOperation) throws -> Int {
        if let updates = operation.updates {
            return try writing {
                try traverse(rootOnly: updates.rootOnly) { part in
                    for _ in 0..<updates.perVisit {
                        try write(updates.ofDate ? Self.toggle : Self.swap, part)
                    }
                    return updates.perVisit
                }
            }
        }
        switch operation {
        case .t1: return try traverse(rootOnly: false, visitPart)
        case .t6: return try traverse(rootOnly: true, visitPart)
        case .t5: return try texts()
        case .t8: return try manual { text in text.count { $0 == UInt8(ascii: "I") } }
        case .t9: return try manual { text in text.first == text.last ? 1 : 0 }
        case .insert: return try insertions()
        case .delete: return try deletions()
        default: return try query(operation)
        }
    }

    private static let swap = "UPDATE atomic SET x = y, y = x WHERE id = ?"
    private static let toggle =
        "UPDATE atomic SET buildDate = buildDate + CASE WHEN buildDate % 2 = 0 THEN -1 ELSE 1 END WHERE id = ?"

    private func writing<Result>(_ body: () throws -> Result) throws -> Result {
        try database.run("BEGIN IMMEDIATE")
        let result = try body()
        try database.run("COMMIT")
        return result
    }

    private func visitPart(_ part: Int) throws -> Int {
        let statement = try statement("SELECT x, y FROM atomic WHERE id = ?")
        statement.bind(1, part)
        var (x, y) = (0, 0)
        try statement.forEach { row in (x, y) = (row.integer(0), row.integer(1)) }
        sum &+= doNothing(x, y)
        return 1
    }

    private func composites(_ body: (Int) throws -> Void) throws {
        var waiting = try integers("SELECT root FROM module WHERE id = ?", 1).map { ($0, false) }
        while let (assembly, isBase) = waiting.popLast() {
            if isBase {
                for composite in try integers("SELECT composite FROM private WHERE base = ?", assembly) {
                    try body(composite)
                }
            } else {
                let statement = try statement("SELECT id, isBase FROM assembly WHERE parent = ?")
                statement.bind(1, assembly)
                try statement.forEach { waiting.append(($0.integer(0), $0.integer(1) == 1)) }
            }
        }
    }

    private func traverse(rootOnly: Bool, _ body: (Int) throws -> Int) throws -> Int {
        var count = 0
        try composites { composite in
            guard let root = try integers("SELECT root FROM composite WHERE id = ?", composite).first else { return }
            visit += 1
            if rootOnly { count += try body(root) } else { try walk(root, &count, body) }
        }
        return count
    }

    private func walk(_ part: Int, _ count: inout Int, _ body: (Int) throws -> Int) throws {
        guard visited[part] != visit else { return }
        visited[part] = visit
        count += try body(part)
        for next in try integers("SELECT target FROM connection WHERE source = ?", part) {
            try walk(next, &count, body)
        }
    }

    private func texts() throws -> Int {
        try writing {
            var count = 0
            for (old, new) in [("I am", "This is"), ("This is", "I am")] {
                try composites { composite in
                    let statement = try statement("SELECT text FROM document WHERE id = ?")
                    statement.bind(1, composite)
                    var text = ""
                    try statement.forEach { text = $0.text(0) }
                    guard text.hasPrefix(old) else { return }
                    try write("UPDATE document SET text = ? WHERE id = ?", new + text.dropFirst(old.count), composite)
                    count += 1
                }
            }
            return count
        }
    }

    private func manual(_ body: (UnsafeBufferPointer<UInt8>) -> Int) throws -> Int {
        var result = 0
        try statement("SELECT manual FROM module WHERE id = 1").forEach { row in
            var text = row.text(0)
            result = text.withUTF8(body)
        }
        return result
    }

    private func query(_ operation: DesignOperation) throws -> Int {
        switch operation {
        case .q1: return try DesignOperation.parts(design).reduce(0) { try $0 + visitPart($1) }
        case .q2: return try parts(from: 1990)
        case .q3: return try parts(from: 1900)
        case .q7: return try parts(from: 0)
        case .q4: return try titles()
        case .q5: return try number("SELECT count(*) FROM (\(Self.outdated))")
        case .q6:
            return try number(
                """
                WITH RECURSIVE found (id) AS (
                    \(Self.outdated) UNION
                    SELECT a.parent FROM found JOIN assembly a ON a.id = found.id WHERE a.parent <> 0)
                SELECT count(*) FROM found
                """)
        case .q8: return try number("SELECT count(*) FROM atomic a JOIN document d ON d.id = a.docId")
        default: return 0
        }
    }

    private static let outdated = """
        SELECT p.base AS id FROM private p JOIN composite c ON c.id = p.composite JOIN assembly b ON b.id = p.base
        WHERE c.buildDate > b.buildDate UNION
        SELECT s.base FROM shared s JOIN composite c ON c.id = s.composite JOIN assembly b ON b.id = s.base
        WHERE c.buildDate > b.buildDate
        """

    private func parts(from date: Int) throws -> Int {
        let condition = date == 0 ? "" : " WHERE buildDate >= ?"
        let statement = try statement("SELECT id, x, y, buildDate FROM atomic\(condition)")
        if date != 0 { statement.bind(1, date) }
        var count = 0
        try statement.forEach { row in
            sum &+= doNothing(row.integer(1), row.integer(2))
            count += 1
        }
        return count
    }

    private func titles() throws -> Int {
        let statement = try statement(
            """
            SELECT b.id, b.buildDate FROM document d JOIN private u ON u.composite = d.id JOIN assembly b ON b.id = u.base
            WHERE d.title = ?1 UNION ALL
            SELECT b.id, b.buildDate FROM document d JOIN shared u ON u.composite = d.id JOIN assembly b ON b.id = u.base
            WHERE d.title = ?1
            """)
        var count = 0
        for id in DesignOperation.titles(design) {
            statement.bind(1, design.composites[id - 1].title)
            try statement.forEach { row in
                sum &+= doNothing(row.integer(0), row.integer(1))
                count += 1
            }
        }
        return count
    }

    // MARK: Structural changes

    private func insertions() throws -> Int {
        try writing {
            let new = DesignOperation.insertions(design)
            for (composite, base) in new {
                try insert(composite)
                try write("INSERT INTO private VALUES (?, ?)", base.id, composite.id)
            }
            return new.count
        }
    }

    private func deletions() throws -> Int {
        try writing {
            let ids = try integers("SELECT id FROM composite WHERE id > ?", design.composites.count)
            for id in ids {
                for part in try integers("SELECT id FROM atomic WHERE composite = ?", id) {
                    try write("DELETE FROM connection WHERE source = ?", part)
                    try write("DELETE FROM connection WHERE target = ?", part)
                    try write("DELETE FROM atomic WHERE id = ?", part)
                }
                try write("DELETE FROM document WHERE id = ?", id)
                try write("DELETE FROM private WHERE composite = ?", id)
                try write("DELETE FROM shared WHERE composite = ?", id)
                try write("DELETE FROM composite WHERE id = ?", id)
            }
            return ids.count
        }
    }

    func summary() throws -> [Int] {
        try [
            number("SELECT sum(id * 7 + x * 3 + y * 5 + buildDate * 11) FROM atomic"),
            number("SELECT count(*) FROM atomic"), number("SELECT count(*) FROM connection"),
            number("SELECT count(*) FROM composite"), number("SELECT count(*) FROM document"),
            number("SELECT count(*) FROM private") + number("SELECT count(*) FROM shared"),
            number("SELECT sum(length(text)) FROM document"),
        ]
    }
}
