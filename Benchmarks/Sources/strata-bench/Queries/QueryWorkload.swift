import ArgumentParser
import Foundation

/// Times every query on both peers in turn, after it has checked that their answers are the same.
struct QueryWorkload {
    let size: Int
    let directory: URL
    /// Part of the names of the queries to time.
    let only: String

    struct Result: Codable {
        let query: String
        let rows: Int
        /// Medians of the rounds, in nanoseconds for a query.
        let strata: Double
        let sqlite: Double
        /// The median of the rounds' ratios, and the ends of the middle half of them.
        let ratio: Double
        let leastRatio: Double
        let largestRatio: Double
        let mostRatio: Double
        var isReached: Bool { ratio <= mostRatio }
    }

    func run() throws -> [Result] {
        let rows = Movies(count: size)
        let folder = directory.appending(path: "movies-\(size)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let strata = try StrataMovieQueries(
            at: folder.appending(path: "movies.strata", directoryHint: .isDirectory), rows)
        let sqlite = try SQLiteMovieQueries(
            path: folder.appending(path: "movies.sqlite").path(percentEncoded: false), rows)
        let queries = MovieQuery.allCases.filter { only.isEmpty || $0.rawValue.contains(only) }
        return try queries.map { try measure($0, rows, strata, sqlite) }
    }

    private func measure(
        _ query: MovieQuery, _ rows: Movies, _ strata: StrataMovieQueries, _ sqlite: SQLiteMovieQueries
    ) throws -> Result {
        var random = Random(seed: 7)
        let arguments = (0..<20).map { _ in MovieArgument(rows, &random) }
        let found = try check(query, arguments[...], strata, sqlite)
        return try Result(query.rawValue, rows: found, mostRatio: query.mostRatio) { runs in
            try time(query, (0..<runs).map { _ in MovieArgument(rows, &random) }, strata, sqlite)
        }
    }

    /// One round: nanoseconds for a query, of each peer.
    private func time(
        _ query: MovieQuery, _ arguments: [MovieArgument], _ strata: StrataMovieQueries, _ sqlite: SQLiteMovieQueries
    ) throws -> (strata: Double, sqlite: Double) {
        let strataTime = try nanoseconds { for argument in arguments { _ = try strata.run(query, argument) } }
        let sqliteTime = try nanoseconds { for argument in arguments { _ = try sqlite.run(query, argument) } }
        return (strataTime / Double(arguments.count), sqliteTime / Double(arguments.count))
    }

    /// - Returns: how much the last run found.
    private func check(
        _ query: MovieQuery, _ arguments: ArraySlice<MovieArgument>, _ strata: StrataMovieQueries,
        _ sqlite: SQLiteMovieQueries
    ) throws -> Int {
        var found = 0
        for argument in arguments {
            let answer = strata.answer(try strata.run(query, argument))
            let expected = try sqlite.run(query, argument)
            guard answer == expected else {
                throw ValidationError("The peers differ in '\(query.rawValue)': \(answer) and \(expected)")
            }
            switch answer {
            case .objects(let objects): found = objects.count
            case .number(let number): found = number
            case .groups(let groups): found = groups.count
            }
        }
        return found
    }
}

extension QueryWorkload.Result {
    private static let rounds = 15
    /// How long a peer's part of a round should take, in nanoseconds: far longer than an interrupt, and far shorter
    /// than the time in which the speed of the machine changes.
    private static let roundTime = 15e6

    /// The median of rounds in which the peers take turns, so that the machine has the same speed for both.
    ///
    /// - Parameter time: runs the query that many times on each peer, and returns the nanoseconds for one.
    init(
        _ query: String, rows: Int, mostRatio: Double, time: (Int) throws -> (strata: Double, sqlite: Double)
    ) rethrows {
        let once = try time(20)
        let runs = Int(min(2000, max(1, Self.roundTime / max(once.strata, once.sqlite))))
        let times = try (0..<Self.rounds).map { _ in try time(runs) }
        let ratios = times.map { $0.strata / $0.sqlite }.sorted()
        self.init(
            query: query, rows: rows, strata: times.map(\.strata).sorted()[times.count / 2],
            sqlite: times.map(\.sqlite).sorted()[times.count / 2], ratio: ratios[times.count / 2],
            leastRatio: ratios[times.count / 4], largestRatio: ratios[times.count * 3 / 4], mostRatio: mostRatio)
        FileHandle.standardError.write(
            Data("\(query): \(Quantity.time(strata)), SQLite \(Quantity.time(sqlite))\n".utf8))
    }
}
