package import Foundation
import LMDB
package import StrataModel

/// The direction of a walk along the log.
package enum LogOrder: Sendable, Hashable {
    case oldestFirst
    case newestFirst
}

extension Store {
    /// Runs `body` with a reader of the log and its end.
    func readLog<R>(_ body: (LogReader, LogHead) throws -> R) throws -> R {
        try checkOpen()
        return try file.read { transaction, _, histories in
            let head = try file.readHead(transaction)
            return try body(LogReader(transaction, file.tables, histories), head)
        }
    }

    /// The names of the entities, properties and indexes that events name by number, including those that have left the
    /// model.
    package func recordedNames() throws -> RecordedNames {
        try readLog { reader, _ in RecordedNames(reader.histories) }
    }

    /// The numbers of properties that mean one property in the models of the store.
    package func propertyLineage() throws -> PropertyLineage {
        try readLog { reader, _ in reader.histories.propertyLineage }
    }

    // MARK: Transactions

    /// The beginning of the kept history; nil if it was never truncated.
    package func baseline() throws -> LogBaseline? { try readLog { reader, _ in try reader.baseline() } }

    /// At most `limit` transactions after one, in the order of the log.
    ///
    /// - Parameter after: zero begins with the first transaction that is kept.
    /// - Throws: `historyDropped` if transactions after that one are no longer kept.
    package func transactions(after: TransactionNumber = .zero, limit: Int) throws -> [TransactionRecord] {
        try readLog { reader, head in
            var after = after
            if let baseline = try reader.baseline(), after < baseline.transaction {
                guard after == .zero else { throw baseline.refusal(nil) }
                after = baseline.transaction
            }
            guard after < head.transaction, limit > 0 else { return [] }
            let count = UInt64(min(limit, Int(clamping: head.transaction.rawValue - after.rawValue)))
            return try (1...count).compactMap {
                try reader.transaction(TransactionNumber(rawValue: after.rawValue + $0), in: head)
            }
        }
    }

    /// At most `limit` transactions before one, newest first; nil begins at the end of the log.
    package func transactions(before: TransactionNumber?, limit: Int) throws -> [TransactionRecord] {
        try readLog { reader, head in
            let end = min(before?.rawValue ?? .max, head.transaction.rawValue + 1)
            guard end > 1, limit > 0 else { return [] }
            let first = (try reader.baseline()?.transaction.rawValue ?? 0) + 1
            guard end > first else { return [] }
            let count = min(UInt64(limit), end - first)
            return try (1...count).compactMap {
                try reader.transaction(TransactionNumber(rawValue: end - $0), in: head)
            }
        }
    }

    /// - Throws: `historyDropped` if transactions after this one are no longer all kept.
    package func checkKept(after transaction: TransactionNumber) throws {
        if let baseline = try baseline(), transaction < baseline.transaction { throw baseline.refusal(nil) }
    }

    /// - Throws: `historyDropped` if the state at an event can no longer be read.
    package func checkKept(at eventNumber: EventNumber) throws {
        try readLog { reader, head in try reader.checkKept(from: eventNumber.advanced(by: 1), head) }
    }

    /// The number of the transaction that an event belongs to; the one of the baseline for an event up to it.
    package func lastTransaction(upTo event: EventNumber) throws -> TransactionNumber {
        try transaction(containing: event)?.number ?? baseline()?.transaction ?? .zero
    }

    /// Nil if the log has no such transaction, or no longer.
    package func transaction(_ number: TransactionNumber) throws -> TransactionRecord? {
        try readLog { reader, head in
            guard number > .zero, number <= head.transaction else { return nil }
            return try reader.transaction(number, in: head)
        }
    }

    /// The digest of a transaction, also of the last one that history was dropped up to. Nil if the log has no such
    /// transaction, or no longer.
    package func digest(of number: TransactionNumber) throws -> [UInt8]? {
        try transaction(number)?.digest ?? baseline()?.digest(of: number)
    }

    /// The transaction that contains an event; nil if the log has no such event, or if its transaction is no longer
    /// kept.
    ///
    /// - Complexity: O(log n) in the transactions.
    package func transaction(containing event: EventNumber) throws -> TransactionRecord? {
        try readLog { reader, head in
            guard event > .zero, event <= head.event, event >= head.firstKeptEvent else { return nil }
            return try reader.lastTransaction(upTo: head.transaction) { $0.firstEvent <= event }
        }
    }

    /// The last event of the newest transaction that is not after `date`; zero if all are.
    ///
    /// - Throws: `historyDropped` if that transaction was before the baseline.
    /// - Complexity: O(log n) in the transactions, because commit times never go back.
    package func eventNumber(at date: Date) throws -> EventNumber {
        let exact = (date.timeIntervalSince1970 * 1_000_000).rounded()
        let microseconds = exact < 9e18 ? (exact > -9e18 ? Int64(exact) : .min) : .max
        return try readLog { reader, head in
            if head.microseconds <= microseconds { return head.event }
            let last = try reader.lastTransaction(upTo: head.transaction) { $0.microseconds <= microseconds }
            if let last { return last.lastEvent }
            guard let baseline = try reader.baseline() else { return .zero }
            guard baseline.head.microseconds <= microseconds else { throw baseline.refusal(nil) }
            return baseline.event
        }
    }

    /// The last event of a transaction.
    ///
    /// - Throws: `futureEvent` if the log has no such transaction, `historyDropped` if it is before the baseline.
    package func eventNumber(of transaction: TransactionNumber) throws -> EventNumber {
        if let baseline = try baseline(), transaction <= baseline.transaction {
            guard transaction == baseline.transaction else { throw baseline.refusal(nil) }
            return baseline.event
        }
        if transaction == .zero { return .zero }
        guard let record = try self.transaction(transaction) else {
            throw StrataError(.futureEvent, "The log has no transaction \(transaction).", context: .init(path: path))
        }
        return record.lastEvent
    }

    // MARK: Events

    /// Calls `body` with the events from `first` through `last`, or to the end of the log, until it returns false.
    ///
    /// - Throws: `corrupt`, `historyDropped`, and what `body` throws.
    /// - Complexity: a walk along the log; newest first takes a look-up of about a microsecond for each event.
    package func events(
        from first: EventNumber, through last: EventNumber, order: LogOrder = .oldestFirst,
        _ body: (RecordedEvent) throws -> Bool
    ) throws {
        try readLog { reader, head in
            let start = max(first, EventNumber(rawValue: 1))
            let end = min(last, head.event)
            guard start <= end else { return }
            try reader.checkKept(from: start, head)
            guard order == .newestFirst else {
                return try reader.events(from: start, through: end) { event, eventNumber in
                    try body(RecordedEvent(event, eventNumber, reader.histories))
                }
            }
            for number in stride(from: end.rawValue, through: start.rawValue, by: -1) {
                let eventNumber = EventNumber(rawValue: number)
                let event = try reader.event(eventNumber) { try RecordedEvent($0, eventNumber, reader.histories) }
                guard try body(event) else { return }
            }
        }
    }

    /// The event with every large before-image looked up, and the values of converted properties before their
    /// migration.
    package func resolved(_ event: RecordedEvent) throws -> RecordedEvent {
        try readLog { reader, _ in
            var formers = FormerValues(reader)
            return try formers.added(to: reader.resolved(event))
        }
    }

    /// All kept events on an object's row, newest first. Links whose truth is the pair are not among them; see
    /// `linkHistory(of:)`.
    ///
    /// - Parameter start: events up to this one are neither read nor returned.
    /// - Returns: no events for an object that never existed.
    /// - Complexity: a look-up for each event of the object after `start`, whatever the length of the log.
    package func history(of id: ObjectID, after start: EventNumber = .zero) throws -> [RecordedEvent] {
        try readLog { reader, _ in
            var events: [RecordedEvent] = []
            let first = max(start.advanced(by: 1), try reader.baseline()?.event.advanced(by: 1) ?? .zero)
            try reader.chain(from: try newestEvent(of: id, reader), of: id) { event, eventNumber in
                guard eventNumber >= first else { return false }
                events.append(try RecordedEvent(event, eventNumber, reader.histories))
                return true
            }
            return events
        }
    }

    func newestEvent(of id: ObjectID, _ reader: LogReader) throws -> EventNumber {
        if let row = try reader.transaction.get(file.tables.objects, id.rawValue) { return try StoredRow(row).revision }
        guard let value = try reader.transaction.get(file.tables.tombstones, id.rawValue) else { return .zero }
        return try Tombstone.eventNumber(value)
    }
}
