import LMDB
import StrataModel

/// The rows and pairs that views across relationships read, as they were before a batch of events changed them.
///
/// When the batch is written, the tables have the new state, and a layer of these makes the old one of it. Both
/// are read to take the concerned objects out of their old groups and to add them to their new ones. Belongs to one
/// batch.
final class WatchedRows {
    private let histories: SchemaHistory
    private let schema: Schema
    /// Views that are left to a worker.
    private let building: Set<ViewID>
    private var seen: Set<ObjectID> = []
    private var seenPairs: Set<PairKey> = []
    private var layer: Layer.Builder
    private(set) var sizeInBytes = 0

    init(_ histories: SchemaHistory, _ schema: Schema, without building: Set<ViewID>) {
        self.histories = histories
        self.building = building
        self.schema = schema
        layer = Layer.Builder(schema: schema)
    }

    /// Begins the old state of an object, as one that did not exist.
    ///
    /// - Returns: false if it is known already.
    func begin(_ id: ObjectID) -> Bool {
        guard seen.insert(id).inserted else { return false }
        layer.setAbsent(id)
        sizeInBytes += 64
        return true
    }

    /// Sets the old row of an object.
    func set(_ id: ObjectID, _ image: RowImage) {
        layer.setRow(id, image, revision: .zero)
        sizeInBytes += image.bytes.count
    }

    /// Sets the old state of a pair, unless it is known already.
    ///
    /// - Parameter positions: nil if it was not linked.
    func set(_ key: PairKey, _ positions: PairPositions?) {
        guard seenPairs.insert(key).inserted else { return }
        layer.setPair(key, positions)
        sizeInBytes += 96
    }

    /// Adds the batch's changes of the groups, after everything else is written.
    func addDifferences(to changes: GroupChanges, _ tables: StoreTables, _ transaction: ReadTransaction) throws {
        let before = Snapshot(
            eventNumber: .zero, schema: schema, transaction: transaction, tables: tables, histories: histories,
            layers: [layer.finish()])
        for view in try IndexMap.of(schema).views.inline
        where view.crossesRelationships && !building.contains(view.id) {
            try ViewFault.naming {
                try before.addDifference(of: view, from: before.withoutLayers, -1, to: changes)
            }
        }
    }
}
