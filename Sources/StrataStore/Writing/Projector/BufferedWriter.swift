import LMDB
import StrataModel

/// Writes a batch's records to a table with buffers, in ascending order of their keys.
///
/// A record stands in the main table or in the buffer. One that is put stands nowhere, unless it was removed before in
/// the same batch: then it may stand where it was. Records have no values.
struct BufferedWriter {
    private let buffer: WriteCursor
    private let main: WriteCursor
    /// Nil where an entry of the main table is removed at once.
    private let removals: WriteCursor?
    /// Whether removals wait.
    private var hasRemovals = false
    private var ahead = RunAhead()

    /// - Parameters:
    ///   - count: about how many records the batch has.
    ///   - first: the batch's least key.
    ///   - last: its greatest key.
    /// - Returns: nil when they do not gather. Nothing waits from `first` through `last` then.
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

    /// - Parameter isThere: whether it is known to stand; then no page of the main table is looked at.
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
