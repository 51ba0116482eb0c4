import LMDB
import StrataModel

// Verifies a truncated history: the kept events before the cut, and the record that covers them.
extension Verifier {
    /// Checks the record of the cut, and the events that are kept up to it.
    func checkBaseline(_ head: LogHead) throws {
        guard let baseline = try readBaseline(head) else { return }
        log.baseline = baseline
        var counter = ProgressCounter("reading the baseline", total: Int(clamping: baseline.keptCount), progress)
        var sum = EventSum()
        var count: UInt64 = 0
        try transaction.withCursor(tables.events) { cursor in
            var walk = EventWalk(cursor, .whole)
            defer { walk.close() }
            var found = try move(&walk) { try $0.begin() }
            while found {
                guard walk.number != .max else {
                    note(.event, "key \(walk.key.hexadecimal)", "it is no event's number")
                    found = try move(&walk) { try $0.next() }
                    continue
                }
                let number = EventNumber(rawValue: walk.number)
                guard number <= baseline.event else { return }
                counter.step()
                count += 1
                if walk.record.count >= EventHeader.size { sum.add(walk.record, number) }
                check(walk, number, of: nil)
                found = try move(&walk) { try $0.next() }
            }
        }
        if count != baseline.keptCount {
            note(
                .event, "baseline",
                "the log keeps \(CountText.of(Int(count), "event")) up to it, it says \(baseline.keptCount)")
            log.isReplayable = false
        } else if sum != baseline.sum {
            note(.event, "baseline", "the events that are kept up to it are not those that it was made with")
        }
        let newest = log.models.last?.version ?? ModelVersion(rawValue: 0)
        if newest != baseline.head.modelVersion {
            note(
                .head, "baseline",
                "it says model \(baseline.head.modelVersion.rawValue), the newest up to it is \(newest.rawValue)")
        }
        try checkDroppedTransactions(baseline)
    }

    private func readBaseline(_ head: LogHead) throws -> LogBaseline? {
        let baseline = try LogBaseline.read(transaction, tables)
        let first = baseline.map { $0.event.advanced(by: 1) } ?? EventNumber(rawValue: 1)
        if head.firstKeptEvent != first {
            note(.head, "head", "it says that events are kept from \(head.firstKeptEvent), the baseline \(first)")
        }
        if let header = try StoreFile.meta("header", tables, transaction).map({ try StoreHeader($0) }),
            header.hasBaseline != (baseline != nil)
        {
            note(
                .head, "header", baseline == nil ? "it says that there is a baseline" : "it does not say of a baseline")
        }
        return baseline
    }

    private func checkDroppedTransactions(_ baseline: LogBaseline) throws {
        try transaction.withCursor(tables.transactions) { cursor in
            guard try cursor.first(), cursor.key.count == 8 else { return }
            let number = StoreKey.objectID(cursor.key, at: 0).rawValue
            if number <= baseline.transaction.rawValue {
                note(.transaction, "transaction \(number)", "it is before the baseline")
            }
        }
    }
}
