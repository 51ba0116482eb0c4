public import StrataModel
import StrataStore

// Reading the transactions and events of the log.

extension PersistentContainer {
    /// The number of the last event in the log, which is that of a new context.
    ///
    /// - Throws: `storeClosed`, `corrupt`.
    public func head() throws -> EventNumber { try store.head() }

    /// The transactions after one, oldest first.
    ///
    /// - Parameters:
    ///   - number: zero begins with the first transaction that is kept.
    ///   - limit: how many transactions to return at most.
    /// - Throws: `historyDropped` for a transaction before the kept history; `storeClosed`, `corrupt`.
    public func transactions(
        after number: TransactionNumber = .zero, limit: Int = 1000
    ) throws -> [HistoryTransaction] {
        try store.transactions(after: number, limit: limit).map { try HistoryTransaction($0) }
    }

    /// The events from `first` through `last`, oldest first.
    ///
    /// - Throws: `historyDropped` before the kept history, `corrupt`.
    public func events(from first: EventNumber = .zero, through last: EventNumber) throws -> [HistoryEvent] {
        var recorded: [RecordedEvent] = []
        try store.events(from: first, through: last) { event in
            recorded.append(event)
            return true
        }
        return try store.named(recorded)
    }

    /// All kept events of an object, newest first.
    ///
    /// A to-one's change is an event of the object that has the to-one. Links of a many-to-many are events of both
    /// ends.
    ///
    /// - Throws: `historyDropped`, `corrupt`.
    /// - Complexity: one lookup for each event of the object, whatever the length of the log. For an entity with
    ///   many-to-many relationships also O(transactions + events of transactions that changed such links).
    public func history(of id: ObjectID) throws -> [HistoryEvent] {
        let own = try store.history(of: id)
        let links = try store.linkHistory(of: id)
        return try store.named(links.isEmpty ? own : (own + links).sorted { $0.eventNumber > $1.eventNumber })
    }
}
