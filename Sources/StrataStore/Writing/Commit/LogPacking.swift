// The event up to which the log was searched for events that can go into blocks (EventBlock.swift), in the table
// `state`: it is no view, and no digest covers it. Little-endian:
//
//   key    "packed"
//   value  UInt64: the last event that was looked at

import LMDB
import StrataModel

/// Moves events that have records of their own into blocks, a stretch at a time. Each step is a commit that leaves a
/// whole store, with the same events.
struct LogPacking {
    let tables: StoreTables
    let transaction: WriteTransaction

    /// The last event that was looked at.
    static func end(_ tables: StoreTables, _ transaction: ReadTransaction) throws -> UInt64 {
        guard let value = try StoreFile.withKey("packed", { try transaction.get(tables.state, $0) }), value.count == 8
        else { return 0 }
        return UInt64(littleEndian: value.loadUnaligned(as: UInt64.self))
    }

    /// Packs events behind the newest ones.
    ///
    /// - Parameters:
    ///   - newest: how many events at the end of the log stay as they are.
    ///   - count: looks at no more events that have records of their own.
    /// - Returns: the last event that was looked at.
    func run(to head: EventNumber, keeping newest: Int, atMost count: Int) throws -> UInt64 {
        let start = try Self.end(tables, transaction)
        let last = head.rawValue - min(head.rawValue, UInt64(newest))
        guard start < last else { return start }
        let (blocks, end) = try collect(after: start, through: last, atMost: count)
        if !blocks.isEmpty {
            try write(blocks)
            try StoreFile.noteBlocks(tables, transaction)
        }
        try withUnsafeBytes(of: end.littleEndian) { value in
            try StoreFile.withKey("packed") { try transaction.put(tables.state, $0, value) }
        }
        return end
    }

    private typealias Block = (first: UInt64, bytes: [UInt8])

    /// Makes blocks of the events that have records of their own.
    private func collect(
        after start: UInt64, through last: UInt64, atMost count: Int
    ) throws -> (blocks: [Block], end: UInt64) {
        var (rest, end) = (count, last)
        var blocks: [Block] = []
        func keep(_ number: UInt64, _ record: UnsafeRawBufferPointer) {
            if EventBlock.isBlock(record) { blocks.append((number, Array(record))) }
        }
        var packing = EventPacking()
        try transaction.withCursor(tables.events) { cursor in
            var found = try cursor.seek(atOrAfter: start + 1)
            while found, cursor.key.count == 8, StoreKey.objectID(cursor.key, at: 0).rawValue <= last {
                if !EventBlock.isBlock(cursor.value) {
                    let number = StoreKey.objectID(cursor.key, at: 0).rawValue
                    try packing.add(number, cursor.value, keep)
                    rest -= 1
                    if rest == 0 {
                        end = number
                        break
                    }
                }
                found = try cursor.next()
            }
        }
        // A block that is not full waits for the events after it, unless nothing else was found.
        if let waiting = packing.first, !blocks.isEmpty, waiting + UInt64(packing.count) > end {
            return (blocks, waiting - 1)
        }
        try packing.finish(keep)
        return (blocks, end)
    }

    private func write(_ blocks: [Block]) throws {
        let log = try transaction.writeCursor(tables.events)
        defer { log.close() }
        for (first, bytes) in blocks {
            let end = first + UInt64(try bytes.withUnsafeBytes { try EventBlock.count($0) })
            var found = try log.seek(atOrAfter: first)
            while found, StoreKey.objectID(log.key, at: 0).rawValue < end {
                try log.delete()
                found = try log.next()
            }
            try withUnsafeBytes(of: first.bigEndian) { key in
                try bytes.withUnsafeBytes { try log.put(key, $0) }
            }
        }
    }
}
