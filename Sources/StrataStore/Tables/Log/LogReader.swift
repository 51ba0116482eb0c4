import Foundation
import LMDB
import StrataModel

/// Reads events and transactions in one read transaction: forward along the log, and backward along the chain of an
/// object's events.
struct LogReader {
    let transaction: ReadTransaction
    let tables: StoreTables
    let histories: SchemaHistory

    init(_ transaction: ReadTransaction, _ tables: StoreTables, _ histories: SchemaHistory) {
        self.transaction = transaction
        self.tables = tables
        self.histories = histories
    }

    /// Calls `body` with the event with this number, which is valid only in the call.
    ///
    /// - Throws: `corrupt` if it is missing or damaged.
    func event<R>(
        _ eventNumber: EventNumber, _ content: EventContent = .values, _ body: (EventView) throws -> R
    ) throws -> R {
        if let bytes = try transaction.get(tables.events, eventNumber.rawValue), !EventBlock.isBlock(bytes) {
            return try body(try Self.decoded(bytes, eventNumber))
        }
        return try transaction.withCursor(tables.events) { cursor in
            var walk = EventWalk(cursor, content)
            defer { walk.close() }
            guard try walk.seek(atOrAfter: eventNumber.rawValue), walk.number == eventNumber.rawValue else {
                throw Self.missing(eventNumber)
            }
            return try body(try Self.decoded(walk))
        }
    }

    /// The beginning of the kept history; nil if it was never truncated.
    func baseline() throws -> LogBaseline? { try LogBaseline.read(transaction, tables) }

    /// - Throws: `historyDropped` if events from `first` on are no longer all kept.
    func checkKept(from first: EventNumber, _ head: LogHead) throws {
        guard first < head.firstKeptEvent else { return }
        let state = EventNumber(rawValue: max(first.rawValue, 1) - 1)
        if let baseline = try baseline() { throw baseline.refusal(state) }
        throw StrataError(
            .historyDropped, "The log begins at \(head.firstKeptEvent).", context: .init(eventNumber: state))
    }

    /// Calls `body` with each event from `first` through `last`, until it returns false; up to the baseline with those
    /// that are kept. An event is valid until the next one is read.
    ///
    /// - Complexity: about 60 ns for each event, and what `body` takes.
    func events(
        from first: EventNumber, through last: EventNumber, _ content: EventContent = .values,
        _ body: (EventView, EventNumber) throws -> Bool
    ) throws {
        guard first <= last else { return }
        try transaction.withCursor(tables.events) { cursor in
            var walk = EventWalk(cursor, content)
            defer { walk.close() }
            var expected = first
            var ahead = ReadAhead()
            var cut: EventNumber?
            var found = try walk.seek(atOrAfter: first.rawValue)
            while expected <= last {
                let number = found ? walk.number : .max
                if number != expected.rawValue {
                    // Only up to the cut events may be missing.
                    let end = try cut ?? baseline()?.event ?? .zero
                    cut = end
                    guard expected <= end, number > expected.rawValue else { throw Self.missing(expected) }
                    expected = EventNumber(rawValue: min(number, end.rawValue + 1))
                    continue
                }
                ahead.note(cursor)
                if try !body(try Self.decoded(walk), expected) { return }
                expected = expected.advanced(by: 1)
                if expected <= last { found = try walk.next() }
            }
        }
    }

    /// Calls `body` with events in the order of their numbers, which ascend.
    ///
    /// - Throws: `corrupt` if one is missing or damaged.
    func events(
        _ numbers: [UInt64], _ content: EventContent, _ body: (EventView, EventNumber) throws -> Void
    ) throws {
        if numbers.isEmpty { return }
        try transaction.withCursor(tables.events) { cursor in
            var walk = EventWalk(cursor, content)
            defer { walk.close() }
            for number in numbers {
                let eventNumber = EventNumber(rawValue: number)
                guard try walk.seek(atOrAfter: number), walk.number == number else { throw Self.missing(eventNumber) }
                try body(try Self.decoded(walk), eventNumber)
            }
        }
    }

    /// The event with this number; nil if it went with the history before the baseline, as the deletion of an object
    /// that was restored later may.
    private func keptEvent(_ eventNumber: EventNumber, _ walk: inout EventWalk) throws -> EventView? {
        if let bytes = try transaction.get(tables.events, eventNumber.rawValue), !EventBlock.isBlock(bytes) {
            return try Self.decoded(bytes, eventNumber)
        }
        if try walk.seek(atOrAfter: eventNumber.rawValue), walk.number == eventNumber.rawValue {
            return try Self.decoded(walk)
        }
        guard let baseline = try baseline(), eventNumber <= baseline.event else { throw Self.missing(eventNumber) }
        return nil
    }

    /// Calls `body` with the events on an object's row, newest first from `newest`, until it returns false. An event is
    /// valid until the next one is read. `body` must not write to the log.
    func chain(
        from newest: EventNumber, of id: ObjectID, _ content: EventContent = .values,
        _ body: (EventView, EventNumber) throws -> Bool
    ) throws {
        guard newest != .zero else { return }
        try transaction.withCursor(tables.events) { cursor in
            var walk = EventWalk(cursor, content)
            defer { walk.close() }
            var next = newest
            while next != .zero {
                guard let event = try keptEvent(next, &walk) else { return }
                guard event.header.object == id, event.header.kind.isOnRow, event.header.previous < next else {
                    throw StrataError(
                        .corrupt, "The chain of an object's events is broken.",
                        context: histories.context(of: id, at: next))
                }
                if try !body(event, next) { return }
                next = event.header.previous
            }
        }
    }

    // MARK: Values

    /// A recorded value; one recorded as `previous` is looked up along the chain as of the event `asOf`.
    func resolve(
        _ value: RecordedValue, _ property: PropertyID, of id: ObjectID, asOf: EventNumber
    ) throws -> AttributeValue {
        if case .value(let value) = value { return value }
        return try self.value(of: property, id, asOf: asOf)
    }

    /// Returns the value of a property just after an event on the object's row.
    func value(of property: PropertyID, _ id: ObjectID, asOf eventNumber: EventNumber) throws -> AttributeValue {
        var result: AttributeValue?
        try chain(from: eventNumber, of: id) { event, _ in
            switch event.header.kind {
            case .updated:
                guard let change = try event.changes().first(where: { $0.property == property }) else { return true }
                if case .value(let value) = change.after { result = value }
            case .inserted: result = try insertedValue(event, property, id)
            default: break
            }
            return false
        }
        guard let result else {
            throw StrataError(
                .corrupt, "A recorded value cannot be found along the object's chain.",
                context: histories.context(of: id, at: eventNumber))
        }
        return result
    }

    /// The value that an `inserted` event gave a property.
    func insertedValue(
        _ event: EventView, _ property: PropertyID, _ id: ObjectID
    ) throws -> AttributeValue {
        let layout = try histories.layout(of: event.payload, id: id)
        guard let slot = layout.slots.firstIndex(where: { $0.propertyID == property }) else {
            return histories.newest?.assignment.bornDefaults[property] ?? .null
        }
        return try RowReader(event.payload, layout: layout).value(slot)
    }

    /// The row that a `deleted` event removed, in the newest layout.
    func lastRow(_ id: ObjectID, _ entity: EntitySchema, deletedAt eventNumber: EventNumber) throws -> RowImage {
        try event(eventNumber) { try lastRow(id, entity, deletedBy: $0) }
    }

    private func lastRow(_ id: ObjectID, _ entity: EntitySchema, deletedBy event: EventView) throws -> RowImage {
        let defaults = histories.newest?.assignment.bornDefaults ?? [:]
        switch try event.deleted() {
        case .image(let image):
            let layout = try histories.layout(of: image, id: id)
            return try histories.converted(image, from: layout, to: entity)
        case .values(let values):
            var builder = RowBuilder(entity.layout)
            for slot in entity.layout.slots.indices {
                guard let value = defaults[entity.layout.slots[slot].propertyID],
                    entity.layout.slots[slot].storage != nil
                else { continue }
                try builder.set(slot, value)
            }
            for (property, value) in values {
                guard let slot = entity.slot(of: property) else { continue }
                let resolved = try resolve(value, property, of: id, asOf: event.header.previous)
                try builder.set(slot, resolved.fitting(entity.layout.slots[slot]))
            }
            return try builder.finish()
        }
    }

    // MARK: Transactions

    func transaction(_ number: TransactionNumber) throws -> TransactionRecord? {
        guard let bytes = try transaction.get(tables.transactions, number.rawValue) else { return nil }
        do {
            return try TransactionRecord(bytes, number: number)
        } catch {
            throw StrataError.corrupt(error, "transactions")
        }
    }

    /// A transaction up to the head; nil only if history was dropped.
    func transaction(_ number: TransactionNumber, in head: LogHead) throws -> TransactionRecord? {
        if let record = try transaction(number) { return record }
        guard head.firstKeptEvent.rawValue > 1 else { throw Self.missing(number) }
        return nil
    }

    /// The newest transaction for which `isBefore` is true; nil if it is true for none that is kept. It must be true for
    /// the first ones and false for the rest.
    func lastTransaction(
        upTo newest: TransactionNumber, where isBefore: (TransactionRecord) -> Bool
    ) throws -> TransactionRecord? {
        var low = try baseline()?.transaction.rawValue ?? 0
        var high = newest.rawValue
        var best: TransactionRecord?
        while low < high {
            let middle = (low + high + 1) / 2
            guard let record = try transaction(TransactionNumber(rawValue: middle)) else {
                throw Self.missing(TransactionNumber(rawValue: middle))
            }
            if isBefore(record) {
                low = middle
                best = record
            } else {
                high = middle - 1
            }
        }
        return best
    }

    private static func decoded(_ walk: borrowing EventWalk) throws -> EventView {
        do {
            return try walk.view()
        } catch {
            throw StrataError.corrupt(error, "events", .init(eventNumber: EventNumber(rawValue: walk.number)))
        }
    }

    private static func decoded(_ bytes: UnsafeRawBufferPointer, _ eventNumber: EventNumber) throws -> EventView {
        do {
            return try EventView(bytes)
        } catch {
            throw StrataError.corrupt(error, "events", .init(eventNumber: eventNumber))
        }
    }

    private static func missing(_ number: TransactionNumber) -> StrataError {
        StrataError(.corrupt, "A transaction of the log is missing: \(number).")
    }

    private static func missing(_ eventNumber: EventNumber) -> StrataError {
        StrataError(.corrupt, "An event of the log is missing.", context: .init(eventNumber: eventNumber))
    }
}

extension AttributeValue {
    /// The value as the slot of another model version holds it; numbers that were widened, or are to be, keep their
    /// value. A Boolean may have become a number of any kind.
    func fitting(_ slot: RowLayout.Slot) -> AttributeValue {
        guard case .attribute(let type)? = slot.storage else { return self }
        if type == .boolean { return coerced(to: .integer64)?.coerced(to: .boolean) ?? self }
        return coerced(to: type) ?? self
    }
}
