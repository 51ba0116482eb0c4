import LMDB
import StrataModel

/// The changes of the entries that keep groups in the orders of their views, collected and then written in key order.
struct OrderChanges: ~Copyable {
    /// The changed entries. No two groups have the same one.
    private var entries = GroupTable()
    private var changes: [Change] = []
    /// The entry of the present group as it was.
    private var before = ByteWriter(capacity: 256)
    private var writer = ByteWriter(capacity: 256)

    private struct Change {
        /// The size of the entry's columns in bytes; nil if it is to be removed.
        let columnsSize: Int?
        let isRanked: Bool
    }

    /// Moves a group from the entries of its record before to those of its record now.
    ///
    /// - Parameters:
    ///   - old: nil if it was not there.
    ///   - new: nil if it goes away.
    mutating func change(
        _ view: PreparedView, _ stored: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer,
        from old: UnsafeRawBufferPointer?, to new: UnsafeRawBufferPointer?
    ) throws {
        for order in view.orders {
            if let old { _ = try order.append(view, stored, key, record: old, to: &before) }
            if let new {
                let columnsSize = try order.append(view, stored, key, record: new, to: &writer)
                if old != nil, before.bytes.isSame(as: writer.bytes) { continue }
                note(writer.bytes, columnsSize, order.isRanked)
            }
            if old != nil { note(before.bytes, nil, order.isRanked) }
        }
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
        for number in entries.inWritingOrder() {
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
