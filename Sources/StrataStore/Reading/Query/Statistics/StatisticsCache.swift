import LMDB
import Locking
import StrataModel

/// The statistics of one open store. They are read from its file when they are first needed, sampled if they are
/// missing or old, and written with the next save, so that they need no commit of their own.
///
/// The mutex guards `state`, and is never held while the store is read.
final class StatisticsCache: Sendable {
    private struct State {
        var known = PlannerStatistics()
        /// Increases with every change, so that plans know when they are out of date.
        var generation: UInt64 = 0
        var isLoaded = false
        var unsaved: Set<IndexID> = []
        /// The erasures before the samples that are not saved yet. Samples from before an erasure may have erased values.
        var losses: ValueLosses?
        /// The number of rows by entity, as of the snapshot.
        var counts: [EntityID: Int] = [:]
        var snapshotID: ReadTransaction.SnapshotID?

        mutating func forget() {
            known = PlannerStatistics()
            unsaved = []
            generation += 1
        }
    }

    private let state = Locked(State())
    /// The number of rows from which an entity is sampled. Below it, any plan is fast.
    static let smallestSampled = 512

    var generation: UInt64 { state.withLock { $0.generation } }

    /// The number of rows of an entity in the base, read once after each commit.
    func count(of entity: EntityID, _ snapshot: Snapshot) throws -> Int {
        let snapshotID = snapshot.transaction.snapshotID
        if let known = state.withLock({ $0.snapshotID == snapshotID ? $0.counts[entity] : nil }) { return known }
        let count = try snapshot.counter(.entity(entity))
        state.withLock { state in
            if state.snapshotID != snapshotID {
                state.snapshotID = snapshotID
                state.counts.removeAll(keepingCapacity: true)
            }
            state.counts[entity] = count
        }
        return count
    }

    /// The statistics of an index, sampled now if necessary; nil for a small entity.
    func index(_ index: IndexSchema, rows: Int, _ snapshot: Snapshot) throws -> IndexStatistics? {
        guard rows >= Self.smallestSampled else { return nil }
        try load(snapshot)
        if let known = state.withLock({ $0.known.indexes[index.id] }), !known.isStale(rows: rows) { return known }
        guard let fresh = try StatisticsSampler(snapshot).index(index, rows: rows) else { return nil }
        let losses = try ValueLosses(snapshot.transaction, snapshot.tables)
        state.withLock { state in
            if !state.unsaved.isEmpty, state.losses != losses { state.forget() }
            state.known.indexes[index.id] = fresh
            state.generation += 1
            state.unsaved.insert(index.id)
            state.losses = losses
        }
        return fresh
    }

    /// The average number of members of one owner, sampled once while the store is open.
    func members(of link: PropertyID, owners: [EntitySchema], _ snapshot: Snapshot) throws -> Double? {
        if let known = state.withLock({ $0.known.members[link] }) { return known }
        guard let fresh = try StatisticsSampler(snapshot).members(of: link, owners: owners) else { return nil }
        state.withLock { $0.known.members[link] = fresh }
        return fresh
    }

    /// Drops all samples, because they hold keys.
    func removeAll() { state.withLock { $0.forget() } }

    // MARK: The file

    private func load(_ snapshot: Snapshot) throws {
        if state.withLock({ $0.isLoaded }) { return }
        let stored = try StatisticsRecord.all(snapshot.transaction, snapshot.tables)
        state.withLock { state in
            guard !state.isLoaded else { return }
            state.isLoaded = true
            state.known.indexes.merge(stored) { own, _ in own }
        }
    }

    /// Writes the samples since the last time in a transaction that will be committed anyway. If values were erased
    /// since, by any process, they are dropped.
    func save(_ transaction: WriteTransaction, _ tables: StoreTables) throws {
        if state.withLock({ $0.unsaved.isEmpty }) { return }
        let losses = try ValueLosses(transaction, tables)
        let fresh = state.withLock { state -> [IndexID: IndexStatistics] in
            if state.losses != losses {
                state.forget()
                return [:]
            }
            defer { state.unsaved = [] }
            return state.known.indexes.filter { state.unsaved.contains($0.key) }
        }
        for (index, statistics) in fresh { try StatisticsRecord.put(statistics, of: index, transaction, tables) }
    }
}
