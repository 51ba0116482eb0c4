import LMDB
import StrataModel

/// Walks the log and accepts only records that follow from those before.
struct SoundWalk {
    let transaction: ReadTransaction
    let tables: StoreTables
    private(set) var eventNumber = TransactionNumber.zero
    private(set) var last: TransactionRecord?
    private var digest = LogHead.start.digest

    init(transaction: ReadTransaction, tables: StoreTables) {
        self.transaction = transaction
        self.tables = tables
    }

    /// - Returns: false after the last transaction.
    mutating func step() throws -> Bool {
        let next = TransactionNumber(rawValue: eventNumber.rawValue + 1)
        guard let bytes = try transaction.get(tables.transactions, next.rawValue) else { return false }
        let record = try TransactionRecord(bytes, number: next)
        guard record.eventCount > 0, record.firstEvent.rawValue == (last?.lastEvent.rawValue ?? 0) + 1 else {
            throw CorruptRecord("its events do not follow those before", at: 56)
        }
        var chain = EventDigest.Chain(previous: digest, record: bytes)
        for number in record.firstEvent.rawValue...record.lastEvent.rawValue {
            guard let event = try transaction.get(tables.events, number) else {
                throw StrataError(.corrupt, "event \(number) is missing")
            }
            do {
                try check(event, of: record)
            } catch {
                throw StrataError(.corrupt, "event \(number): \(Self.reason(error))")
            }
            chain.add(event)
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

    private func check(_ bytes: UnsafeRawBufferPointer, of record: TransactionRecord) throws {
        let event = try EventView(bytes)
        guard event.header.transaction == record.number else {
            throw CorruptRecord("it says another transaction", at: 0)
        }
        guard EventDigest.matches(event) else { throw CorruptRecord("its payload does not match its digest", at: 0) }
        if event.header.kind == .modelInstalled { _ = try SchemaRecord.schema(from: event.installedModel().record) }
    }
}
