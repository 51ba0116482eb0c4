import ArgumentParser
import Foundation
import StrataModel

/// Times questions over all flights on both peers in turn, after it has checked that their answers are the same.
struct FlightWorkload {
    let size: Int
    let directory: URL
    /// Part of the names of the queries to time.
    let only: String

    func run() throws -> [QueryWorkload.Result] {
        let queries = FlightQuery.allCases.filter { only.isEmpty || $0.rawValue.contains(only) }
        if queries.isEmpty { return [] }
        let folder = directory.appending(path: "flights-\(size)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let strata = try StrataFlights(
            at: folder.appending(path: "flights.strata", directoryHint: .isDirectory), count: size)
        let sqlite = try SQLiteFlights(
            path: folder.appending(path: "flights.sqlite").path(percentEncoded: false), count: size)
        return try queries.map { query in
            for airport in [3, 42, 99] { try check(query, Flights.airports[airport], strata, sqlite) }
            let airport = Flights.airports[99]
            let found = try sqlite.run(query, airport: airport).count / query.width
            return try QueryWorkload.Result(query.rawValue, rows: found, mostRatio: Bar.query.indexed) { runs in
                let strata = try nanoseconds { for _ in 0..<runs { _ = try strata.run(query, airport: airport) } }
                let sqlite = try nanoseconds { for _ in 0..<runs { _ = try sqlite.run(query, airport: airport) } }
                return (strata / Double(runs), sqlite / Double(runs))
            }
        }
    }

    private func check(
        _ query: FlightQuery, _ airport: String, _ strata: StrataFlights, _ sqlite: SQLiteFlights
    ) throws {
        let found = try strata.run(query, airport: airport)
        let expected = try sqlite.run(query, airport: airport)
        guard found.count == expected.count else {
            throw ValidationError(
                "The peers differ in '\(query.rawValue)': \(found.count) and \(expected.count) values")
        }
        if let index = found.indices.first(where: { !Self.isSame(found[$0], expected[$0]) }) {
            let text = expected[index] ?? "NULL"
            throw ValidationError(
                "The peers differ in value \(index) of '\(query.rawValue)': \(found[index]) and \(text)")
        }
    }

    /// Sums of the same numbers may differ in their last digits.
    private static func isSame(_ value: AttributeValue, _ text: String?) -> Bool {
        // The average of a group whose flights were all cancelled.
        guard let text else { return value == .null }
        let number: Double
        switch value {
        case .integer(let integer): number = Double(integer)
        case .double(let double): number = double
        case .string(let string): return string == text
        default: return false
        }
        guard let other = Double(text) else { return false }
        return abs(number - other) <= 1e-9 * max(abs(number), abs(other), 1)
    }
}
