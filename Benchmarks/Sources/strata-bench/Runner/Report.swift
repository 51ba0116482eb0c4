import Foundation

/// All that a run has measured; `--json` writes it, `plot` reads it.
struct Report: Codable {
    let machine: Machine
    var sizes: [SizeReport] = []
}

/// What was measured over stores of one size.
struct SizeReport: Codable {
    let movies: Int
    var lines: [Line] = []
    var files: [FileSize] = []
    var bars: [BarResult] = []

    func line(_ name: LineName) -> Line? { lines.first { $0.name == name } }
}

/// One workload with every peer that did it.
struct Line: Codable {
    let name: LineName
    /// How many operations a round is; times are of one.
    let operations: Int
    let rounds: Int
    let figures: [Figure]
    /// What else there is to say, such as "310,000 events a second".
    var note: String?

    func figure(_ peer: Peer) -> Figure? { figures.first { $0.peer == peer } }
    var strata: Figure? { figure(.strata) }
}

/// One peer's times.
struct Figure: Codable {
    let peer: Peer
    /// Nanoseconds for an operation: the median of the rounds and the ends of the middle half of them.
    let time: Spread
    /// Strata's time by this peer's in the same round; nil for Strata itself.
    let ratio: Spread?
    /// What the peer took of memory at most, where that was looked at.
    var memoryBytes: Int?
}

/// A median, with the ends of the middle half.
struct Spread: Codable {
    let median, lower, upper: Double

    init(_ values: [Double]) {
        let sorted = values.sorted()
        median = sorted[sorted.count / 2]
        lower = sorted[sorted.count / 4]
        upper = sorted[min(sorted.count - 1, sorted.count * 3 / 4)]
    }

    /// A value of the whole, such as a mean, with the spread of its parts.
    init(whole: Double, parts: [Double]) {
        let spread = Spread(parts)
        (median, lower, upper) = (whole, spread.lower, spread.upper)
    }
}

/// What a peer's files take, and when.
struct FileSize: Codable {
    let moment: String
    /// A peer's name, or what the bytes are beside them.
    let what: String
    /// On disk, free pages and all.
    let bytes: Int
    /// Pages of the log and of the views, where a peer has such.
    var logBytes: Int?
    var viewBytes: Int?
}

/// A bar beside what was reached.
struct BarResult: Codable {
    let name: String
    let reach: String
    let aim: String?
    let value: Double
    let text: String
    let isReached: Bool
}
