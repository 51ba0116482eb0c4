import ArgumentParser
import Foundation

/// Times every query on both peers in turn, once their answers are known to be the same.
struct QueryWorkload {
    let size: Int
    let directory: URL
    /// Part of the names of the queries to time.
    let only: String

    struct Result: Codable {
        let query: String
        let rows: Int
        let strata: Double
        let sqlite: Double
        let mostRatio: Double
        var ratio: Double { strata / sqlite }
        var isReached: Bool { ratio <= mostRatio }
    }

    func run() throws -> [Result] {
        let rows = FilmRows(count: size)
        let place = directory.appending(path: "films-\(size)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(
            at: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let strata = try StrataFilms(at: place.appending(path: "films.strata", directoryHint: .isDirectory), rows)
        let sqlite = try SQLiteFilms(path: place.appending(path: "films.sqlite").path(percentEncoded: false), rows)
        let queries = FilmQuery.allCases.filter { only.isEmpty || $0.rawValue.contains(only) }
        return try queries.map { try measure($0, rows, strata, sqlite) }
    }

    /// The median of rounds in which the peers take turns, so that both meet the same weather.
    private func measure(
        _ query: FilmQuery, _ rows: FilmRows, _ strata: StrataFilms, _ sqlite: SQLiteFilms
    ) throws -> Result {
        var random = Random(seed: 7)
        let runs = query.isScan ? max(1, 200_000 / size) : 200
        var times: [(strata: Double, sqlite: Double)] = []
        var found = 0
        for round in 0..<8 {
            let arguments = (0..<runs).map { _ in FilmArgument(rows, &random) }
            if round == 0 { found = try check(query, arguments.prefix(20), strata, sqlite) }
            let strataTime = try nanoseconds {
                for argument in arguments { try autoreleased { _ = try strata.run(query, argument) } }
            }
            let sqliteTime = try nanoseconds { for argument in arguments { _ = try sqlite.run(query, argument) } }
            if round > 0 { times.append((strataTime / Double(runs), sqliteTime / Double(runs))) }
        }
        let result = Result(
            query: query.rawValue, rows: found, strata: times.map(\.strata).sorted()[times.count / 2],
            sqlite: times.map(\.sqlite).sorted()[times.count / 2], mostRatio: query.mostRatio)
        FileHandle.standardError.write(
            Data("\(query.rawValue): \(Table.time(result.strata)), SQLite \(Table.time(result.sqlite))\n".utf8))
        return result
    }

    private func autoreleased(_ body: () throws -> Void) rethrows { try body() }

    /// - Returns: how much the last run found.
    private func check(
        _ query: FilmQuery, _ arguments: ArraySlice<FilmArgument>, _ strata: StrataFilms, _ sqlite: SQLiteFilms
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
