import LMDB
import Locking
import StrataModel

/// The statistics of one open store: read from its file when first needed, sampled anew when they are missing or old,
/// and written with the next save, so that knowing them costs no commit.
///
/// `state` is guarded by its mutex, which is never held while the store is read.
final class StatisticsCache: Sendable {
    private struct State {
        var known = PlannerStatistics()
        /// Goes up with every change, so that plans know when they are out of date.
        var generation: UInt64 = 0
        var isLoaded = false
        var unsaved: Set<IndexID> = []
        /// Rows by entity, as the snapshot has them.
        var counts: [EntityID: Int] = [:]
        var snapshotID: ReadTransaction.SnapshotID?
    }

    private let state = Locked(State())
    /// Smaller entities are planned for without: any plan will do.
    static let smallestSampled = 512

    var generation: UInt64 { state.withLock { $0.generation } }

    /// Rows of an entity in the base, read once for as long as nothing is committed.
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

    /// What is known of an index, sampled now if need be; nil for a small entity.
    func index(_ index: IndexSchema, rows: Int, _ snapshot: Snapshot) throws -> IndexStatistics? {
        guard rows >= Self.smallestSampled else { return nil }
        try load(snapshot)
        if let known = state.withLock({ $0.known.indexes[index.id] }), !known.isStale(rows: rows) { return known }
        guard let fresh = try StatisticsSampler(snapshot).index(index, rows: rows) else { return nil }
        state.withLock { state in
            state.known.indexes[index.id] = fresh
            state.generation += 1
            state.unsaved.insert(index.id)
        }
        return fresh
    }

    /// Members of one owner on average, sampled once while the store is open.
    func members(of link: PropertyID, owners: [EntitySchema], _ snapshot: Snapshot) throws -> Double? {
        if let known = state.withLock({ $0.known.members[link] }) { return known }
        guard let fresh = try StatisticsSampler(snapshot).members(of: link, owners: owners) else { return nil }
        state.withLock { $0.known.members[link] = fresh }
        return fresh
    }

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

    /// Writes what was sampled since the last time into a transaction that is to be committed anyway.
    func save(_ transaction: WriteTransaction, _ tables: StoreTables) throws {
        let fresh = state.withLock { state -> [IndexID: IndexStatistics] in
            if state.unsaved.isEmpty { return [:] }
            defer { state.unsaved = [] }
            return state.known.indexes.filter { state.unsaved.contains($0.key) }
        }
        for (index, statistics) in fresh { try StatisticsRecord.put(statistics, of: index, transaction, tables) }
    }
}
