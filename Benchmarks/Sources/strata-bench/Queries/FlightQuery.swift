import StrataModel

/// A question over all flights, without an index: aggregates, and groups by own properties and by those of to-ones.
enum FlightQuery: String, CaseIterable {
    case aggregates = "count, sum, average, min"
    case byOne = "group by one property"
    case byTwo = "group by two properties"
    case byThree = "group by three properties"
    case byText = "group by a text"
    case byToOne = "group by a to-one's attribute"
    case byTwoToOnes = "group by attributes of two to-ones"
    case anyFlight = "ANY over few owners"

    /// The key paths by which flights are grouped, and the columns in SQLite.
    var keys: [(path: String, column: String)] {
        switch self {
        case .aggregates, .anyFlight: []
        case .byOne: [("month", "f.month")]
        case .byTwo: [("month", "f.month"), ("day", "f.day")]
        case .byThree: [("month", "f.month"), ("day", "f.day"), ("hour", "f.hour")]
        case .byText: [("tail", "f.tail")]
        case .byToOne: [("carrier.name", "c.name")]
        case .byTwoToOnes: [("carrier.name", "c.name"), ("destination.name", "a.name")]
        }
    }

    /// The statement for SQLite; `?1` is the name of an airport.
    var sql: String {
        if self == .anyFlight {
            return "SELECT c.name, 1 FROM carrier c WHERE EXISTS (SELECT 1 FROM flight f JOIN airport a "
                + "ON a.id = f.destination WHERE f.carrier = c.id AND a.name = ?1) ORDER BY c.id"
        }
        if self == .aggregates { return "SELECT count(*), sum(distance), avg(delay), min(delay) FROM flight" }
        let columns = keys.map(\.column).joined(separator: ", ")
        var from = "flight f"
        if columns.contains("c.") { from += " JOIN carrier c ON c.id = f.carrier" }
        if columns.contains("a.") { from += " JOIN airport a ON a.id = f.destination" }
        return "SELECT \(columns), count(*), avg(f.delay) FROM \(from) GROUP BY \(columns) ORDER BY \(columns)"
    }

    /// The columns of the answer.
    var width: Int { self == .aggregates ? 4 : self == .anyFlight ? 1 : keys.count + 2 }

    /// The columns of the request.
    var columns: [OutputColumn] {
        let count = OutputColumn("count", .function(.count, [.evaluatedObject]))
        let average = OutputColumn("average", .function(.average, [.keyPath("delay")]))
        guard self == .aggregates else { return keys.map { OutputColumn($0.path) } + [count, average] }
        return [
            count, OutputColumn("sum", .function(.sum, [.keyPath("distance")])), average,
            OutputColumn("least", .function(.min, [.keyPath("delay")])),
        ]
    }
}

/// The rows: flights of sixteen carriers to a hundred airports.
struct Flights {
    struct Row {
        let month: Int
        let day: Int
        let hour: Int
        /// In minutes; nil for a flight that was cancelled.
        let delay: Double?
        /// In miles.
        let distance: Int
        let tail: String
        let carrier: Int
        let destination: Int
    }

    static let carriers = (0..<16).map { "Carrier \($0) Airlines Inc." }
    static let airports = (0..<100).map { "Airport of City \($0)" }

    static func rows(_ range: Range<Int>) -> [Row] {
        range.map { number in
            var random = Random(seed: UInt64(number))
            // Few airports have most flights, and the last has the flights of one carrier only.
            let airport = Int.random(in: 0..<99, using: &random) * Int.random(in: 0..<99, using: &random) / 99
            let carrier = Int.random(in: 0..<16, using: &random)
            return Row(
                month: Int.random(in: 1...12, using: &random), day: Int.random(in: 1...31, using: &random),
                hour: Int.random(in: 5...23, using: &random),
                delay: Int.random(in: 0..<40, using: &random) == 0
                    ? nil : Double(Int.random(in: -30...300, using: &random)),
                distance: Int.random(in: 80...5000, using: &random),
                tail: "N\(Int.random(in: 0..<4000, using: &random))",
                carrier: carrier, destination: carrier == 3 && number % 7 == 0 ? 99 : airport)
        }
    }
}
