import LMDB
import StrataModel

/// The erasures and thinnings that a state of the file has had.
///
/// Values that were read from a state with others may be gone from the log by now. They must not be written again.
struct ValueLosses: Hashable {
    /// The event of the last erasure.
    private let lastErasure: EventNumber?
    /// The erasures that came with another log and are still to be made here.
    private let received: [EventNumber]
    private let thinned: [EntityID: ThinnedEntity]

    /// - Complexity: O(thinned entities + received erasures).
    init(_ transaction: ReadTransaction, _ tables: StoreTables) throws {
        lastErasure = try ErasureList.last(transaction, tables)
        received = try ErasureMark.read(transaction, tables)?.received ?? []
        thinned = try ThinnedEntities.all(transaction, tables)
    }

    /// Whether the history of one of these entities was thinned beyond an event, so that its values there may be gone.
    func mayLack(_ entities: Set<EntityID>, at eventNumber: EventNumber) -> Bool {
        thinned.contains { eventNumber < $0.value.cut && entities.contains($0.key) }
    }
}
