// The reading calls of a store: its head, and snapshots of present and past states.

import LMDB
package import StrataModel

extension Store {
    /// The end of the log.
    package func head() throws -> EventNumber {
        try checkOpen()
        return try file.read { _, head, _ in head }
    }

    /// The newest state that can be read through a model: the end of the log, or the last state before others installed
    /// a newer model.
    package func newestState(through schema: Schema) throws -> EventNumber {
        try checkOpen()
        return try file.read { transaction, head, newest in
            try file.newestState(through: schema, head, newest, transaction)
        }
    }

    /// Runs `body` with a snapshot of the state at `eventNumber`, with `layers` (bottom to top) above it.
    ///
    /// - Parameters:
    ///   - schema: the model to read through; nil is the newest. Through an older model the state is as it was under
    ///     that model, with its types.
    ///   - budget: what the read may take. With a budget, the read also ends when its task is cancelled.
    /// - Throws: `futureEvent`, `historyDropped`, `corrupt`, `modelChanged` if the state was written under a newer
    ///   model than `schema`, and what `body` throws.
    @inlinable
    package func read<R>(
        at eventNumber: EventNumber, layers: [Layer] = [], through schema: Schema? = nil,
        monitor: QueryMonitor? = nil, budget: RequestBudget? = nil, _ body: (Snapshot) throws -> R
    ) throws -> R {
        var result: R?
        try withSnapshot(at: eventNumber, layers: layers, through: schema, monitor: monitor, budget: budget) {
            result = try body($0)
        }
        guard let result else { preconditionFailure("A read ended without having run.") }
        return result
    }

    /// The part of `read` that does not depend on the type of the result.
    package func withSnapshot(
        at eventNumber: EventNumber, layers: [Layer], through schema: Schema?, monitor: QueryMonitor?,
        budget: RequestBudget?, _ body: (Snapshot) throws -> Void
    ) throws {
        try checkOpen()
        try file.read { transaction, head, newest in
            let source = ConversionSource(self, transaction, head, newest)
            let snapshot = try snapshots.snapshot(
                at: eventNumber, layers: try self.layers(layers, at: eventNumber, through: schema, source),
                through: schema, transaction, head, newest)
            if monitor != nil || budget != nil { try snapshot.limit(budget, monitor) }
            try body(snapshot)
        }
    }

    /// Runs `body` with the rows of the state at `eventNumber`, with `layers` above it. Cheaper than a `read` of rows
    /// only.
    ///
    /// - Throws: as `read`.
    package func readRows(
        at eventNumber: EventNumber, layers: [Layer], through schema: Schema, _ body: (RowReading) throws -> Void
    ) throws {
        try checkOpen()
        try file.read { transaction, head, newest in
            var snapshot: Snapshot?
            if eventNumber != head || !layers.isEmpty || newest.newest !== schema {
                let source = ConversionSource(self, transaction, head, newest)
                snapshot = try snapshots.snapshot(
                    at: eventNumber, layers: try self.layers(layers, at: eventNumber, through: schema, source),
                    through: schema, transaction, head, newest)
            }
            try body(RowReading(transaction, file.tables.objects, newest, snapshot))
        }
    }

    /// Runs `body` with snapshots of two states, and the objects that may differ between them.
    ///
    /// - Throws: as `read`.
    /// - Complexity: O(events between the two + objects in layers that they do not share).
    package func compare<R>(
        _ old: StoreState, _ new: StoreState, through schema: Schema,
        _ body: (Snapshot, Snapshot, StateDifference) throws -> R
    ) throws -> R {
        try checkOpen()
        return try file.read { transaction, head, newest in
            let source = ConversionSource(self, transaction, head, newest)
            func snapshot(_ state: StoreState) throws -> Snapshot {
                try snapshots.snapshot(
                    at: state.eventNumber,
                    layers: try layers(state.layers, at: state.eventNumber, through: schema, source),
                    through: schema, transaction, head, newest)
            }
            let (before, after) = (try snapshot(old), try snapshot(new))
            var difference = StateDifference()
            difference.add(old.layers, new.layers)
            let (first, last) = (min(old.eventNumber, new.eventNumber), max(old.eventNumber, new.eventNumber))
            let reader = LogReader(transaction, file.tables, after.histories)
            if first < last { try reader.checkKept(from: first.advanced(by: 1), file.readHead(transaction)) }
            try reader.events(from: first.advanced(by: 1), through: last) { event, _ in
                try difference.add(event)
                return true
            }
            return try body(before, after, difference)
        }
    }

    /// The model that was the newest at an event.
    package func schema(at eventNumber: EventNumber) throws -> Schema {
        try checkOpen()
        return try file.read { transaction, _, histories in
            guard let schema = try file.schema(at: eventNumber, histories, transaction) else {
                throw StrataError(.invalidModel, "The store has no model.", context: .init(path: path))
            }
            return schema
        }
    }
}
