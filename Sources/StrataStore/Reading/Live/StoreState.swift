import LMDB
package import StrataModel

/// A state of the graph that can be read again whenever it is wanted: a sequence, and unsaved changes above it.
package struct StoreState: Sendable {
    package let eventNumber: EventNumber
    /// Bottom to top.
    package let layers: [Layer]

    package init(eventNumber: EventNumber, layers: [Layer] = []) {
        self.eventNumber = eventNumber
        self.layers = layers.filter { !$0.isEmpty }
    }

    /// Whether it is known, without looking, that the other shows the same.
    package func isSame(as other: StoreState) -> Bool {
        eventNumber == other.eventNumber && layers.count == other.layers.count
            && zip(layers, other.layers).allSatisfy { $0 === $1 }
    }
}

/// What may differ between two states: sometimes too much, never too little.
package struct StateDifference: Sendable {
    package var rows: Set<ObjectID> = []
    package var pairs: Set<PairKey> = []

    package var isEmpty: Bool { rows.isEmpty && pairs.isEmpty }

    /// Layers that both states share at the bottom say the same in both.
    fileprivate mutating func add(_ old: [Layer], _ new: [Layer]) {
        let shared = zip(old, new).prefix { $0 === $1 }.count
        for layer in old.dropFirst(shared) + new.dropFirst(shared) {
            rows.formUnion(layer.rows.ids)
            pairs.formUnion(layer.pairs.keys)
        }
    }

    fileprivate mutating func add(_ event: EventView) throws {
        if event.header.kind.isOnRow {
            rows.insert(event.header.object)
        } else if event.header.kind.isOnPair {
            pairs.insert(try event.pair().key)
        }
    }
}

extension Store {
    /// Runs `body` over two states side by side, and what may differ between them.
    ///
    /// - Throws: as `read`.
    /// - Complexity: O(events between the two + objects in layers that they do not share).
    package func compare<R>(
        _ old: StoreState, _ new: StoreState, through schema: Schema,
        _ body: (Snapshot, Snapshot, StateDifference) throws -> R
    ) throws -> R {
        try checkOpen()
        return try core.read { transaction, head, newest in
            let before = try snapshot(
                at: old.eventNumber, layers: old.layers, through: schema, transaction, head, newest)
            let after = try snapshot(
                at: new.eventNumber, layers: new.layers, through: schema, transaction, head, newest)
            var difference = StateDifference()
            difference.add(old.layers, new.layers)
            let (first, last) = (min(old.eventNumber, new.eventNumber), max(old.eventNumber, new.eventNumber))
            try LogReader(transaction, core.tables, after.histories)
                .events(from: first.advanced(by: 1), through: last) { event, _ in
                    try difference.add(event)
                    return true
                }
            return try body(before, after, difference)
        }
    }
}
