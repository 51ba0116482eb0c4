/// Who does the work: Strata, and what else an app would take.
enum Peer: String, Codable, CaseIterable {
    case strata = "Strata"
    case lmdb = "LMDB"
    case sqlite = "SQLite"
    case grdb = "GRDB"
    case tightGRDB = "GRDB tight"
    case propertyList = "property list"
    case json = "JSON"

    /// The names of all but Strata.
    static var others: String { allCases.dropFirst().map(\.rawValue).joined(separator: ", ") }
}

/// One peer's way of doing what a workload times.
struct Contender {
    let peer: Peer
    /// What is to be ready before a round and is not timed.
    var prepare: (Int) throws -> Void = { _ in }
    /// One round, timed; its answer has to be that of the other peers.
    let run: (Int) throws -> Int
}

/// One line that peers are timed for.
struct Contest {
    let name: LineName
    /// How many operations a round is.
    let operations: Int
    let contenders: [Contender]
    /// What is said beside the times of all rounds, each for one operation, in nanoseconds.
    var note: ([Peer: [Double]]) -> String? = { _ in nil }
}

/// Something that is timed beside peers, or by itself. What it needs it finds in the stores, which all hold the same.
protocol Workload {
    /// The lines of the table that it makes.
    static var lines: [LineName] { get }
    /// When the files are measured, for one that writes: "after updates".
    static var momentOfFiles: String? { get }
    static func run(_ stores: MovieStores, _ bench: Bench) throws
}

extension Workload {
    static var momentOfFiles: String? { nil }
}

/// A benchmark that cannot be right, such as one whose peers give different answers.
struct BenchError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
