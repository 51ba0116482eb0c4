// Appends a transaction to the log and projects it into the views (`LogWriter`).

import Foundation
import Locking
import LMDB
import StrataModel

/// The data that a transaction records beside its events.
struct TransactionDescription: Sendable {
    var id: UUID
    var author: String?
    var contextName: String?
    var metadata: [String: String] = [:]
    var touched: [TransactionRecord.Touched] = []
}

/// Appends a transaction to the log and has the projector make views of it, in one write transaction.
enum LogWriter {
    /// With fewer events the work is done sooner than a second thread starts.
    private static let fewestBeside = 1000

    /// Whether a write transaction has written anything so far.
    enum Written { case nothing, something }

    /// What is called with a transaction that is sealed: `frame` makes the bytes that others get of it, and `write`, which
    /// must be called, writes its events, its record and its views.
    typealias Sealed = (
        UnwrittenTransaction, _ frame: () throws -> EncodedFrame, _ write: () throws -> Void
    ) throws -> Void

    /// Appends the events and the transaction's record, and projects them.
    ///
    /// For a large save two threads share the work: one makes the views, the other seals the events and appends them,
    /// and the first to finish helps with the sealing. If the projector reads what this transaction writes, only the
    /// sealing is shared.
    ///
    /// - Parameters:
    ///   - head: moves to the end of the new transaction.
    ///   - written: if nothing was written, the views can be made while the log is appended to.
    ///   - sealed: is called when nothing but writing is left to do.
    static func append(
        _ events: borrowing EventList, _ description: TransactionDescription, after head: inout LogHead,
        _ file: StoreFile, _ transaction: WriteTransaction, _ projector: inout Projector,
        written: Written = .something, sealed: Sealed = { try $2() }
    ) throws -> TransactionRecord {
        var record = makeRecord(events, description, head, file)
        let encoded = record.encoded()
        var chain = EventDigest.Chain(previous: head.digest)
        encoded.withUnsafeBytes { chain.begin($0) }
        let first = record.firstEvent
        let sealing = SealingWork(
            count: events.count, packs: events.count >= file.tables.packing.fewestInTransaction)
        defer { projector.batch.endMakingGroups(transaction) }
        // The number of events that the log has already.
        var logged = 0
        if written == .nothing, events.hasRowsBefore, events.count >= fewestBeside {
            // Pages on disk stay unchanged until the transaction ends. The projector reads nothing through the
            // transaction, and of an event nothing that sealing changes.
            try BackgroundThread.run("strata.views") {
                try project(events, from: first, transaction, &projector)
                projector.batch.beginMakingGroups(transaction)
                while events.seal(.last, of: sealing) != nil {}
            } beside: {
                while let stretch = events.seal(.first, of: sealing) {
                    try write(events, stretch, of: sealing, from: first, transaction, file)
                    for index in stretch { chain.add(events.event(index)) }
                    logged = stretch.upperBound
                }
            }
        } else {
            try seal(events, sealing)
            try project(events, from: first, transaction, &projector)
            if written == .nothing { projector.batch.beginMakingGroups(transaction) }
        }
        for index in logged..<events.count { chain.add(events.event(index)) }
        record.digest = chain.finish()
        if let newest = projector.histories.newest { head.modelVersion = newest.version }
        head.event = record.lastEvent
        head.transaction = record.number
        head.microseconds = record.microseconds
        head.digest = record.digest
        let (end, sealedRecord, recordBytes) = (head, record, record.encoded())
        let (histories, countsBlobs) = (projector.histories, projector.batch.countsBlobs)
        try sealed(UnwrittenTransaction(head: end, isCertain: !projector.batch.hasDeclaredChanges)) {
            let hasBlobs = try countsBlobs || NamedBlobs.isAnyKnown(transaction, file.tables)
            return try frame(events, sealedRecord, recordBytes, hasBlobs ? histories : nil)
        } _: {
            try write(events, logged..<events.count, of: sealing, from: first, transaction, file)
            if sealing.packs { try file.noteBlocks(transaction) }
            try recordBytes.withUnsafeBytes {
                try transaction.append(file.tables.transactions, end.transaction.rawValue, $0)
            }
            projector.enter(sealedRecord)
            try projector.flush(transaction)
            try file.writeHead(end, transaction)
        }
        return record
    }

    /// - Parameter histories: to find the large values that the events name; nil if there are none.
    private static func frame(
        _ events: borrowing EventList, _ record: TransactionRecord, _ recordBytes: [UInt8], _ histories: SchemaHistory?
    ) throws -> EncodedFrame {
        var digests: [Data] = []
        if let histories {
            var named = NamedBlobs(histories: histories)
            for index in 0..<events.count {
                try named.add(EventView(sealed: events.event(index)), record.firstEvent.advanced(by: index))
            }
            digests = named.digests
        }
        return recordBytes.withUnsafeBytes { recordBytes in
            EncodedFrame(record, recordBytes, digests) { writer in
                for index in 0..<events.count {
                    let event = events.event(index)
                    writer.append(littleEndian: UInt32(event.count))
                    writer.append(event)
                }
            }
        }
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
        _ events: borrowing EventList, _ range: Range<Int>, of sealing: SealingWork, from first: EventNumber,
        _ transaction: WriteTransaction, _ file: StoreFile
    ) throws {
        if range.isEmpty { return }
        let log = try transaction.writeCursor(file.tables.events)
        defer { log.close() }
        let blocks = sealing.takeBlocks(in: range)
        // The index after the last block.
        var next = range.lowerBound
        for index in range {
            if let block = blocks[index] {
                try block.block.withUnsafeBytes { try log.append(first.rawValue + UInt64(index), $0) }
                next = block.range.upperBound
            } else if index >= next {
                try log.append(first.rawValue + UInt64(index), events.event(index))
            }
        }
    }

    /// Must run before anything is written to pages that this transaction has written: the rows read by the check must
    /// still be where they were.
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
        _ events: borrowing EventList, _ description: TransactionDescription, _ head: LogHead, _ file: StoreFile
    ) -> TransactionRecord {
        let now = Int64(file.options.clock().timeIntervalSince1970 * 1_000_000)
        return TransactionRecord(
            number: TransactionNumber(rawValue: head.transaction.rawValue + 1), id: description.id,
            firstEvent: head.event.advanced(by: 1), eventCount: events.count, modelVersion: head.modelVersion,
            // Commit times never go back, whatever the clock says.
            microseconds: max(now, head.microseconds + 1), processID: getpid(), author: description.author,
            contextName: description.contextName, processName: ProcessInfo.processInfo.processName,
            metadata: description.metadata, touched: description.touched)
    }

    /// Appends a transaction of one maintenance event.
    static func append(
        _ record: MaintenanceRecord, _ description: TransactionDescription, _ file: StoreFile,
        _ transaction: WriteTransaction
    ) throws -> TransactionRecord {
        var head = try file.readHead(transaction)
        let histories = try file.histories(for: head, transaction)
        var projector = Projector(tables: file.tables, histories: histories, tracking: .independent)
        var events = EventList(transaction: TransactionNumber(rawValue: head.transaction.rawValue + 1))
        events.append(.maintenance, ObjectID(rawValue: 0), previous: .zero, try record.encoded())
        return try append(events, description, after: &head, file, transaction, &projector)
    }
}
