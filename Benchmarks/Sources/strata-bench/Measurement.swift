import Foundation

/// One line of the table: what was done, how long it took each time, and beside what.
struct Measurement: Codable {
    let name: String
    /// Nanoseconds for one operation; the median of the rounds.
    let strata: Double
    /// The same puts or gets on bare LMDB; nil where there is nothing to compare.
    let bare: Double?
    /// The bar as text, such as "3.0 x LMDB".
    let bar: String
    let isReached: Bool
    let note: String

    var ratio: Double? { bare.map { strata / $0 } }
}

/// Runs a body and says how long it took, in nanoseconds.
func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    let duration = ContinuousClock.now - start
    return Double(duration.components.seconds) * 1e9 + Double(duration.components.attoseconds) / 1e9
}

/// The median of several rounds.
func median(_ rounds: Int, _ body: (Int) throws -> Double) rethrows -> Double {
    var values: [Double] = []
    for round in 0..<rounds { values.append(try body(round)) }
    return values.sorted()[values.count / 2]
}

enum Table {
    static func print(_ measurements: [Measurement], size: Int) {
        Swift.print("\nStrata beside bare LMDB, \(size) movies, durable commits of 10,000; times per operation\n")
        Swift.print(line("", "Strata", "LMDB", "ratio", "to reach", ""))
        for item in measurements {
            Swift.print(
                line(
                    item.name, time(item.strata), item.bare.map(time) ?? "-",
                    item.ratio.map { String(format: "%.2f", $0) } ?? "-", item.bar,
                    (item.isReached ? "reached" : "MISSED") + (item.note.isEmpty ? "" : "  \(item.note)")))
        }
    }

    private static func line(
        _ name: String, _ strata: String, _ bare: String, _ ratio: String, _ bar: String, _ rest: String
    ) -> String {
        func pad(_ text: String, _ width: Int) -> String { text.padding(toLength: width, withPad: " ", startingAt: 0) }
        return pad(name, 40) + pad(strata, 12) + pad(bare, 12) + pad(ratio, 8) + pad(bar, 22) + rest
    }

    static func time(_ nanoseconds: Double) -> String {
        switch nanoseconds {
        case ..<1000: String(format: "%.1f ns", nanoseconds)
        case ..<1_000_000: String(format: "%.2f us", nanoseconds / 1e3)
        case ..<1e9: String(format: "%.2f ms", nanoseconds / 1e6)
        default: String(format: "%.2f s", nanoseconds / 1e9)
        }
    }
}
