import LMDB
import StrataModel

/// Writes a batch's records to a table with buffers, in ascending key order.
///
/// A record is either in the main table or in the buffer. A record that is put is in neither, unless the same batch
/// removed it before. Records have no values.
struct BufferedWriter {
    private let buffer: WriteCursor
    private let main: WriteCursor
    /// Nil if removals are made in the main table at once.
    private let removals: WriteCursor?
    /// Whether removals wait.
    private var hasRemovals = false
    private var ahead = ReadAhead()

    /// - Parameters:
    ///   - count: about the number of records in the batch.
    ///   - first: the least key of the batch.
    ///   - last: its greatest key.
    /// - Returns: nil if the batch shall not wait; then no change waits from `first` through `last`.
    init?(
        _ table: BufferedTable, count: Int, from first: UnsafeRawBufferPointer, through last: UnsafeRawBufferPointer,
        _ tables: StoreTables, _ transaction: WriteTransaction
    ) throws {
        guard let fold = BufferFold(table, tables, transaction) else { return nil }
        guard try table.gathers(count, tables.bufferLimits, transaction) else {
            try fold.stretch(from: first, through: last)
            return nil
        }
        buffer = try transaction.writeCursor(fold.buffer)
        main = try transaction.writeCursor(table.main)
        removals = try table.removals.map { try transaction.writeCursor($0) }
        if let removals = table.removals { hasRemovals = try transaction.count(removals) > 0 }
    }

    func put(_ key: UnsafeRawBufferPointer, isNew: Bool) throws {
        var mayStand = !isNew
        if hasRemovals, let removals, try removals.seek(to: key) {
            try removals.delete()
            mayStand = true
        }
        if mayStand, try main.seek(to: key) { return }
        try buffer.put(key, .empty)
    }

    /// - Parameter isThere: whether the record is known to exist; then no page of the main table is read.
    mutating func remove(_ key: UnsafeRawBufferPointer, isThere: Bool) throws {
        if try buffer.seek(to: key) { return try buffer.delete() }
        if !isThere || removals == nil {
            guard try main.seek(to: key) else { return }
            ahead.note(main)
        }
        guard let removals else { return try main.delete() }
        try removals.put(key, .empty)
        hasRemovals = true
    }

    func close() {
        buffer.close()
        main.close()
        removals?.close()
    }
}
