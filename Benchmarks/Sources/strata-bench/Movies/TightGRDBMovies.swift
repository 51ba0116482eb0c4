import Foundation
import GRDB

/// Movies in GRDB with raw SQL, cached statements, values by column number, and one access to the pool for a round.
final class TightGRDBMovies: MovieStore {
    let peer = Peer.tightGRDB
    let path: String
    private let pool: DatabasePool

    init(path: String) throws {
        self.path = path
        pool = try MoviePool.open(path, isTight: true)
    }

    func insertOwners(_ range: Range<Int>) throws {
        try pool.write { database in
            let statement = try database.cachedStatement(sql: MovieSchema.insertOwner)
            for index in range {
                statement.setUncheckedArguments([index, MovieRow.ownerName(index)])
                try statement.execute()
            }
        }
    }

    func insert(_ rows: [MovieRow]) throws {
        try pool.write { database in
            let statement = try database.cachedStatement(sql: MovieSchema.insertMovie())
            for row in rows {
                statement.setUncheckedArguments([
                    row.index, row.title, row.year, row.rating, row.genre, row.votes, row.owner,
                ])
                try statement.execute()
            }
        }
    }

    func sumOfYears(ofMovies picks: [Int]) throws -> Int {
        try sum(MovieSchema.yearOfMovie, picks.map { [$0] })
    }

    func sumOfYears(ofOwners picks: [Int]) throws -> Int {
        try sum(MovieSchema.yearsOfOwner, picks.map { [$0] })
    }

    private func sum(_ sql: String, _ arguments: [StatementArguments]) throws -> Int {
        try pool.read { database in
            let statement = try database.cachedStatement(sql: sql)
            var sum = 0
            for argument in arguments {
                statement.setUncheckedArguments(argument)
                let years = try Row.fetchCursor(statement)
                while let row = try years.next() { sum += row[0] as Int }
            }
            return sum
        }
    }

    func sumOfYears(fromRatings ratings: [Double]) throws -> Int {
        try pool.read { database in
            let statement = try database.cachedStatement(sql: MovieSchema.range)
            var (sum, others) = (0, 0.0)
            for rating in ratings {
                statement.setUncheckedArguments([rating])
                let rows = try Row.fetchCursor(statement)
                while let row = try rows.next() {
                    sum += row[2] as Int
                    let (title, genre) = (row[1] as String, row[4] as String)
                    others += row[3] as Double
                    others += Double((row[0] as Int) + title.utf8.count + genre.utf8.count + (row[5] as Int))
                    others += Double(row[6] as Int)
                }
            }
            precondition(others >= 0)
            return sum
        }
    }

    func count(votesAbove votes: Int32) throws -> Int {
        try pool.read { database in
            try Int.fetchOne(database.cachedStatement(sql: MovieSchema.count), arguments: [votes]) ?? 0
        }
    }

    func update(_ ratings: [(movie: Int, rating: Double)]) throws {
        try pool.write { database in
            let statement = try database.cachedStatement(sql: MovieSchema.update)
            for (movie, rating) in ratings {
                statement.setUncheckedArguments([rating, movie])
                try statement.execute()
            }
        }
    }

    func deleteOwner(_ owner: Int, movies: [MovieRow]) throws {
        try pool.write { database in
            let statement = try database.cachedStatement(sql: MovieSchema.deleteOwner)
            statement.setUncheckedArguments([owner])
            try statement.execute()
        }
    }

    func summary() throws -> [Int] { try MoviePool.summary(pool) }
}
