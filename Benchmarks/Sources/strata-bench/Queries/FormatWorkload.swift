import ArgumentParser
import Foundation
import StrataModel

/// The time to parse format strings, the first time and again: the part of a fetch that comes before the request.
struct FormatWorkload {
    struct Result: Codable {
        let format: String
        /// Nanoseconds to parse a new string.
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
                // White space makes it a new string, and takes no time to parse.
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
        commandName: "formats", abstract: "Times the parsing of format strings.")

    func run() throws { FormatWorkload.printTable(try FormatWorkload().run()) }
}
