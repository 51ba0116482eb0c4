import LMDB
import StrataModel

/// The values of a group that its record does not have itself (`KeptValues`).
protocol OtherValues: ~Copyable {
    /// Whether the record is going to be kept, so that each value must be in its place.
    var areKept: Bool { get }

    /// Begins with an aggregate of a group.
    ///
    /// - Parameter group: the key of its record.
    mutating func begin(_ group: UnsafeRawBufferPointer, _ aggregate: Int)

    /// Counts the objects that have a value.
    mutating func count(of value: UnsafeRawBufferPointer) throws -> Int64

    /// - Parameter count: 0 to remove the value.
    mutating func set(_ value: UnsafeRawBufferPointer, to count: Int64) throws

    /// The smallest value, and how many objects have it.
    mutating func first() throws -> (value: [UInt8], count: Int64)?
}

/// The key of a value: that of its group's record, the number of the aggregate, and the value.
private struct ValueKey: ~Copyable {
    private var writer = ByteWriter(capacity: 512)
    private(set) var prefixSize = 0

    mutating func begin(_ group: UnsafeRawBufferPointer, _ aggregate: Int) {
        writer.reset()
        writer.append(group)
        writer.append(UInt8(truncatingIfNeeded: aggregate))
        prefixSize = writer.count
    }

    /// Appends a value to the prefix.
    mutating func set(_ value: UnsafeRawBufferPointer) {
        writer.truncate(to: prefixSize)
        writer.append(value)
    }

    mutating func reset() { writer.truncate(to: prefixSize) }

    var bytes: UnsafeRawBufferPointer { writer.bytes }
}

/// The values in the table, to be changed there.
struct StoredValues: OtherValues, ~Copyable {
    private let table: Table
    private let transaction: WriteTransaction
    private var cursor: WriteCursor?
    private var key = ValueKey()

    init(_ table: Table, _ transaction: WriteTransaction) { (self.table, self.transaction) = (table, transaction) }

    var areKept: Bool { true }

    private mutating func openCursor() throws -> WriteCursor {
        if let cursor { return cursor }
        let made = try transaction.writeCursor(table)
        cursor = made
        return made
    }

    func close() { cursor?.close() }

    mutating func begin(_ group: UnsafeRawBufferPointer, _ aggregate: Int) { key.begin(group, aggregate) }

    mutating func count(of value: UnsafeRawBufferPointer) throws -> Int64 {
        key.set(value)
        let cursor = try openCursor()
        return try cursor.seek(to: key.bytes) ? CounterKey.value(cursor.value) : 0
    }

    mutating func set(_ value: UnsafeRawBufferPointer, to count: Int64) throws {
        key.set(value)
        let cursor = try openCursor()
        if count > 0 {
            try withUnsafeBytes(of: count.littleEndian) { try cursor.put(key.bytes, $0) }
        } else if try cursor.seek(to: key.bytes) {
            try cursor.delete()
        }
    }

    mutating func first() throws -> (value: [UInt8], count: Int64)? {
        key.reset()
        let cursor = try openCursor()
        guard try cursor.seek(atOrAfter: key.bytes), cursor.key.hasPrefix(key.bytes) else { return nil }
        return (Array(cursor.key.dropFirst(key.prefixSize)), try CounterKey.value(cursor.value))
    }
}

/// The values in the table with changes that are not written.
struct LaidValues: OtherValues, ~Copyable {
    /// nil where there are only the changes.
    private let table: Table?
    private let transaction: ReadTransaction
    private var key = ValueKey()
    /// The counts of the changed values.
    private var changed: [[UInt8]: Int64] = [:]

    init(over table: Table?, _ transaction: ReadTransaction) { (self.table, self.transaction) = (table, transaction) }

    var areKept: Bool { false }

    mutating func begin(_ group: UnsafeRawBufferPointer, _ aggregate: Int) {
        key.begin(group, aggregate)
        changed = [:]
    }

    mutating func count(of value: UnsafeRawBufferPointer) throws -> Int64 {
        if let count = changed[Array(value)] { return count }
        guard let table else { return 0 }
        key.set(value)
        return try transaction.get(table, key.bytes).map { try CounterKey.value($0) } ?? 0
    }

    mutating func set(_ value: UnsafeRawBufferPointer, to count: Int64) throws { changed[Array(value)] = count }

    mutating func first() throws -> (value: [UInt8], count: Int64)? {
        let own = changed.filter { $0.value > 0 }.min { $0.key.lexicographicallyPrecedes($1.key) }
        let stored = try firstStored()
        guard let own else { return stored }
        guard let stored, stored.value.lexicographicallyPrecedes(own.key) else { return (own.key, own.value) }
        return stored
    }

    /// The smallest value of the table that is not changed.
    private mutating func firstStored() throws -> (value: [UInt8], count: Int64)? {
        guard let table else { return nil }
        key.reset()
        let (prefix, size) = (key.bytes, key.prefixSize)
        let changed = changed
        return try transaction.withCursor(table) { cursor in
            var isThere = try cursor.seek(atOrAfter: prefix)
            while isThere, cursor.key.hasPrefix(prefix) {
                let value = Array(cursor.key.dropFirst(size))
                if changed[value] == nil { return (value, try CounterKey.value(cursor.value)) }
                isThere = try cursor.next()
            }
            return nil
        }
    }
}
