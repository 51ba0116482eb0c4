import LMDB
import StrataModel
import Synchronization

/// Makes the snapshots of one open store, and keeps what they share: layers of the past, sizes for planning, compiled
/// queries, and the pages that were verified.
final class SnapshotSource: Sendable {
    private let file: StoreFile
    let lag = LagLayers()
    let statistics = StatisticsCache()
    let shapes = QueryShapeCache()
    let verifiedPages = VerifiedPages()
    /// Whether there may be pairs of no object's relationship (`unlinkStrayPairs`).
    let hasStrayPairs = Atomic<Bool>(false)

    init(_ file: StoreFile) { self.file = file }

    /// The state at `eventNumber` with `layers` above it, in a read transaction whose head and models are known.
    @inline(__always)
    func snapshot(
        at eventNumber: EventNumber, layers: [Layer], through schema: Schema?, _ transaction: ReadTransaction,
        _ head: EventNumber, _ newest: SchemaHistory
    ) throws -> Snapshot {
        guard eventNumber <= head else {
            throw StrataError(.futureEvent, "The log ends at \(head).", context: .init(eventNumber: eventNumber))
        }
        return try snapshot(
            at: eventNumber, layers: layers,
            in: file.histories(newest, through: schema, at: eventNumber, transaction), transaction, head, newest)
    }

    /// The same through the newest model of `histories`, which may be older than the state.
    func snapshot(
        at eventNumber: EventNumber, layers: [Layer], in histories: SchemaHistory, _ transaction: ReadTransaction,
        _ head: EventNumber, _ newest: SchemaHistory
    ) throws -> Snapshot {
        guard let schema = histories.newest else {
            throw StrataError(.invalidModel, "The store has no model.", context: .init(path: file.path))
        }
        if schema.hasEncryption { SchemaKeys.of(schema).attach(file.keyRing) }
        var stack = layers
        if eventNumber != head {
            stack.insert(contentsOf: try lag.layers(at: eventNumber, head: head, transaction, file, histories), at: 0)
        }
        return Snapshot(
            eventNumber: eventNumber, schema: schema, transaction: transaction, tables: file.tables,
            histories: histories,
            layers: stack, statistics: statistics, shapes: shapes, verifiedPages: verifiedPages,
            others: schema.model.views.isEmpty ? nil : OtherStates(source: self, head: head, newest: newest),
            hasStrayPairs: hasStrayPairs.load(ordering: .relaxed))
    }
}

/// Makes snapshots of other states in the read transaction of a snapshot.
struct OtherStates {
    let source: SnapshotSource
    /// The state of the tables.
    let head: EventNumber
    let newest: SchemaHistory

    /// The state at an event, through the newest model or a given one.
    ///
    /// - Throws: `historyDropped`, `corrupt`.
    func snapshot(
        at eventNumber: EventNumber, through schema: Schema? = nil, _ transaction: ReadTransaction
    ) throws -> Snapshot {
        try source.snapshot(at: eventNumber, layers: [], through: schema, transaction, head, newest)
    }
}
