import LMDB
import StrataModel

/// The changes of the entries that keep groups in the orders of their views, collected and then written in key order.
struct OrderChanges: ~Copyable {
    /// The changed entries. No two groups have the same one.
    private var entries = GroupTable()
    /// The size of each entry's columns in bytes; nil for those to be removed.
    private var columnsSizes: [Int?] = []
    /// The entries of the present group as it was, by order.
    private var before: [[UInt8]] = []
    private var writer = ByteWriter(capacity: 256)

    /// Begins a group that the table has.
    mutating func begin(
        _ view: PreparedView, _ stored: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ state: GroupState
    ) throws {
        for order in view.orders {
            _ = try order.append(view, stored, key, state, to: &writer)
            before.append(Array(writer.bytes))
        }
    }

    /// Puts the entries of the present group as it is now.
    mutating func put(
        _ view: PreparedView, _ stored: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ state: GroupState
    ) throws {
        for (index, order) in view.orders.enumerated() {
            let columnsSize = try order.append(view, stored, key, state, to: &writer)
            if index < before.count, before[index].elementsEqual(writer.bytes) {
                before[index] = []
            } else {
                note(writer.bytes, columnsSize)
            }
        }
    }

    /// Removes the entries that the present group had and has no longer.
    mutating func end() {
        for entry in before where !entry.isEmpty { entry.withUnsafeBytes { note($0, nil) } }
        before.removeAll(keepingCapacity: true)
    }

    private mutating func note(_ entry: UnsafeRawBufferPointer, _ columnsSize: Int?) {
        let (number, isNew) = entries.number(of: entry)
        if isNew { columnsSizes.append(columnsSize) } else { columnsSizes[number] = columnsSize }
    }

    func write(to table: Table, _ transaction: WriteTransaction) throws {
        if columnsSizes.isEmpty { return }
        let cursor = try transaction.writeCursor(table)
        defer { cursor.close() }
        for number in entries.inKeyOrder() {
            let key = entries.key(number)
            if let columnsSize = columnsSizes[number] {
                let size = UInt16(truncatingIfNeeded: columnsSize).littleEndian
                try withUnsafeBytes(of: size) { try cursor.put(key, $0) }
            } else if try cursor.seek(to: key) {
                try cursor.delete()
            }
        }
    }
}
