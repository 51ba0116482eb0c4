package import Foundation
import LMDB
import Logging
package import StrataModel

/// Makes a store in an empty directory from the beginning of another store's log. The records are copied byte for byte,
/// so the chain of digests continues, and the views are made by replaying the log.
struct LogCopy {
    let source: Environment
    let tables: StoreTables
    /// The beginning of the source's kept history; nil if that is whole.
    let baseline: LogBaseline?
    /// The last transaction to copy; nil for none, or none after the baseline.
    let end: TransactionRecord?
    let header: StoreHeader
    let progress: ProgressHandler?

    /// Bytes of the log in one commit.
    private static let stepInBytes = 32 << 20

    /// The progress of the copy.
    private struct State {
        var transaction = TransactionNumber.zero
        var event = EventNumber.zero
        var histories = SchemaHistory([])
        var bookmarks = RecordedBookmarks()
        var hasErasedEvents = false
        var hasThinnedEvents = false
        var hasBlocks = false
        /// The erasures that the log records, encoded, by their events.
        var erasures: [EventNumber: [UInt8]] = [:]

        mutating func note(_ event: EventView, _ number: EventNumber) throws {
            if event.header.flags.contains(.redacted) { hasErasedEvents = true }
            if event.header.flags.contains(.thinned) { hasThinnedEvents = true }
            try bookmarks.note(event, number)
            if try event.erasure() != nil { erasures[number] = Array(event.payload) }
        }
    }

    /// - Throws: `corrupt` if the records cannot be replayed; `LMDBError`.
    func write(to path: String) throws {
        var options = EnvironmentOptions()
        // Nothing reads the copy before it is complete, and then it is synced.
        options.durability = .disposable
        let target = try Environment.open(at: path, options: options)
        do {
            let made = try StoreTables(opening: target).withoutBuffers
            try source.read { try copy($0, into: target, made) }
            try target.sync()
            try target.close()
        } catch {
            try target.close()
            throw error
        }
    }

    private func copy(_ log: ReadTransaction, into target: Environment, _ made: StoreTables) throws {
        let packs = hasBlocks(log)
        var counter = ProgressCounter("replaying events", total: Int(lastEvent.rawValue), progress)
        var state = State()
        while state.event < lastEvent {
            // The step may install the first model with views, or with a full text.
            state = try MissingViewTables.opened(target, for: made) {
                try target.write { transaction in
                    guard let baseline, state.event < baseline.event else {
                        return try step(state, log, made, transaction, packs: packs, &counter)
                    }
                    return try keptStep(state, baseline, log, made, transaction, packs: packs, &counter)
                }
            }
        }
        var header = header
        header.hasViews = made.views != nil
        header.hasTexts = made.views?.texts != nil
        header.hasBaseline = baseline != nil
        header.hasBlocks = state.hasBlocks
        header.isEncrypted = try header.isEncrypted || state.histories.schemas.contains { $0.hasEncryption }
        let later = try laterErasures(log)
        header.isThinned = state.hasThinnedEvents || state.bookmarks.hasThinnings
        header.hasErasures = state.hasErasedEvents || !state.erasures.isEmpty || !later.isEmpty
        try target.write { transaction in
            let head =
                end.map { end in
                    LogHead(
                        modelVersion: state.histories.newest?.version ?? ModelVersion(rawValue: 0),
                        event: end.lastEvent, transaction: end.number, microseconds: end.microseconds,
                        digest: end.digest, firstKeptEvent: (baseline?.head ?? .start).firstKeptEvent)
                } ?? baseline?.head ?? .start
            try baseline?.write(transaction, made)
            try Self.put(header.encoded(), "header", made, transaction)
            try Self.put(head.encoded(), "head", made, transaction)
            try state.bookmarks.write(transaction, made, from: baseline?.event ?? .zero)
            var projector = Projector(tables: made, histories: state.histories, tracking: .independent)
            try projector.refillAll(at: lastEvent, transaction)
            for (eventNumber, payload) in state.erasures.sorted(by: { $0.key < $1.key }) {
                try payload.withUnsafeBytes { try ErasureList.put($0, at: eventNumber, transaction, made) }
            }
            for payload in later {
                try payload.withUnsafeBytes { try ErasureList.putElsewhere($0, transaction, made) }
            }
        }
    }

    /// The erasures that were made after the end of the copy, or in another log. A damaged list keeps no log from being
    /// copied.
    private func laterErasures(_ log: ReadTransaction) throws -> [[UInt8]] {
        do {
            let end = lastEvent
            return try ErasureList.payloads(log, tables).filter { $0.eventNumber > end }.map(\.payload)
                + ErasureList.elsewhere(log, tables)
        } catch let error as LMDBError where error.code == .corrupted {
            StoreLogger.shared.warning(
                "the list of erasures is damaged; later ones may be missing in the copy: \(error)")
            return []
        }
    }

    /// Whether the source has blocks of events; no where that cannot be read. A store without any stays as it is.
    private func hasBlocks(_ log: ReadTransaction) -> Bool {
        do {
            return try StoreFile.meta("header", tables, log).map { try StoreHeader($0) }?.hasBlocks ?? false
        } catch {
            return false
        }
    }

    private var last: TransactionNumber { end?.number ?? .zero }
    private var lastEvent: EventNumber { end?.lastEvent ?? baseline?.event ?? .zero }

    private static func put(
        _ bytes: [UInt8], _ key: StaticString, _ made: StoreTables, _ transaction: WriteTransaction
    ) throws {
        try bytes.withUnsafeBytes { value in
            try StoreFile.withKey(key) { try transaction.put(made.meta, $0, value) }
        }
    }

    /// Copies some of the events that are kept up to the baseline, and makes the views of them.
    private func keptStep(
        _ start: State, _ baseline: LogBaseline, _ log: ReadTransaction, _ made: StoreTables,
        _ transaction: WriteTransaction, packs: Bool, _ counter: inout ProgressCounter
    ) throws -> State {
        let reader = LogReader(log, tables, SchemaHistory([]))
        var state = start
        var written = 0
        state.event = baseline.event
        state.transaction = baseline.transaction
        var packing = EventPacking(packs: packs)
        let append = { (number: UInt64, record: UnsafeRawBufferPointer) in
            try transaction.append(made.events, number, record)
        }
        try reader.events(from: start.event.advanced(by: 1), through: baseline.event, .whole) { event, number in
            try packing.add(number.rawValue, event.record, append)
            written += event.record.count
            try state.note(event, number)
            guard written >= Self.stepInBytes else { return true }
            state.event = number
            return false
        }
        try packing.finish(append)
        state.hasBlocks = state.hasBlocks || packing.hasBlocks
        let replay = Replay(after: .init(applied: start.event, histories: start.histories), made)
        state.histories = try replay.run(reader, through: state.event, into: transaction, &counter).histories
        return state
    }

    /// Copies some transactions with their events, and makes the views of them.
    private func step(
        _ start: State, _ log: ReadTransaction, _ made: StoreTables, _ transaction: WriteTransaction, packs: Bool,
        _ counter: inout ProgressCounter
    ) throws -> State {
        let reader = LogReader(log, tables, SchemaHistory([]))
        var state = start
        var written = 0
        var packing = EventPacking(packs: packs)
        let append = { (number: UInt64, record: UnsafeRawBufferPointer) in
            try transaction.append(made.events, number, record)
        }
        while state.transaction < last, written < Self.stepInBytes {
            let next = TransactionNumber(rawValue: state.transaction.rawValue + 1)
            guard let record = try reader.transaction(next),
                let bytes = try log.get(tables.transactions, next.rawValue)
            else { throw StrataError(.corrupt, "A transaction of the log is missing: \(next).") }
            try transaction.append(made.transactions, next.rawValue, bytes)
            try reader.events(from: record.firstEvent, through: record.lastEvent, .whole) { event, number in
                try packing.add(number.rawValue, event.record, append)
                written += event.record.count
                try state.note(event, number)
                return true
            }
            state.transaction = next
            state.event = record.lastEvent
        }
        try packing.finish(append)
        state.hasBlocks = state.hasBlocks || packing.hasBlocks
        let replay = Replay(after: .init(applied: start.event, histories: start.histories), made)
        state.histories = try replay.run(reader, through: state.event, into: transaction, &counter).histories
        return state
    }
}

/// A summary of a store that was made from another's log.
package struct LogCopyReport: Sendable {
    /// The verification of the new store.
    package let verification: VerificationReport
    package let transaction: TransactionNumber
    package let blobCount: Int
}

extension Store {
    /// Makes a store in a directory that does not exist yet, with the state of this one at an event number, from the
    /// log alone. It has this store's id and a lineage of its own.
    ///
    /// - Parameter eventNumber: the last event of a transaction.
    /// - Throws: `persistentStoreOpen` if something is at that place; `futureEvent`; `corrupt`; `noSpace`.
    package func replay(
        through eventNumber: EventNumber, to target: URL, progress: ProgressHandler? = nil
    ) throws -> LogCopyReport {
        try checkOpen()
        try refuseUsed(target)
        let lease = try blobs.readingLease()
        defer { withExtendedLifetime(lease) {} }
        while true {
            let known = try baseline()
            do {
                return try replayOnce(through: eventNumber, to: target, progress)
            } catch {
                // The history may have been truncated meanwhile. Each time it begins later, up to the moment.
                guard try baseline()?.event ?? .zero > known?.event ?? .zero else {
                    throw copyError(error, during: "replaying the log", target)
                }
            }
        }
    }

    private func replayOnce(
        through eventNumber: EventNumber, to target: URL, _ progress: ProgressHandler?
    ) throws -> LogCopyReport {
        let end = try transaction(containing: eventNumber), baseline = try baseline()
        if let baseline, eventNumber < baseline.event { throw baseline.refusal(eventNumber) }
        if end == nil, eventNumber != baseline?.event {
            throw StrataError(
                .futureEvent, "The store had no transaction then.", context: .init(eventNumber: eventNumber))
        }
        if let refusal = try refusalOfThinned(at: eventNumber) { throw refusal }
        let header = StoreHeader(
            identifier: identifier, lineage: UUID(), createdMicroseconds: file.header.createdMicroseconds)
        let copy = LogCopy(
            source: file.environment, tables: file.tables, baseline: baseline, end: end, header: header,
            progress: progress)
        return try BackupFolder.filled(for: target) { folder in
            try copy.write(to: folder.path(percentEncoded: false))
            return try Self.finishCopy(in: folder, end?.number ?? baseline?.transaction ?? .zero, progress) {
                blobs.contents(digest: $0)
            }
        }
    }

    /// Copies large values to a store made from a log, and verifies it.
    static func finishCopy(
        in folder: URL, _ transaction: TransactionNumber, _ progress: ProgressHandler?, contents: (Data) -> Data?
    ) throws -> LogCopyReport {
        var options = StoreOptions()
        options.isReadOnly = true
        let copy = try Store.open(.directory(folder), model: nil, options: options)
        defer { copy.close() }
        let copied = try copy.takeBlobs(contents, progress)
        let report = try copy.verify(.full, progress: progress)
        return LogCopyReport(verification: report, transaction: transaction, blobCount: copied.count)
    }
}
