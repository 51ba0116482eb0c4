// Reads the counters of a store in key order, corrected by entries that wait in buffers.

import LMDB

/// A cursor over the records of a view in key order, in whichever of its tables they are.
protocol RecordWalk {
    /// The current record; valid after a move that returned true, until the next move.
    var key: UnsafeRawBufferPointer { get }
    var value: UnsafeRawBufferPointer { get }
    /// Moves to the first record; false if there is none.
    mutating func first() throws -> Bool
    mutating func advance() throws -> Bool
}

extension EntryCursor: RecordWalk {}

/// A cursor over the counters of a store in key order, corrected by the entries of links that wait in buffers
/// (`StoreTables.uncounted`).
struct CounterCursor: RecordWalk {
    private let counters: Cursor
    private var hasCounter = false
    private var additions: Group
    private var removals: Group
    private let memory = Memory()
    /// Whether the current record is the one under the cursor of the table, unchanged.
    private var isRaw = false

    private init(_ counters: Cursor, _ additions: Cursor?, _ removals: Cursor?) {
        self.counters = counters
        self.additions = Group(additions)
        self.removals = Group(removals)
    }

    /// Runs the body with a cursor.
    static func with<R>(
        _ tables: StoreTables, _ transaction: ReadTransaction, _ body: (CounterCursor) throws -> R
    ) throws -> R {
        func cursor(_ table: Table?, _ body: (Cursor?) throws -> R) throws -> R {
            guard let table else { return try body(nil) }
            return try transaction.withCursor(table, body)
        }
        return try transaction.withCursor(tables.counts) { counters in
            try cursor(tables.uncounted?.buffer) { additions in
                try cursor(tables.uncounted?.removals) { try body(CounterCursor(counters, additions, $0)) }
            }
        }
    }

    var key: UnsafeRawBufferPointer { isRaw ? counters.key : memory.key }

    var value: UnsafeRawBufferPointer { isRaw ? counters.value : memory.value }

    mutating func first() throws -> Bool {
        isRaw = false
        hasCounter = try counters.first()
        try additions.first()
        try removals.first()
        return try settle()
    }

    mutating func advance() throws -> Bool {
        if isRaw { hasCounter = try counters.next() }
        return try settle()
    }

    /// Moves to the next counter that is not zero, from whichever of the three tables has the least key.
    private mutating func settle() throws -> Bool {
        while true {
            let least = [hasCounter ? counters.key : nil, additions.key, removals.key].compactMap { $0 }
                .min { $0.compare(with: $1) < 0 }
            guard let least else { return false }
            let counts = hasCounter && counters.key.compare(with: least) == 0
            // A record that counts no owner's members, or is damaged, is passed on unchanged.
            isRaw = counts && (least.count != CounterKey.membersSize || counters.value.count != 8)
            if isRaw { return true }
            memory.take(key: least)
            var sum: Int64 = 0
            if counts {
                sum = try CounterKey.value(counters.value)
                hasCounter = try counters.next()
            }
            sum += try additions.take(memory.key)
            sum -= try removals.take(memory.key)
            if sum != 0 {
                memory.take(value: sum)
                return true
            }
        }
    }

    /// The waiting entries of one owner at the front of one table.
    private struct Group {
        private let cursor: Cursor?
        private var isThere = false

        init(_ cursor: Cursor?) { self.cursor = cursor }

        /// The part of the key that all of them share; nil at the end of the table.
        var key: UnsafeRawBufferPointer? {
            guard isThere, let cursor else { return nil }
            return UnsafeRawBufferPointer(rebasing: cursor.key.prefix(CounterKey.membersSize))
        }

        mutating func first() throws {
            isThere = try cursor?.first() ?? false
        }

        /// Moves past the entries of an owner.
        ///
        /// - Returns: how many there were.
        mutating func take(_ owner: UnsafeRawBufferPointer) throws -> Int64 {
            var count: Int64 = 0
            while let cursor, let key, key.compare(with: owner) == 0 {
                count += 1
                isThere = try cursor.next()
            }
            return count
        }
    }

    /// Holds the current record.
    private final class Memory {
        private let bytes = UnsafeMutableRawBufferPointer.allocate(
            byteCount: 8 + CounterKey.membersSize, alignment: 8)
        private var keySize = 0

        deinit { bytes.deallocate() }

        var value: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[..<8]) }

        var key: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[8..<8 + keySize]) }

        func take(key: UnsafeRawBufferPointer) {
            keySize = key.count
            bytes[8...].copyBytes(from: key)
        }

        func take(value: Int64) { bytes.storeBytes(of: value.littleEndian, as: Int64.self) }
    }
}
