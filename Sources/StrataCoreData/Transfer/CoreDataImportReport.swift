/// The result of an import of a store of Core Data, or of a plan for it.
public struct CoreDataImportReport: Sendable {
    /// The numbers of one entity.
    public struct Entity: Sendable, Hashable {
        /// The name in the model.
        public let name: String
        /// The rows in the file.
        public var rows = 0
    }

    /// The counts of the transactions of the file's persistent history, by what the import made of them.
    ///
    /// The file keeps no earlier values. So a transaction of the new store has the rows that its original was the last
    /// to change; one whose rows were all changed later, or deleted, is a note in the store's metadata.
    public struct History: Sendable, Hashable {
        /// The transactions in the file.
        public internal(set) var transactions = 0
        /// The number of transactions that became transactions of the new store.
        public internal(set) var chained = 0
        /// The number of those that did more, which is only counted in their metadata.
        public internal(set) var partial = 0
        /// The number of transactions that are kept as notes: the newest two thousand, at most 256 KiB.
        public internal(set) var notes = 0
    }

    /// The source of the model.
    public internal(set) var modelSource = ""
    /// The entities with rows, by name.
    public internal(set) var entities: [Entity] = []
    /// The links of to-manys at both ends and of to-manys without inverse. To-ones are part of the rows.
    public internal(set) var pairs = 0
    /// The part of the persistent history that was imported.
    public internal(set) var history = History()
    /// Facts that the model of Strata does not express, with the replacements.
    public internal(set) var notes: [String] = []
    /// The number of faults of each kind.
    public internal(set) var faultCounts: [CoreDataFault.Kind: Int] = [:]
    /// The faults, of each kind the first hundred.
    public internal(set) var faults: [CoreDataFault] = []
    /// Whether the import continued one that had stopped.
    public internal(set) var wasResumed = false

    /// The rows of all entities.
    public var rows: Int { entities.reduce(0) { $0 + $1.rows } }
    /// The faults of all kinds.
    public var faultCount: Int { faultCounts.values.reduce(0, +) }

    mutating func take(_ list: FaultList) {
        faultCounts = list.counts
        faults = list.faults
        notes += list.notes
    }
}
