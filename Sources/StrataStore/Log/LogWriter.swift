import Foundation
import LMDB
import StrataModel

/// What a transaction says of itself, besides its events.
struct TransactionDescription: Sendable {
    var id: UUID
    var author: String?
    var contextName: String?
    var metadata: [String: String] = [:]
    var touched: [TransactionRecord.Touched] = []
}

/// Appends a transaction to the log and lets the projector make views of it, all in one write transaction.
enum LogWriter {
    /// - Parameter head: moves to the end of the new transaction.
    static func append(
        _ events: borrowing EventList, _ description: TransactionDescription, after head: inout LogHead,
        _ store: StoreCore, _ transaction: WriteTransaction, _ projector: inout Projector
    ) throws -> TransactionRecord {
        var record = makeRecord(events, description, head, store)
        let encoded = record.encoded()
        var chain = encoded.withUnsafeBytes { EventDigest.Chain(previous: head.digest, record: $0) }
        var sequence = record.firstEvent
        let log = try transaction.writeCursor(store.tables.events)
        defer { log.close() }
        for index in 0..<events.count {
            let event = events.event(index)
            try log.append(sequence.rawValue, event)
            chain.add(event)
            try projector.apply(EventView(event), sequence, transaction)
            sequence = sequence.advanced(by: 1)
        }
        record.digest = chain.finish()
        try write(record, transaction, store, &projector)
        if let newest = projector.histories.newest { head.modelVersion = newest.version }
        head.event = record.lastEvent
        head.transaction = record.sequence
        head.microseconds = record.microseconds
        head.digest = record.digest
        try store.writeHead(head, transaction)
        return record
    }

    private static func makeRecord(
        _ events: borrowing EventList, _ description: TransactionDescription, _ head: LogHead, _ store: StoreCore
    ) -> TransactionRecord {
        let now = Int64(store.options.clock().timeIntervalSince1970 * 1_000_000)
        return TransactionRecord(
            sequence: TransactionSequence(rawValue: head.transaction.rawValue + 1), id: description.id,
            firstEvent: head.event.advanced(by: 1), eventCount: events.count, modelVersion: head.modelVersion,
            // Commit time never goes back, whatever the clock does.
            microseconds: max(now, head.microseconds + 1), processID: getpid(), author: description.author,
            contextName: description.contextName, processName: ProcessInfo.processInfo.processName,
            metadata: description.metadata, touched: description.touched)
    }

    private static func write(
        _ record: TransactionRecord, _ transaction: WriteTransaction, _ store: StoreCore, _ projector: inout Projector
    ) throws {
        try record.encoded().withUnsafeBytes {
            try transaction.append(store.tables.transactions, record.sequence.rawValue, $0)
        }
        projector.enter(record)
        try projector.flush(transaction)
    }
}
