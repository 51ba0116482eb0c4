// Walks along the events of a log, in records of their own or in blocks.

import LMDB
import StrataModel

/// The part of an event that its reader needs.
enum EventContent {
    /// Header and payload. Salt, digest and checksum of an event in a block are 0.
    case values
    /// The record as it was written, byte for byte.
    case whole
}

/// Walks along the events of a log, which have records of their own or are in blocks (EventBlock.swift).
///
/// The bytes of an event are valid until the walk moves, or is closed.
struct EventWalk: ~Copyable {
    private let cursor: Cursor
    private let content: EventContent
    private var reader: EventBlockReader?
    /// The number of the first event in the block where the walk is.
    private var first: UInt64 = 0
    private(set) var isInBlock = false
    /// The number of the event; `UInt64.max` where the key of a record is no number.
    private(set) var number = UInt64.max
    private(set) var record = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The events of the block that was damaged last.
    private(set) var damaged: ClosedRange<UInt64>?
    /// Whether the last move met that block.
    private(set) var isBehindDamage = false

    init(_ cursor: Cursor, _ content: EventContent) {
        self.cursor = cursor
        self.content = content
    }

    /// Must be the last call: up to it the bytes are kept.
    mutating func close() {
        reader = nil
        isInBlock = false
    }

    /// The numbers of the events in the block where the walk is; nil where the event has a record of its own.
    var block: ClosedRange<UInt64>? {
        guard isInBlock, let reader else { return nil }
        return first...first + UInt64(reader.count - 1)
    }

    /// The key of the record that has the event.
    var key: UnsafeRawBufferPointer { cursor.key }

    /// The event, checked.
    ///
    /// - Throws: `CorruptRecord`.
    func view() throws(CorruptRecord) -> EventView {
        // The block was checked as a whole.
        isInBlock ? try EventView(decoded: record) : try EventView(record)
    }

    // MARK: Moving

    /// Moves to the first event that exists.
    mutating func begin() throws -> Bool {
        isInBlock = false
        return try cursor.first() ? try take() : leave()
    }

    /// Moves to the first event whose number is not below the given one.
    ///
    /// - Throws: `corrupt` for a damaged block, which `damaged` names then.
    mutating func seek(atOrAfter wanted: UInt64) throws -> Bool {
        isBehindDamage = false
        if isInBlock, let reader, wanted >= first, wanted - first < UInt64(reader.count) {
            return try move(to: wanted, reader)
        }
        isInBlock = false
        if try cursor.seek(atOrAfter: wanted) {
            if Self.number(cursor.key) == wanted { return try take() }
            if try cursor.previous(), let reader = try block(with: wanted) { return try move(to: wanted, reader) }
            return try cursor.seek(atOrAfter: wanted) ? try take() : leave()
        }
        if try cursor.last(), let reader = try block(with: wanted) { return try move(to: wanted, reader) }
        return leave()
    }

    /// Moves to the next event.
    mutating func next() throws -> Bool {
        if isInBlock, let reader, reader.index < reader.count { return try decode(reader) }
        isInBlock = false
        return try cursor.next() ? try take() : leave()
    }

    private mutating func leave() -> Bool {
        (number, isInBlock) = (.max, false)
        return false
    }

    private static func number(_ key: UnsafeRawBufferPointer) -> UInt64 {
        key.count == 8 ? UInt64(bigEndian: key.loadUnaligned(as: UInt64.self)) : .max
    }

    /// Takes the record where the cursor is.
    private mutating func take() throws -> Bool {
        guard EventBlock.isBlock(cursor.value), cursor.key.count == 8 else {
            number = Self.number(cursor.key)
            record = cursor.value
            return true
        }
        return try decode(open())
    }

    /// The block where the cursor is, if it has the event.
    private mutating func block(with wanted: UInt64) throws -> EventBlockReader? {
        guard cursor.key.count == 8, EventBlock.isBlock(cursor.value), Self.number(cursor.key) <= wanted else {
            return nil
        }
        let reader = try open()
        if wanted - first < UInt64(reader.count) { return reader }
        isInBlock = false
        return nil
    }

    private mutating func open() throws -> EventBlockReader {
        let reader = reader ?? EventBlockReader()
        self.reader = reader
        first = Self.number(cursor.key)
        do throws(CorruptRecord) {
            try reader.open(cursor.value)
            guard first <= UInt64.max >> 1 else { throw CorruptRecord("a block beyond the log", at: 0) }
        } catch {
            throw damage(error)
        }
        isInBlock = true
        return reader
    }

    private mutating func move(to wanted: UInt64, _ reader: EventBlockReader) throws -> Bool {
        if number == wanted, reader.index > 0 { return true }
        let index = Int(wanted - first)
        if index < reader.index { reader.rewind() }
        do throws(CorruptRecord) {
            while reader.index < index { try reader.skip() }
        } catch {
            throw damage(error)
        }
        return try decode(reader)
    }

    private mutating func decode(_ reader: EventBlockReader) throws -> Bool {
        do throws(CorruptRecord) {
            guard try reader.next() else { throw CorruptRecord("block of events cut short", at: 0) }
        } catch {
            throw damage(error)
        }
        number = first + UInt64(reader.index - 1)
        if content == .whole { EventDigest.complete(reader) }
        record = UnsafeRawBufferPointer(reader.record)
        return true
    }

    // MARK: Damage

    private mutating func damage(_ cause: CorruptRecord) -> any Error {
        isInBlock = false
        number = .max
        // The range that the damaged block names is trusted only if no event follows it.
        var last = first
        do {
            let block = cursor.value
            let said = block.count >= 4 ? UInt64(block[2]) | UInt64(block[3]) << 8 : 0
            if try cursor.next(), cursor.key.count == 8 {
                last = max(first, Self.number(cursor.key) - 1)
            } else if 1...UInt64(EventBlock.mostEvents) ~= said, first <= UInt64.max >> 1 {
                last = first + said - 1
            }
        } catch {
            return error
        }
        (damaged, isBehindDamage) = (first...last, true)
        let events = last > first ? "The events \(first) to \(last) are" : "A block of events from \(first) on is"
        return StrataError(
            .corrupt, "\(events) damaged: \(cause.reason).",
            context: .init(eventNumber: EventNumber(rawValue: first)), cause: cause)
    }
}
