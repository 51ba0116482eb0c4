import LMDB
import StrataModel

// Links whose truth is a pair.
extension Projector {
    private func currentPair(_ key: PairKey, _ transaction: ReadTransaction) throws -> PairState? {
        if let written = writtenPairs[key] { return written }
        return try StoreKey.withPair(key) { bytes in
            try transaction.get(tables.pairs, bytes).map { value throws(CorruptRecord) in try PairState(value) }
        }
    }

    mutating func link(
        _ event: PairEvent, _ eventNumber: EventNumber, _ transaction: ReadTransaction
    ) throws {
        guard try currentPair(event.key, transaction) == nil else { throw disagreement(event) }
        try watch(event.key, before: nil)
        try writePair(event.key, PairState(revision: eventNumber, positions: event.positions))
        for entry in links.entries(of: event.key, event.positions) {
            putLink(entry)
            batch.add(1, to: .members(entry.link, owner: entry.owner))
        }
    }

    mutating func unlink(
        _ event: PairEvent, _ eventNumber: EventNumber, _ transaction: ReadTransaction
    ) throws {
        guard let state = try currentPair(event.key, transaction) else { throw disagreement(event) }
        observer?.willApply(event, eventNumber, to: state)
        try watch(event.key, before: state.positions)
        StoreKey.withPair(event.key) { batch.remove(.pairs, key: $0) }
        writtenPairs[event.key] = .some(nil)
        for entry in links.entries(of: event.key, state.positions) {
            removeLink(entry)
            batch.add(-1, to: .members(entry.link, owner: entry.owner))
        }
    }

    mutating func move(
        _ event: PairEvent, _ eventNumber: EventNumber, _ transaction: ReadTransaction
    ) throws {
        guard let state = try currentPair(event.key, transaction) else { throw disagreement(event) }
        observer?.willApply(event, eventNumber, to: state)
        for entry in links.entries(of: event.key, state.positions) { removeLink(entry) }
        for entry in links.entries(of: event.key, event.positions) { putLink(entry) }
        try writePair(event.key, PairState(revision: eventNumber, positions: event.positions))
    }

    private mutating func writePair(_ key: PairKey, _ state: PairState) throws {
        StoreKey.withPair(key) { bytes in state.withBytes { batch.put(.pairs, key: bytes, value: $0) } }
        writtenPairs[key] = state
    }

    private mutating func putLink(_ entry: PairLink) {
        StoreKey.withLink(entry.link, owner: entry.owner, position: entry.position, member: entry.member) {
            batch.put(.links, key: $0, value: .empty)
        }
    }

    private mutating func removeLink(_ entry: PairLink) {
        StoreKey.withLink(entry.link, owner: entry.owner, position: entry.position, member: entry.member) {
            batch.remove(.links, key: $0)
        }
    }

    private func disagreement(_ event: PairEvent) -> StrataError {
        StrataError(
            .corrupt, "The log changes a link that the views do not have.",
            context: histories.context(of: event.key.source))
    }
}
