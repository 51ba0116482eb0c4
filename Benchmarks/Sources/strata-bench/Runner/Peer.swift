/// What is measured: Strata, and what an app could use instead.
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

/// One peer's code for a workload.
struct Contender {
    let peer: Peer
    /// Prepares a round; not timed.
    var prepare: (Int) throws -> Void = { _ in }
    /// Runs a round, timed; its answer must equal that of the other peers.
    let run: (Int) throws -> Int
}

/// One line, with all peers' code for it.
struct Contest {
    let name: LineName
    /// How many operations a round has.
    let operations: Int
    let contenders: [Contender]
    /// Makes the remark of the line from the times of all rounds, in nanoseconds for one operation.
    var note: ([Peer: [Double]]) -> String? = { _ in nil }
}

/// Something that is timed beside peers, or by itself, over stores that all hold the same movies.
protocol Workload {
    /// The lines of the table that it makes.
    static var lines: [LineName] { get }
    /// The name of the moment after it, "after updates", if it writes: the files are measured then.
    static var momentOfFiles: String? { get }
    static func run(_ stores: MovieStores, _ bench: Bench) throws
}

extension Workload {
    static var momentOfFiles: String? { nil }
}

/// The error for a benchmark that cannot be right, such as one whose peers give different answers.
struct BenchError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
