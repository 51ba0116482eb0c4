import Foundation

/// Texts in SQLite with a table of FTS5 over them, which triggers keep, or without one.
final class SQLiteTexts {
    private let database: SQLiteDatabase
    private let add: SQLiteDatabase.Statement
    private var ranked, counted: SQLiteDatabase.Statement?

    init(path: String, listsWords: Bool) throws {
        database = try SQLiteDatabase(path: path)
        try database.run("CREATE TABLE text (id INTEGER PRIMARY KEY, title TEXT NOT NULL, plot TEXT NOT NULL)")
        add = try database.prepare("INSERT INTO text VALUES (NULL, ?, ?)")
        if listsWords {
            try makeTable()
            try database.run(
                """
                CREATE TRIGGER added AFTER INSERT ON text BEGIN
                    INSERT INTO words (rowid, title, plot) VALUES (new.id, new.title, new.plot);
                END
                """)
        }
    }

    private func makeTable() throws {
        try database.run("CREATE VIRTUAL TABLE words USING fts5(title, plot, content='text', content_rowid='id')")
        ranked = try database.prepare("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?")
        counted = try database.prepare("SELECT count(*) FROM words WHERE words MATCH ?")
    }

    func insert(_ texts: MadeTexts, _ range: Range<Int>) throws {
        try database.run("BEGIN IMMEDIATE")
        for number in range {
            add.bind(1, texts.titles[number])
            add.bind(2, texts.plots[number])
            try add.forEach { _ in }
        }
        try database.run("COMMIT")
    }

    /// Lists the words of the texts that are there.
    func listWords() throws {
        try database.run("BEGIN IMMEDIATE")
        try makeTable()
        try database.run("INSERT INTO words (words) VALUES ('rebuild')")
        try database.run("COMMIT")
    }

    func best(_ query: String, _ count: Int) throws -> [Int] {
        ranked?.bind(1, query)
        ranked?.bind(2, count)
        var numbers: [Int] = []
        try ranked?.forEach { numbers.append($0.integer(0)) }
        return numbers
    }

    func count(_ query: String) throws -> Int {
        counted?.bind(1, query)
        var count = 0
        try counted?.forEach { count = $0.integer(0) }
        return count
    }
}
