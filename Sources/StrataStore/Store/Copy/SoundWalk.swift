import LMDB
import StrataModel

/// Walks the log and accepts only records that follow from those before.
struct SoundWalk {
    let transaction: ReadTransaction
    let tables: StoreTables
    private(set) var eventNumber = TransactionNumber.zero
    private(set) var last: TransactionRecord?
    /// The beginning of the kept history, if the events kept up to it are sound.
    private(set) var baseline: LogBaseline?
    private var digest = LogHead.start.digest

    init(transaction: ReadTransaction, tables: StoreTables) {
        self.transaction = transaction
        self.tables = tables
    }

    /// Checks the events kept up to the baseline, if there is one; call it before the first step.
    mutating func begin() throws {
        guard let found = try LogBaseline.read(transaction, tables) else { return }
        var sum = EventSum()
        var count: UInt64 = 0
        try LogReader(transaction, tables, SchemaHistory([])).events(
            from: EventNumber(rawValue: 1), through: found.event, .whole
        ) { event, number in
            sum.add(event.record, number)
            count += 1
            do {
                try Self.check(event)
            } catch {
                throw StrataError(.corrupt, "event \(number): \(Self.reason(error))")
            }
            return true
        }
        guard sum == found.sum, count == found.keptCount else {
            throw CorruptRecord("the events up to it are not those that it was made with", at: 0)
        }
        (baseline, digest, eventNumber) = (found, found.head.digest, found.transaction)
    }

    /// The last event that is sound.
    var end: EventNumber { last?.lastEvent ?? baseline?.event ?? .zero }

    /// - Returns: false after the last transaction.
    mutating func step() throws -> Bool {
        let next = TransactionNumber(rawValue: eventNumber.rawValue + 1)
        guard let bytes = try transaction.get(tables.transactions, next.rawValue) else { return false }
        let record = try TransactionRecord(bytes, number: next)
        guard record.eventCount > 0, record.firstEvent.rawValue == end.rawValue + 1 else {
            throw CorruptRecord("its events do not follow those before", at: 56)
        }
        var chain = EventDigest.Chain(previous: digest, record: bytes)
        try transaction.withCursor(tables.events) { cursor in
            var walk = EventWalk(cursor, .whole)
            defer { walk.close() }
            var found = try walk.seek(atOrAfter: record.firstEvent.rawValue)
            for number in record.firstEvent.rawValue...record.lastEvent.rawValue {
                guard found, walk.number == number else {
                    throw StrataError(.corrupt, "event \(number) is missing")
                }
                do {
                    try check(walk.view(), of: record)
                } catch {
                    throw StrataError(.corrupt, "event \(number): \(Self.reason(error))")
                }
                chain.add(walk.record)
                if number < record.lastEvent.rawValue { found = try walk.next() }
            }
        }
        // The digest of a record that lost texts is that of the record as it was.
        guard chain.finish() == record.digest || record.isErased else {
            throw CorruptRecord("its digest does not follow from its events and the digest before", at: 8)
        }
        digest = record.digest
        last = record
        eventNumber = next
        return true
    }

    private static func reason(_ error: any Error) -> String {
        (error as? CorruptRecord).map { "\($0.reason)" } ?? "\(error)"
    }

    private func check(_ event: EventView, of record: TransactionRecord) throws {
        guard event.header.transaction == record.number else {
            throw CorruptRecord("it says another transaction", at: 0)
        }
        try Self.check(event)
    }

    private static func check(_ event: EventView) throws {
        guard EventDigest.matches(event) else { throw CorruptRecord("its payload does not match its digest", at: 0) }
        if event.header.kind == .modelInstalled { _ = try SchemaRecord.schema(from: event.installedModel().record) }
    }
}
