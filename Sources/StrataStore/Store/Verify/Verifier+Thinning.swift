// Verifies thinned histories.

import StrataModel

extension Verifier {
    /// - Parameter record: nil for an event up to the baseline.
    func noteThinning(_ event: EventView, _ eventNumber: EventNumber, _ record: TransactionRecord?) throws {
        if event.header.flags.contains(.thinned) {
            log.thinnedEventCount += 1
            log.lastThinned[event.header.object.entityID] = eventNumber
        }
        if let thinning = try event.thinning() { log.thinnings.append((thinning, record)) }
    }

    /// Compares the events that lost values with the thinnings that the log records, and these with the store's own
    /// records.
    func checkThinnings() throws {
        var cuts: [EntityID: EventNumber] = [:]
        for (record, _) in log.thinnings {
            for entity in record.entities { cuts[entity] = max(cuts[entity] ?? .zero, record.cut) }
        }
        let names = RecordedNames(histories)
        for (entity, last) in log.lastThinned.sorted(by: { $0.key < $1.key }) where last > cuts[entity] ?? .zero {
            note(
                .event, "event \(last)",
                "it has lost values, and no thinning of the log says so of \(names.name(of: entity)) up to there")
        }
        let known = try ThinnedEntities.all(transaction, tables)
        log.hasUnfinishedThinning = known.values.contains { $0.isUnfinished }
        for entity in Set(cuts.keys).union(known.keys).sorted() {
            let (said, recorded) = (known[entity]?.cut ?? .zero, cuts[entity] ?? .zero)
            if said == recorded { continue }
            note(
                .state, "thinned",
                "it says that \(names.name(of: entity)) is thinned up to event \(said), the log says \(recorded)")
        }
    }
}
