import LMDB
import StrataModel

/// The changes of the entries that keep groups in the orders of their views, collected and then written in key order.
struct OrderChanges: ~Copyable {
    /// The entries to be put, with the bytes of their columns; nil for those to be removed.
    private var changes: [[UInt8]: Int?] = [:]
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
                changes[Array(writer.bytes)] = columnsSize
            }
        }
    }

    /// Removes the entries that the present group had and has no longer.
    mutating func end() {
        for entry in before where !entry.isEmpty { changes[entry] = .some(nil) }
        before.removeAll(keepingCapacity: true)
    }

    func write(to table: Table, _ transaction: WriteTransaction) throws {
        if changes.isEmpty { return }
        let cursor = try transaction.writeCursor(table)
        defer { cursor.close() }
        for (entry, columnsSize) in changes.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            try entry.withUnsafeBytes { key in
                if let columnsSize {
                    let size = UInt16(truncatingIfNeeded: columnsSize).littleEndian
                    try withUnsafeBytes(of: size) { try cursor.put(key, $0) }
                } else if try cursor.seek(to: key) {
                    try cursor.delete()
                }
            }
        }
    }
}
