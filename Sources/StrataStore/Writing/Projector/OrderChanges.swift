import LMDB
import StrataModel

/// The changes of the entries that keep groups in the orders of their views, collected and then written in key order.
struct OrderChanges: ~Copyable {
    /// The changed entries. No two groups have the same one.
    private var entries = GroupTable()
    private var changes: [Change] = []
    /// The entries of the present group as it was, by order.
    private var before: [[UInt8]] = []
    private var writer = ByteWriter(capacity: 256)

    private struct Change {
        /// The size of the entry's columns in bytes; nil if it is to be removed.
        let columnsSize: Int?
        let isRanked: Bool
    }

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
                note(writer.bytes, columnsSize, order.isRanked)
            }
        }
    }

    /// Removes the entries that the present group had and has no longer.
    mutating func end(_ view: PreparedView) {
        for (entry, order) in zip(before, view.orders) where !entry.isEmpty {
            entry.withUnsafeBytes { note($0, nil, order.isRanked) }
        }
        before.removeAll(keepingCapacity: true)
    }

    private mutating func note(_ entry: UnsafeRawBufferPointer, _ columnsSize: Int?, _ isRanked: Bool) {
        let (number, isNew) = entries.number(of: entry)
        let change = Change(columnsSize: columnsSize, isRanked: isRanked)
        if isNew { changes.append(change) } else { changes[number] = change }
    }

    func write(to table: Table, _ transaction: WriteTransaction) throws {
        if changes.isEmpty { return }
        let cursor = try transaction.writeCursor(table)
        defer { cursor.close() }
        let hasRanks = changes.contains(where: \.isRanked)
        var ranks = hasRanks ? try RankWriter(table, transaction) : nil
        for number in entries.inKeyOrder() {
            let key = entries.key(number)
            if let columnsSize = changes[number].columnsSize {
                let size = UInt16(truncatingIfNeeded: columnsSize).littleEndian
                try withUnsafeBytes(of: size) { try cursor.put(key, $0) }
                if changes[number].isRanked { try ranks?.insert(key) }
            } else if try cursor.seek(to: key) {
                try cursor.delete()
                if changes[number].isRanked { try ranks?.remove(key) }
            }
        }
        try ranks?.finish()
    }
}
