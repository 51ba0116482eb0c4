import LMDB
package import StrataModel

/// A state of the graph that can be read again at any time: an event number, and unsaved changes above it.
package struct StoreState: Sendable {
    package let eventNumber: EventNumber
    /// Bottom to top.
    package let layers: [Layer]
    /// Keeps the history that reading it again needs.
    private let pin: StatePin?

    package init(eventNumber: EventNumber, layers: [Layer] = [], pin: StatePin? = nil) {
        self.eventNumber = eventNumber
        self.pin = pin
        self.layers = layers.filter { !$0.isEmpty }
    }

    /// Whether both are known to be the same state without comparing rows.
    package func isSame(as other: StoreState) -> Bool {
        eventNumber == other.eventNumber && layers.count == other.layers.count
            && zip(layers, other.layers).allSatisfy { $0 === $1 }
    }
}

/// A superset of the rows and pairs that differ between two states.
package struct StateDifference: Sendable {
    package var rows: Set<ObjectID> = []
    package var pairs: Set<PairKey> = []
    /// Whether values were erased between the states: the earlier one no longer has all values that it had.
    package private(set) var hasErasures = false

    package var isEmpty: Bool { rows.isEmpty && pairs.isEmpty }

    /// Adds the changes of layers that only one of the two states has.
    mutating func add(_ old: [Layer], _ new: [Layer]) {
        let shared = zip(old, new).prefix { $0 === $1 }.count
        for layer in old.dropFirst(shared) + new.dropFirst(shared) {
            rows.formUnion(layer.rows.ids)
            pairs.formUnion(layer.pairs.keys)
        }
    }

    mutating func add(_ event: EventView) throws {
        if event.header.kind.isOnRow {
            rows.insert(event.header.object)
        } else if event.header.kind.isOnPair {
            pairs.insert(try event.pair().key)
        } else if try event.erasure() != nil {
            hasErasures = true
        }
    }
}
