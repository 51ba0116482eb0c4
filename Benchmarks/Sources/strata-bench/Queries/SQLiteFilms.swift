import Foundation

/// The films in SQLite: the same rows and indexes, and a statement for each query.
///
/// `CONTAINS[cd]` is `LIKE` over a column that holds the folded title, which an app would have to fill itself. A
/// folding function registered with SQLite would do the same work as Strata does for each row and be slower than that;
/// the column is SQLite used well.
final class SQLiteFilms {
    private let database: SQLiteDatabase
    private var statements: [FilmQuery: SQLiteDatabase.Statement] = [:]

    init(path: String, _ rows: FilmRows) throws {
        database = try SQLiteDatabase(path: path)
        try database.run(
            """
            CREATE TABLE director (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE film (
                id INTEGER PRIMARY KEY, title TEXT NOT NULL, folded TEXT NOT NULL, year INTEGER NOT NULL,
                rating REAL NOT NULL, votes INTEGER NOT NULL, director INTEGER NOT NULL REFERENCES director (id));
            CREATE INDEX director_name ON director (name);
            CREATE INDEX film_title ON film (title);
            CREATE INDEX film_year ON film (year);
            CREATE INDEX film_rating ON film (rating);
            CREATE INDEX film_director ON film (director);
            """)
        try fill(rows)
        for query in FilmQuery.allCases { statements[query] = try database.prepare(Self.sql(query)) }
    }

    private func fill(_ rows: FilmRows) throws {
        try database.run("BEGIN")
        let director = try database.prepare("INSERT INTO director VALUES (?, ?)")
        for index in 0..<rows.directors {
            director.bind(1, index)
            director.bind(2, "Director \(index)")
            try director.forEach { _ in }
        }
        let film = try database.prepare("INSERT INTO film VALUES (?, ?, ?, ?, ?, ?, ?)")
        for index in 0..<rows.count {
            let row = rows[index]
            film.bind(1, index)
            film.bind(2, row.title)
            film.bind(3, row.foldedTitle)
            film.bind(4, Int(row.year))
            film.bind(5, row.rating)
            film.bind(6, Int(row.votes))
            film.bind(7, row.director)
            try film.forEach { _ in }
        }
        try database.run("COMMIT; ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)")
    }

    private static func sql(_ query: FilmQuery) -> String {
        let columns = "SELECT id, title, year, rating, votes FROM film"
        return switch query {
        case .equality: "\(columns) WHERE title = ?1 ORDER BY id"
        case .range: "\(columns) WHERE rating >= ?1 ORDER BY rating LIMIT 100"
        case .prefix: "\(columns) WHERE title >= ?1 AND title < ?2 ORDER BY id"
        case .twoIndexes: "\(columns) WHERE year = ?1 AND rating >= ?2 AND rating <= ?3 ORDER BY id"
        case .toManyAny:
            "SELECT DISTINCT d.id, d.name FROM film f JOIN director d ON d.id = f.director "
                + "WHERE f.title >= ?1 AND f.title < ?2 ORDER BY d.id"
        case .unindexedCount: "SELECT count(*) FROM film WHERE votes > ?1"
        case .topTen: "\(columns) ORDER BY votes DESC, id LIMIT 10"
        case .groupCount: "SELECT year, count(*) FROM film GROUP BY year"
        case .indexedCount: "SELECT count(*) FROM film WHERE year BETWEEN ?1 AND ?2"
        case .contains: "SELECT count(*) FROM film WHERE folded LIKE ?1"
        }
    }

    func run(_ query: FilmQuery, _ argument: FilmArgument) throws -> FilmAnswer {
        guard let statement = statements[query] else { return .number(0) }
        bind(statement, query, argument)
        switch query {
        case .unindexedCount, .indexedCount, .contains:
            var count = 0
            try statement.forEach { count = $0.integer(0) }
            return .number(count)
        case .groupCount:
            var groups: [Int: Int] = [:]
            try statement.forEach { groups[$0.integer(0)] = $0.integer(1) }
            return .groups(groups)
        case .toManyAny:
            var ids: [Int] = []
            try statement.forEach { row in
                ids.append(row.integer(0))
                _ = row.textLength(1)
            }
            return .objects(ids)
        default:
            var ids: [Int] = []
            // Every column is taken, as code that fills a struct takes them.
            try statement.forEach { row in
                ids.append(row.integer(0))
                _ = row.textLength(1) + row.integer(2) + row.integer(4)
                _ = row.double(3)
            }
            return .objects(ids)
        }
    }

    private func bind(_ statement: SQLiteDatabase.Statement, prefix: String) {
        statement.bind(1, prefix)
        statement.bind(2, prefix + "\u{10FFFF}")
    }

    private func bind(_ statement: SQLiteDatabase.Statement, _ query: FilmQuery, _ argument: FilmArgument) {
        switch query {
        case .equality: statement.bind(1, argument.title)
        case .range: statement.bind(1, argument.rating)
        case .prefix: bind(statement, prefix: argument.prefix)
        case .toManyAny: bind(statement, prefix: argument.longPrefix)
        case .twoIndexes:
            statement.bind(1, Int(argument.year))
            statement.bind(2, argument.rating)
            statement.bind(3, argument.rating + 0.05)
        case .unindexedCount: statement.bind(1, Int(argument.votes))
        case .indexedCount:
            statement.bind(1, Int(argument.year))
            statement.bind(2, Int(argument.year) + 3)
        case .contains: statement.bind(1, "%\(FilmRow.folded(argument.part))%")
        case .topTen, .groupCount: break
        }
    }
}
