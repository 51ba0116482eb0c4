import Foundation

/// Movies in SQLite by its C API: every statement is prepared once.
final class SQLiteMovies: MovieStore {
    let peer = Peer.sqlite
    let path: String
    let database: SQLiteDatabase
    private let isFolded: Bool
    private let newOwner, newMovie, year, years, range, votes, rating, deletion: SQLiteDatabase.Statement

    /// - Parameter folded: see `MovieSchema`.
    init(path: String, folded: Bool = false) throws {
        self.path = path
        isFolded = folded
        let isNew = !FileManager.default.fileExists(atPath: path)
        database = try SQLiteDatabase(path: path)
        // Strata refuses links that lead nowhere.
        try database.run("PRAGMA foreign_keys = ON")
        if isNew { try database.run(MovieSchema.sql(folded: folded)) }
        newOwner = try database.prepare(MovieSchema.insertOwner)
        newMovie = try database.prepare(MovieSchema.insertMovie(folded: folded))
        year = try database.prepare(MovieSchema.yearOfMovie)
        years = try database.prepare(MovieSchema.yearsOfOwner)
        range = try database.prepare(MovieSchema.range)
        votes = try database.prepare(MovieSchema.count)
        rating = try database.prepare(MovieSchema.update)
        deletion = try database.prepare(MovieSchema.deleteOwner)
    }

    private func writing(_ body: () throws -> Void) throws {
        try database.run("BEGIN IMMEDIATE")
        try body()
        try database.run("COMMIT")
    }

    // MARK: Inserting

    func insertOwners(_ range: Range<Int>) throws {
        try writing {
            for index in range {
                newOwner.bind(1, index)
                newOwner.bind(2, MovieRow.ownerName(index))
                try newOwner.forEach { _ in }
            }
        }
    }

    func insert(_ rows: [MovieRow]) throws {
        try writing {
            for row in rows {
                newMovie.bind(1, row.index)
                newMovie.bind(2, row.title)
                newMovie.bind(3, Int(row.year))
                newMovie.bind(4, row.rating)
                newMovie.bind(5, row.genre)
                newMovie.bind(6, Int(row.votes))
                newMovie.bind(7, row.owner)
                if isFolded { newMovie.bind(8, row.foldedTitle) }
                try newMovie.forEach { _ in }
            }
        }
    }

    /// Moves the write-ahead log into the file.
    func checkpoint() throws { try database.run("PRAGMA wal_checkpoint(TRUNCATE)") }

    // MARK: Reading

    func sumOfYears(ofMovies picks: [Int]) throws -> Int {
        var sum = 0
        for pick in picks {
            year.bind(1, pick)
            try year.forEach { sum += $0.integer(0) }
        }
        return sum
    }

    func sumOfYears(ofOwners picks: [Int]) throws -> Int {
        var sum = 0
        for pick in picks {
            years.bind(1, pick)
            try years.forEach { sum += $0.integer(0) }
        }
        return sum
    }

    func sumOfYears(fromRatings ratings: [Double]) throws -> Int {
        var (sum, others) = (0, 0.0)
        for rating in ratings {
            range.bind(1, rating)
            // Reads every column, as code that fills a struct does.
            try range.forEach { row in
                sum += row.integer(2)
                others +=
                    row.double(3)
                    + Double(row.integer(0) + row.textLength(1) + row.textLength(4) + row.integer(5) + row.integer(6))
            }
        }
        precondition(others >= 0)
        return sum
    }

    func count(votesAbove limit: Int32) throws -> Int {
        votes.bind(1, Int(limit))
        var count = 0
        try votes.forEach { count = $0.integer(0) }
        return count
    }

    func summary() throws -> [Int] {
        try MovieSchema.summary.map { sql in
            var value = 0
            try database.prepare(sql).forEach { value = $0.integer(0) }
            return value
        }
    }

    // MARK: Changing

    func update(_ ratings: [(movie: Int, rating: Double)]) throws {
        try writing {
            for (movie, new) in ratings {
                rating.bind(1, new)
                rating.bind(2, movie)
                try rating.forEach { _ in }
            }
        }
    }

    func deleteOwner(_ owner: Int, movies: [MovieRow]) throws {
        try writing {
            deletion.bind(1, owner)
            try deletion.forEach { _ in }
        }
    }
}
