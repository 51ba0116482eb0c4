import Foundation
import GRDB

/// A movie as GRDB's documentation writes records: a Codable struct with an association.
struct MovieRecord: Codable, Identifiable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "movie"

    var id: Int64
    var title: String
    var year: Int32
    var rating: Double
    var genre: String
    var votes: Int32
    var owner: Int64?

    enum Columns {
        static let rating = Column(CodingKeys.rating)
        static let votes = Column(CodingKeys.votes)
    }

    init(_ row: MovieRow) {
        id = Int64(row.index)
        title = row.title
        year = row.year
        rating = row.rating
        genre = row.genre
        votes = row.votes
        owner = Int64(row.owner)
    }
}

struct OwnerRecord: Codable, Identifiable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "owner"
    static let movies = hasMany(MovieRecord.self)

    var id: Int64
    var name: String

    var movies: QueryInterfaceRequest<MovieRecord> { request(for: Self.movies) }
}

/// A database pool with the durability of the others.
enum MoviePool {
    /// - Parameter isTight: whether each connection gets the cache and the map of the bare SQLite peer.
    static func open(_ path: String, isTight: Bool) throws -> DatabasePool {
        var configuration = Configuration()
        if isTight {
            configuration.prepareDatabase { database in
                try database.execute(sql: "PRAGMA mmap_size = 4294967296; PRAGMA cache_size = -262144")
            }
        }
        let isNew = !FileManager.default.fileExists(atPath: path)
        let pool = try DatabasePool(path: path, configuration: configuration)
        // By default a pool syncs at checkpoints only, so power loss could take a commit.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        let level = try pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
        guard level == 2 else { throw BenchError("GRDB's commits are not durable.") }
        if isNew { try pool.write { try $0.execute(sql: MovieSchema.sql()) } }
        return pool
    }

    static func summary(_ pool: DatabasePool) throws -> [Int] {
        try pool.read { database in
            try MovieSchema.summary.map { try Int.fetchOne(database, sql: $0) ?? 0 }
        }
    }
}

/// Movies in GRDB as its documentation teaches: records, query interface, one access to the pool for each operation.
final class GRDBMovies: MovieStore {
    let peer = Peer.grdb
    let path: String
    private let pool: DatabasePool

    init(path: String) throws {
        self.path = path
        pool = try MoviePool.open(path, isTight: false)
    }

    func insertOwners(_ range: Range<Int>) throws {
        try pool.write { database in
            for index in range {
                try OwnerRecord(id: Int64(index), name: MovieRow.ownerName(index)).insert(database)
            }
        }
    }

    func insert(_ rows: [MovieRow]) throws {
        try pool.write { database in
            for row in rows { try MovieRecord(row).insert(database) }
        }
    }

    func sumOfYears(ofMovies picks: [Int]) throws -> Int {
        var sum = 0
        for pick in picks {
            let movie = try pool.read { try MovieRecord.find($0, id: Int64(pick)) }
            sum += Int(movie.year)
        }
        return sum
    }

    func sumOfYears(ofOwners picks: [Int]) throws -> Int {
        var sum = 0
        for pick in picks {
            let movies = try pool.read { database in
                try OwnerRecord.find(database, id: Int64(pick)).movies.fetchAll(database)
            }
            for movie in movies { sum += Int(movie.year) }
        }
        return sum
    }

    func sumOfYears(fromRatings ratings: [Double]) throws -> Int {
        var sum = 0
        for rating in ratings {
            let movies = try pool.read { database in
                try MovieRecord.filter(MovieRecord.Columns.rating >= rating).order(MovieRecord.Columns.rating)
                    .limit(100).fetchAll(database)
            }
            for movie in movies { sum += Int(movie.year) }
        }
        return sum
    }

    func count(votesAbove votes: Int32) throws -> Int {
        try pool.read { try MovieRecord.filter(MovieRecord.Columns.votes > votes).fetchCount($0) }
    }

    func update(_ ratings: [(movie: Int, rating: Double)]) throws {
        try pool.write { database in
            for (movie, rating) in ratings {
                var record = try MovieRecord.find(database, id: Int64(movie))
                try record.updateChanges(database) { $0.rating = rating }
            }
        }
    }

    func deleteOwner(_ owner: Int, movies: [MovieRow]) throws {
        _ = try pool.write { try OwnerRecord.deleteOne($0, id: Int64(owner)) }
    }

    func summary() throws -> [Int] { try MoviePool.summary(pool) }
}
