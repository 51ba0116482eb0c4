/// What an import of a store of Core Data did, or would do.
public struct CoreDataImportReport: Sendable {
    /// The numbers of one entity.
    public struct Entity: Sendable, Hashable {
        /// The name in the model.
        public let name: String
        /// The rows in the file.
        public var rows = 0
    }

    /// Where the model comes from.
    public internal(set) var modelSource = ""
    /// The entities with rows, by name.
    public internal(set) var entities: [Entity] = []
    /// The links of to-manys at both ends and of to-manys without inverse. To-ones are part of the rows.
    public internal(set) var pairs = 0
    /// The transactions of the file's history that are kept as notes.
    public internal(set) var historyTransactions = 0
    /// What the model of Strata does not say, and what was done instead.
    public internal(set) var notes: [String] = []
    /// The number of faults of each kind.
    public internal(set) var faultCounts: [CoreDataFault.Kind: Int] = [:]
    /// The faults, of each kind the first hundred.
    public internal(set) var faults: [CoreDataFault] = []
    /// Whether it went on where an earlier import had stopped.
    public internal(set) var wasResumed = false

    /// The rows of all entities.
    public var rows: Int { entities.reduce(0) { $0 + $1.rows } }
    /// The faults of all kinds.
    public var faultCount: Int { faultCounts.values.reduce(0, +) }

    mutating func take(_ list: FaultList) {
        faultCounts = list.counts
        faults = list.faults
    }
}
