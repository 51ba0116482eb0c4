import Foundation
import LMDB
import StrataModel

// Mends a log whose transaction records are lost in part. A copy without free pages has them at its end, so that they
// are lost first when such a file is cut.
extension LogCarving {
    private static let note = "The record of this transaction is lost; author and time are not known."

    /// The log from its beginning as far as its events exist. The record of a transaction that is lost is made up
    /// by its events; the digests that follow upon it are computed again.
    func mended() throws -> Assembled {
        var log = Assembled()
        var (digest, microseconds) = (LogHead.start.digest, Int64.min)
        // After a record that was made up, earlier digests prove nothing.
        var isChained = true
        var model = ModelVersion(rawValue: 0)
        var next: UInt64 = 1
        var number: UInt64 = 1
        while true {
            var taken: (bytes: [UInt8], events: [(UInt64, [UInt8])], record: TransactionRecord)?
            if let found = try recorded(number, from: next, after: digest, isChained) {
                taken = found
            } else if let events = try wholeTransaction(number, from: next) {
                let record = try madeUp(number, events, after: microseconds, model)
                taken = ([], events, record)
                log.notes.madeUp.append(record.number)
            }
            guard var taken else { break }
            if taken.bytes.isEmpty || !isChained {
                isChained = false
                (taken.bytes, taken.record.digest) = Self.sealed(taken.record, taken.events, after: digest)
            }
            (digest, microseconds, model) = (
                taken.record.digest, taken.record.microseconds, taken.record.modelVersion
            )
            log.records.append((number, taken.bytes))
            log.events += taken.events
            next = taken.record.lastEvent.rawValue + 1
            number += 1
        }
        log.notes.end = EventNumber(rawValue: next - 1)
        return log
    }

    /// A transaction whose record and events are all there.
    private func recorded(
        _ number: UInt64, from next: UInt64, after digest: [UInt8], _ isChained: Bool
    ) throws -> (bytes: [UInt8], events: [(UInt64, [UInt8])], record: TransactionRecord)? {
        guard let found = try transaction(number, after: digest), isChained ? found.follows : found.isWhole else {
            return nil
        }
        let record = try found.bytes.withUnsafeBytes {
            try TransactionRecord($0, number: TransactionNumber(rawValue: number))
        }
        return record.firstEvent.rawValue == next ? (found.bytes, found.events, record) : nil
    }

    /// The events of a transaction whose record is lost; nil if it is not known that they are all of them.
    private func wholeTransaction(_ number: UInt64, from first: UInt64) throws -> [(UInt64, [UInt8])]? {
        var events: [(UInt64, [UInt8])] = []
        var next = first
        while let event = try event(next, of: number) {
            events.append((next, event))
            next += 1
        }
        guard !events.isEmpty else { return nil }
        let isLast = try event(next, of: number + 1) != nil || head?.event.rawValue == next - 1
        return isLast ? events : nil
    }

    private func madeUp(
        _ number: UInt64, _ events: [(UInt64, [UInt8])], after microseconds: Int64, _ model: ModelVersion
    ) throws -> TransactionRecord {
        var touched = TouchedSet()
        var model = model
        for (_, bytes) in events {
            try bytes.withUnsafeBytes { try Self.note(try EventView($0), in: &touched, &model) }
        }
        let id = transactionIDs[number] ?? UUID()
        // The time of the first known event is after the store was made.
        let earliest = microseconds == .min ? header?.createdMicroseconds ?? 0 : microseconds + 1
        let isNewest = head?.transaction.rawValue == number
        return TransactionRecord(
            number: TransactionNumber(rawValue: number), id: id,
            firstEvent: EventNumber(rawValue: events[0].0), eventCount: events.count, modelVersion: model,
            microseconds: max(earliest, isNewest ? head?.microseconds ?? 0 : 0), processID: 0, author: nil,
            contextName: nil, processName: nil, metadata: ["strata.doctor": Self.note], touched: touched.records)
    }

    private static func note(
        _ event: EventView, in touched: inout TouchedSet, _ model: inout ModelVersion
    ) throws {
        let (kind, entity) = (event.header.kind, event.header.object.entityID)
        // Without its payload an event still has its kind, but not the properties that it changed.
        let isRedacted = event.isBare
        switch kind {
        case .inserted, .deleted: touched.add(entity, kind)
        case .updated:
            touched.add(entity, kind)
            if !isRedacted { for change in try event.changes() { touched.add(entity, kind, change.property) } }
        case .linked, .unlinked, .moved:
            guard !isRedacted else { return touched.add(entity, kind) }
            let pair = try event.pair().key
            touched.add(pair.source.entityID, kind, pair.property)
            touched.add(pair.target.entityID, kind, pair.property)
        case .modelInstalled: if !isRedacted { model = try event.installedModel().version }
        case .maintenance: break
        }
    }

    /// The record with the digest that follows from another.
    private static func sealed(
        _ record: TransactionRecord, _ events: [(UInt64, [UInt8])], after digest: [UInt8]
    ) -> (bytes: [UInt8], digest: [UInt8]) {
        var record = record
        var chain = EventDigest.Chain(previous: digest)
        record.encoded().withUnsafeBytes { chain.begin($0) }
        for (_, event) in events { event.withUnsafeBytes { chain.add($0) } }
        record.digest = chain.finish()
        return (record.encoded(), record.digest)
    }

    /// Calls `body` with each event after the log that was assembled, in order, and its number.
    func forEachEvent(after end: EventNumber, _ body: (EventView, EventNumber) throws -> Void) rethrows {
        for number in events.keys.filter({ $0 > end.rawValue }).sorted() {
            // Of several the one in the newest transaction; a killed writer may have left another.
            guard let bytes = newestEvent(number) else { continue }
            try bytes.withUnsafeBytes { record in
                guard let event = try? EventView(record) else { return }
                try body(event, EventNumber(rawValue: number))
            }
        }
    }

    private func newestEvent(_ number: UInt64) -> [UInt8]? {
        var newest: (transaction: TransactionNumber, bytes: [UInt8])?
        for event in events[number] ?? [] {
            guard let bytes = bytes(of: event) else { continue }
            let header = bytes.withUnsafeBytes { try? EventView($0).header }
            guard let header, header.transaction >= newest?.transaction ?? .zero else { continue }
            if newest?.transaction == header.transaction, !header.flags.isReduced { continue }
            newest = (header.transaction, bytes)
        }
        return newest?.bytes
    }
}
