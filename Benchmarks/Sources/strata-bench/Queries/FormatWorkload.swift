import ArgumentParser
import Foundation
import StrataModel

/// What it takes to read format strings, the first time and again: the part of a fetch that comes before the request.
struct FormatWorkload {
    struct Result: Codable {
        let format: String
        /// Nanoseconds to read a string that was never met.
        let first: Double
        /// Nanoseconds for the same string with other arguments.
        let again: Double
    }

    private static var formats: [(String, [Any?])] {
        [
            ("title == %@", ["Amélie"]),
            ("%K == %@", ["title", "Amélie"]),
            ("year == %d AND rating BETWEEN {%f, %f}", [1999, 4.0, 4.5]),
            ("title CONTAINS[cd] %@ OR owner.name BEGINSWITH %@", ["a", "b"]),
            ("ANY movies.title BEGINSWITH %@", ["Blue"]),
            ("SUBQUERY(movies, $f, $f.rating > %f).@count > 2", [4.5]),
        ]
    }

    func run() throws -> [Result] {
        try Self.formats.map { format, arguments in
            let runs = 2000
            let first = try median(7) { round in
                // White space makes another string of it, and is read in no time.
                let formats = (0..<runs).map { number in
                    let spaces = (0..<14).map { (round * runs + number) >> $0 & 1 == 1 ? "\t" : " " }.joined()
                    return format + spaces
                }
                return try nanoseconds {
                    for format in formats { _ = try FetchPredicate(format: format, argumentArray: arguments) }
                } / Double(runs)
            }
            let again = try median(7) { _ in
                try nanoseconds {
                    for _ in 0..<runs { _ = try FetchPredicate(format: format, argumentArray: arguments) }
                } / Double(runs)
            }
            return Result(format: format, first: first, again: again)
        }
    }

    static func printTable(_ results: [Result]) {
        Swift.print("\nReading format strings\n")
        for result in results {
            let name = result.format.padding(toLength: 60, withPad: " ", startingAt: 0)
            Swift.print("\(name)first \(Quantity.time(result.first)), again \(Quantity.time(result.again))")
        }
    }
}

/// `strata-bench formats`
struct FormatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "formats", abstract: "Times the reading of format strings.")

    func run() throws { FormatWorkload.printTable(try FormatWorkload().run()) }
}
