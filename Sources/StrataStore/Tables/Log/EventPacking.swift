// Packs events of the log into blocks (`EventPacking`).

import LMDB
import StrataModel

/// The limits by which events go into blocks (EventBlock.swift).
package struct PackingLimits: Sendable {
    /// The number of events from which on a transaction goes into blocks at once.
    package var fewestInTransaction = 256
    /// The number of events at the end of the log that have records of their own, besides those of large transactions.
    package var newestApart = 16_384
    /// The number of older events that go into blocks together, in steps of this number.
    package var eventsInOneCommit = 4096

    package init() {}

    /// Events of the smallest store go into blocks, a few at a time.
    package static var eager: PackingLimits {
        var limits = PackingLimits()
        (limits.fewestInTransaction, limits.newestApart, limits.eventsInOneCommit) = (4, 6, 5)
        return limits
    }
}

/// Packs consecutive events of a log, whose records are whole, into blocks.
///
/// It copies the records that it is given.
struct EventPacking: ~Copyable {
    private var builder = EventBlockBuilder(saltsFollow: false)
    private let copies = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.capacity, alignment: 8)
    private var used = 0
    private var firstNumber: UInt64 = 0
    /// Whether a block was made.
    private(set) var hasBlocks = false
    private let packs: Bool
    private let isChecked: Bool

    private static let capacity = 1 << 17

    /// - Parameters:
    ///   - packs: false writes each event by itself.
    ///   - isChecked: whether it is known that digests and checksums of the events match. A block has neither,
    ///     so an event where they do not stays as it is.
    init(packs: Bool = true, isChecked: Bool = false) {
        self.packs = packs
        self.isChecked = isChecked
    }

    deinit { copies.deallocate() }

    /// Adds an event. If it does not follow the one before, or does not fit into its block, the events so far are
    /// written.
    ///
    /// - Parameter write: stores a record of the log under a number.
    mutating func add(
        _ number: UInt64, _ record: UnsafeRawBufferPointer, _ write: (UInt64, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        if builder.count > 0, number != firstNumber + UInt64(builder.count) { try finish(write) }
        if try addCopy(number, record) { return }
        try finish(write)
        if try !addCopy(number, record) { try write(number, record) }
    }

    private mutating func addCopy(_ number: UInt64, _ record: UnsafeRawBufferPointer) throws -> Bool {
        guard packs, used + record.count <= Self.capacity, isChecked || Self.isSound(record) else { return false }
        let copy = UnsafeMutableRawBufferPointer(rebasing: copies[used..<used + record.count])
        copy.copyMemory(from: record)
        guard builder.add(UnsafeRawBufferPointer(copy)) else { return false }
        if builder.count == 1 { firstNumber = number }
        used += record.count
        return true
    }

    /// The number of events that are not written yet, and that of the first.
    var count: Int { builder.count }
    var first: UInt64? { builder.count > 0 ? firstNumber : nil }

    private static func isSound(_ record: UnsafeRawBufferPointer) -> Bool {
        do {
            return EventDigest.matches(try EventView(record))
        } catch {
            return false
        }
    }

    /// Writes the events so far.
    mutating func finish(_ write: (UInt64, UnsafeRawBufferPointer) throws -> Void) throws {
        defer { used = 0 }
        switch builder.count {
        case 0: break
        case 1:
            // One event is smaller by itself.
            builder.removeAll()
            try write(firstNumber, UnsafeRawBufferPointer(rebasing: copies[..<used]))
        default:
            hasBlocks = true
            let block = builder.finish()
            try block.withUnsafeBytes { try write(firstNumber, $0) }
        }
    }
}

extension StoreFile {
    /// Notes in the header that events are in blocks, so that versions that would not know them do not open the store.
    func noteBlocks(_ transaction: WriteTransaction) throws { try Self.noteBlocks(tables, transaction) }

    static func noteBlocks(_ tables: StoreTables, _ transaction: WriteTransaction) throws {
        try changeHeader(tables, transaction) { $0.hasBlocks = true }
    }
}

/// Changes events that the log has: each gets other bytes, or is removed.
struct EventChanges {
    /// The new records by number; nil for an event that is removed.
    private(set) var records: [UInt64: [UInt8]?] = [:]

    var isEmpty: Bool { records.isEmpty }

    mutating func replace(_ number: UInt64, with record: [UInt8]) { records[number] = .some(record) }

    mutating func remove(_ number: UInt64) { records[number] = .some(nil) }

    /// Carries the changes out. A block that has a changed event is written again, in several parts where an event was
    /// removed or the events no longer fit.
    ///
    /// - Throws: `corrupt` if an event is missing or damaged.
    func write(_ tables: StoreTables, _ transaction: WriteTransaction) throws {
        var numbers = records.keys.sorted()[...]
        while let number = numbers.first {
            if let bytes = try transaction.get(tables.events, number), !EventBlock.isBlock(bytes) {
                numbers.removeFirst()
                if let record = records[number] ?? nil {
                    try record.withUnsafeBytes { try transaction.put(tables.events, number, $0) }
                } else {
                    _ = try transaction.delete(tables.events, number)
                }
            } else {
                let end = try writeBlock(with: number, tables, transaction)
                numbers = numbers.drop { $0 < end }
            }
        }
    }

    /// - Returns: the number after the last event of the block.
    private func writeBlock(
        with number: UInt64, _ tables: StoreTables, _ transaction: WriteTransaction
    ) throws -> UInt64 {
        let (first, events) = try Self.events(ofBlockWith: number, tables, transaction)
        _ = try transaction.delete(tables.events, first)
        var packing = EventPacking(isChecked: true)
        func write(_ number: UInt64, _ record: UnsafeRawBufferPointer) throws {
            try transaction.put(tables.events, number, record)
        }
        for (number, event) in zip(first..., events) {
            guard let record = records[number] ?? event else { continue }
            try record.withUnsafeBytes { try packing.add(number, $0, write) }
        }
        try packing.finish(write)
        return first + UInt64(events.count)
    }

    /// The whole records of the events in the block that has one.
    private static func events(
        ofBlockWith number: UInt64, _ tables: StoreTables, _ transaction: WriteTransaction
    ) throws -> (first: UInt64, events: [[UInt8]]) {
        try transaction.withCursor(tables.events) { cursor in
            var walk = EventWalk(cursor, .whole)
            defer { walk.close() }
            guard try walk.seek(atOrAfter: number), walk.number == number, let range = walk.block else {
                throw StrataError(
                    .corrupt, "An event of the log is missing.",
                    context: .init(eventNumber: EventNumber(rawValue: number)))
            }
            var events: [[UInt8]] = []
            var found = try walk.seek(atOrAfter: range.lowerBound)
            while found, range.contains(walk.number) {
                events.append(Array(walk.record))
                found = try walk.next()
            }
            return (range.lowerBound, events)
        }
    }
}
