import Foundation

/// The movies in SQLite: the same rows and indexes, and a statement for each query.
///
/// `CONTAINS[cd]` is `LIKE` over a column that holds the folded title, which an app would have to fill itself. A
/// folding function registered with SQLite would do the same work for each row as Strata, and be slower than the
/// column.
final class SQLiteMovieQueries {
    private let store: SQLiteMovies
    private var statements: [MovieQuery: SQLiteDatabase.Statement] = [:]

    init(path: String, _ movies: Movies) throws {
        store = try SQLiteMovies(path: path, folded: true)
        try store.insertOwners(0..<movies.owners)
        for first in stride(from: 0, to: movies.count, by: 10_000) {
            try store.insert(movies.rows(first..<min(movies.count, first + 10_000)))
        }
        try store.database.run("ANALYZE")
        try store.checkpoint()
        for query in MovieQuery.allCases { statements[query] = try store.database.prepare(Self.sql(query)) }
    }

    private static func sql(_ query: MovieQuery) -> String {
        let columns = "SELECT id, title, year, rating, votes FROM movie"
        return switch query {
        case .equality: "\(columns) WHERE title = ?1 ORDER BY id"
        case .range: "\(columns) WHERE rating >= ?1 ORDER BY rating LIMIT 100"
        case .prefix: "\(columns) WHERE title >= ?1 AND title < ?2 ORDER BY id"
        case .twoIndexes: "\(columns) WHERE year = ?1 AND rating >= ?2 AND rating <= ?3 ORDER BY id"
        case .toManyAny:
            "SELECT DISTINCT o.id, o.name FROM movie m JOIN owner o ON o.id = m.owner "
                + "WHERE m.title >= ?1 AND m.title < ?2 ORDER BY o.id"
        case .unindexedCount: "SELECT count(*) FROM movie WHERE votes > ?1"
        case .topTen: "\(columns) ORDER BY votes DESC, id LIMIT 10"
        case .groupCount: "SELECT year, count(*) FROM movie GROUP BY year"
        case .indexedCount: "SELECT count(*) FROM movie WHERE year BETWEEN ?1 AND ?2"
        case .contains: "SELECT count(*) FROM movie WHERE folded LIKE ?1"
        }
    }

    func run(_ query: MovieQuery, _ argument: MovieArgument) throws -> MovieAnswer {
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
            // Reads every column, as code that fills a struct does.
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

    private func bind(_ statement: SQLiteDatabase.Statement, _ query: MovieQuery, _ argument: MovieArgument) {
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
        case .contains: statement.bind(1, "%\(MovieRow.folded(argument.part))%")
        case .topTen, .groupCount: break
        }
    }
}
