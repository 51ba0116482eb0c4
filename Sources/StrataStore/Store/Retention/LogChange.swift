import Foundation
import LMDB
import StrataModel

/// The changes that a step of a truncation makes to the log and to views of it.
struct LogChange: ~Copyable {
    /// After the change.
    private(set) var sum: EventSum
    private(set) var keptCount: UInt64
    private(set) var notes: [EventNumber] = []
    /// The events of the stretch that stay as they are.
    private var kept: [UInt64] = []
    /// Events kept before the stretch that other events now replace.
    private var replaced: [UInt64] = []
    /// Objects that were deleted in the stretch.
    private var deleted: [(id: ObjectID, event: UInt64)] = []
    private var events: BaselineEvents
    private var blobs: BlobCounts?
    private let transactions: [TransactionRecord]
    private let range: ClosedRange<UInt64>

    /// - Parameter step: at least one transaction after the baseline.
    init(
        _ step: borrowing TrimStepEvents, _ baseline: LogBaseline, _ log: LogReader, _ models: StepModels,
        hasBlobs: Bool
    ) throws {
        sum = baseline.sum
        keptCount = baseline.keptCount
        transactions = step.transactions
        range = (baseline.event.rawValue + 1)...(step.last?.lastEvent.rawValue ?? baseline.event.rawValue + 1)
        blobs = hasBlobs ? step.blobs : nil
        events = BaselineEvents(log, models, expected: step.rows.count + step.pairs.count)
        kept = step.models.map(\.event.rawValue)
        try noteRows(step)
        try notePairs(step)
        try noteNotes(step, baseline, log)
        kept.sort()
        replaced.sort()
        try count(log)
    }

    private mutating func noteRows(_ step: borrowing TrimStepEvents) throws {
        try step.rows.forEach { id, chain in
            if chain.first != 0 { replaced.append(chain.first) }
            if !chain.isAlive {
                deleted.append((id, chain.last))
            } else if chain.isWhole {
                kept.append(chain.last)
            } else {
                try events.addRow(id, EventNumber(rawValue: chain.last), &blobs)
            }
        }
    }

    private mutating func notePairs(_ step: borrowing TrimStepEvents) throws {
        for (key, (chain, positions)) in step.pairs {
            if chain.first != 0 { replaced.append(chain.first) }
            guard chain.isAlive else { continue }
            if chain.isWhole {
                kept.append(chain.last)
            } else {
                try events.addPair(key, positions, EventNumber(rawValue: chain.last))
            }
        }
    }

    /// Tags and metadata in force stay, and so do records of newer versions.
    private mutating func noteNotes(
        _ step: borrowing TrimStepEvents, _ baseline: LogBaseline, _ log: LogReader
    ) throws {
        guard !step.notes.isEmpty else {
            notes = baseline.notes
            return
        }
        var state = NoteState()
        for number in baseline.notes + step.notes { try log.event(number) { try state.note($0, number) } }
        let fresh = Set(step.notes)
        for number in state.standing where fresh.contains(number) { kept.append(number.rawValue) }
        for number in baseline.notes where !state.standing.contains(number) { replaced.append(number.rawValue) }
        notes = state.standing.sorted()
        guard let last = state.lastMetadata else { return }
        if fresh.contains(last) {
            if !state.metadata.isEmpty {
                try events.addMetadata(state.metadata, last)
                notes.append(last)
            }
        } else {
            replaced.removeAll { $0 == last.rawValue }
            notes.append(last)
        }
        notes.sort()
    }

    /// Updates the sum of the kept events, and the counts of the large values that they name.
    private mutating func count(_ log: LogReader) throws {
        try log.events(replaced, .whole) { event, number in
            sum.remove(event.record, number)
            try blobs?.add(event, -1, log.histories)
        }
        try log.events(kept, .whole) { event, number in
            sum.add(event.record, number)
            try blobs?.add(event, 1, log.histories)
        }
        for index in events.made.indices { sum.add(events.event(index), events.made[index].number) }
        keptCount = keptCount - UInt64(replaced.count) + UInt64(kept.count + events.made.count)
    }

    // MARK: Writing

    mutating func write(_ tables: StoreTables, _ transaction: WriteTransaction) throws {
        try writeViews(tables, transaction)
        // Events in blocks that stay in part are changed together.
        var changes = EventChanges()
        try writeEvents(try transaction.writeCursor(tables.events), &changes)
        try changes.write(tables, transaction)
        try dropTransactions(tables, transaction)
    }

    private func writeEvents(_ log: WriteCursor, _ changes: inout EventChanges) throws {
        defer { log.close() }
        try dropEvents(log, &changes)
        for number in replaced where try !Self.drop(number, log) { changes.remove(number) }
        for index in events.made.indices.sorted(by: { events.made[$0].number < events.made[$1].number }) {
            let (number, event) = (events.made[index].number.rawValue, events.event(index))
            try withUnsafeBytes(of: number.bigEndian) { key in
                if try log.seek(to: key), !EventBlock.isBlock(log.value) {
                    try log.put(key, event)
                } else {
                    changes.replace(number, with: Array(event))
                }
            }
        }
    }

    private func dropTransactions(_ tables: StoreTables, _ transaction: WriteTransaction) throws {
        guard let first = transactions.first?.number.rawValue, let last = transactions.last?.number.rawValue else {
            return
        }
        let cursor = try transaction.writeCursor(tables.transactions)
        defer { cursor.close() }
        var found = try cursor.seek(atOrAfter: first)
        while found, StoreKey.objectID(cursor.key, at: 0).rawValue <= last {
            try cursor.delete()
            found = try cursor.next()
        }
    }

    /// Removes all events of the stretch but those that stay or are replaced.
    private func dropEvents(_ log: WriteCursor, _ changes: inout EventChanges) throws {
        let staying = (kept + events.made.map(\.number.rawValue)).sorted()
        var next = 0
        // A block may have begun before.
        var found = try log.seek(before: range.lowerBound)
        if !found || !EventBlock.isBlock(log.value) { found = try log.seek(atOrAfter: range.lowerBound) }
        while found {
            let number = StoreKey.objectID(log.key, at: 0).rawValue
            guard number <= range.upperBound else { return }
            if EventBlock.isBlock(log.value) {
                let end = number + UInt64(try EventBlock.count(log.value))
                let firstStaying = next
                while next < staying.count, staying[next] < end { next += 1 }
                if try drop(number..<end, but: staying[firstStaying..<next], &changes) { try log.delete() }
            } else if next < staying.count, staying[next] == number {
                next += 1
            } else {
                try log.delete()
            }
            found = try log.next()
        }
    }

    /// Removes the events of a block that are in the stretch, but those that stay.
    ///
    /// - Returns: whether the block goes as a whole.
    private func drop(
        _ block: Range<UInt64>, but staying: ArraySlice<UInt64>, _ changes: inout EventChanges
    ) throws -> Bool {
        let dropped = block.clamped(to: range.lowerBound..<range.upperBound + 1)
        if staying.isEmpty, dropped == block { return true }
        guard staying.count < dropped.count else { return false }
        var rest = staying
        for number in dropped {
            if rest.first == number { rest.removeFirst() } else { changes.remove(number) }
        }
        return false
    }

    /// - Returns: false if the event is in a block.
    private static func drop(_ number: UInt64, _ log: WriteCursor) throws -> Bool {
        guard try withUnsafeBytes(of: number.bigEndian, { try log.seek(to: $0) }), !EventBlock.isBlock(log.value) else {
            return false
        }
        try log.delete()
        return true
    }

    private func writeViews(_ tables: StoreTables, _ transaction: WriteTransaction) throws {
        var batch = WriteBatch(tables: tables)
        for (id, event) in deleted {
            guard let value = try transaction.get(tables.tombstones, id.rawValue),
                try Tombstone.eventNumber(value).rawValue == event
            else { continue }
            batch.remove(.tombstones, key: id.rawValue)
        }
        for record in transactions {
            withUnsafeBytes(of: record.id.uuid) { batch.remove(.transactionIDs, key: $0) }
        }
        for (reference, delta) in blobs?.counts ?? [:] where delta != 0 {
            batch.add(delta, to: CounterKey(blob: reference))
        }
        try batch.flush(into: transaction)
    }
}

/// The tags and metadata in force after some maintenance events.
private struct NoteState {
    /// Events that stay as they are: the last of each tag, the last thinning of each entity,
    /// erasures, and those of newer versions.
    private(set) var standing: Set<EventNumber> = []
    private var tags: [String: EventNumber] = [:]
    /// The last thinning of each entity.
    private var thinnings: [EntityID: EventNumber] = [:]
    private(set) var metadata: [String: AttributeValue] = [:]
    /// The last event that changed metadata.
    private(set) var lastMetadata: EventNumber?

    mutating func note(_ event: EventView, _ number: EventNumber) throws {
        switch try MaintenanceRecord(event.payload) {
        case .note: break
        case .unknown, .erased: standing.insert(number)
        case .thinned(let record):
            let earlier = record.entities.compactMap { thinnings.updateValue(number, forKey: $0) }
            for event in earlier where !thinnings.values.contains(event) { standing.remove(event) }
            standing.insert(number)
        case .tagged(let name, _):
            if let earlier = tags.updateValue(number, forKey: name) { standing.remove(earlier) }
            standing.insert(number)
        case .untagged(let name):
            if let earlier = tags.removeValue(forKey: name) { standing.remove(earlier) }
        case .metadata(_, let after):
            StoreMetadata.apply(after, to: &metadata)
            lastMetadata = number
        }
    }
}
