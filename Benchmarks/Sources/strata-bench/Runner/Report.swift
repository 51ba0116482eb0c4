import Foundation

/// The results of a run; `--json` writes them, `plot` and `tables` read them.
struct Report: Codable {
    let machine: Machine
    var sizes: [SizeReport] = []
}

/// The results for stores of one size.
struct SizeReport: Codable {
    let movies: Int
    var lines: [Line] = []
    var files: [FileSize] = []
    var bars: [BarResult] = []

    func line(_ name: LineName) -> Line? { lines.first { $0.name == name } }
}

/// A line of the table: one workload with the times of every peer.
struct Line: Codable {
    let name: LineName
    /// How many operations a round has; times are for one.
    let operations: Int
    let rounds: Int
    let figures: [Figure]
    /// A remark, such as "310,000 events a second".
    var note: String?

    func figure(_ peer: Peer) -> Figure? { figures.first { $0.peer == peer } }
    var strata: Figure? { figure(.strata) }
}

/// One peer's times.
struct Figure: Codable {
    let peer: Peer
    /// Nanoseconds for an operation: the median of the rounds and the ends of the middle half of them.
    let time: Spread
    /// Strata's time divided by this peer's in the same round; nil for Strata itself.
    let ratio: Spread?
    /// The peer's largest memory in bytes; nil where it was not measured.
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

    /// Makes one of a value of the whole, such as a mean, and the spread of its parts.
    init(whole: Double, parts: [Double]) {
        let spread = Spread(parts)
        (median, lower, upper) = (whole, spread.lower, spread.upper)
    }
}

/// The size of a peer's files after one workload.
struct FileSize: Codable {
    let moment: String
    /// A peer's name, or "the values themselves".
    let what: String
    /// On disk, with free pages.
    let bytes: Int
    /// The pages of the log and of the views, for peers that have them.
    var logBytes: Int?
    var viewBytes: Int?
}

/// A bar, and whether a run reached it.
struct BarResult: Codable {
    let name: String
    let reach: String
    let aim: String?
    let value: Double
    let text: String
    let isReached: Bool
}
