import Foundation
import Locking
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
    /// With fewer events all is done sooner than a thread begins.
    private static let fewestBeside = 1000

    /// What has been written in a write transaction so far.
    enum Written { case nothing, something }

    /// Seals the events.
    ///
    /// What a large save takes here, views and digests, is done on two threads: one makes the views, the other seals the
    /// events and writes them, and whoever is done first helps with the sealing. Where the views read what is written here,
    /// only the sealing is.
    ///
    /// - Parameters:
    ///   - head: moves to the end of the new transaction.
    ///   - written: with nothing written, the events' views are made while the log is.
    static func append(
        _ events: borrowing EventList, _ description: TransactionDescription, after head: inout LogHead,
        _ store: StoreCore, _ transaction: WriteTransaction, _ projector: inout Projector,
        written: Written = .something
    ) throws -> TransactionRecord {
        var record = makeRecord(events, description, head, store)
        let encoded = record.encoded()
        var chain = EventDigest.Chain(previous: head.digest)
        encoded.withUnsafeBytes { chain.begin($0) }
        let first = record.firstEvent
        let sealing = SealingWork(count: events.count)
        if written == .nothing, events.hasRowsBefore, events.count >= fewestBeside {
            // Pages that a transaction found on disk stay as they are until its end, and the projector reads nothing
            // through the transaction itself, and of an event nothing that sealing it changes.
            var sealed = 0
            try BackgroundThread.run("strata.views") {
                try project(events, from: first, transaction, &projector)
                while events.seal(.last, of: sealing) != nil {}
            } beside: {
                while let stretch = events.seal(.first, of: sealing) {
                    try write(events, stretch, from: first, transaction, store, &chain)
                    sealed = stretch.upperBound
                }
            }
            try write(events, sealed..<events.count, from: first, transaction, store, &chain)
        } else {
            try seal(events, sealing)
            try project(events, from: first, transaction, &projector)
            try write(events, 0..<events.count, from: first, transaction, store, &chain)
        }
        record.digest = chain.finish()
        try write(record, transaction, store, &projector)
        if let newest = projector.histories.newest { head.modelVersion = newest.version }
        head.event = record.lastEvent
        head.transaction = record.number
        head.microseconds = record.microseconds
        head.digest = record.digest
        try store.writeHead(head, transaction)
        return record
    }

    private static func seal(_ events: borrowing EventList, _ sealing: SealingWork) throws {
        guard events.count >= fewestBeside else {
            while events.seal(.first, of: sealing) != nil {}
            return
        }
        try BackgroundThread.run("strata.seal") {
            while events.seal(.last, of: sealing) != nil {}
        } beside: {
            while events.seal(.first, of: sealing) != nil {}
        }
    }

    private static func write(
        _ events: borrowing EventList, _ range: Range<Int>, from first: EventNumber, _ transaction: WriteTransaction,
        _ store: StoreCore, _ chain: inout EventDigest.Chain
    ) throws {
        let log = try transaction.writeCursor(store.tables.events)
        defer { log.close() }
        for index in range {
            let event = events.event(index)
            try log.append(first.rawValue + UInt64(index), event)
            chain.add(event)
        }
    }

    /// Comes before a write to pages that were written before: the rows that the check has read still lie where they were.
    private static func project(
        _ events: borrowing EventList, from first: EventNumber, _ transaction: WriteTransaction,
        _ projector: inout Projector
    ) throws {
        for index in 0..<events.count {
            try projector.apply(
                EventView(sealed: events.event(index)), first.advanced(by: index), transaction,
                before: events.rowBefore(index))
        }
    }

    private static func makeRecord(
        _ events: borrowing EventList, _ description: TransactionDescription, _ head: LogHead, _ store: StoreCore
    ) -> TransactionRecord {
        let now = Int64(store.options.clock().timeIntervalSince1970 * 1_000_000)
        return TransactionRecord(
            number: TransactionNumber(rawValue: head.transaction.rawValue + 1), id: description.id,
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
            try transaction.append(store.tables.transactions, record.number.rawValue, $0)
        }
        projector.enter(record)
        try projector.flush(transaction)
    }
}
