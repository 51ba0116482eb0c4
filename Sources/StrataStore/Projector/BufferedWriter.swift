import LMDB
import StrataModel

/// Writes a batch's records to a table with a buffer, in ascending order of their keys.
///
/// A record stands in one of the two tables. One that is put is in neither, unless it was removed before in the same
/// batch: then it may stand where it was.
struct BufferedWriter {
    private let buffer: WriteCursor
    private let main: WriteCursor
    private var ahead = RunAhead()

    /// - Parameters:
    ///   - count: about how many records the batch has.
    ///   - first: the batch's least key.
    ///   - last: its greatest key.
    /// - Returns: nil when they do not gather. The buffer has nothing from `first` through `last` then.
    init?(
        _ table: BufferedTable, count: Int, from first: UnsafeRawBufferPointer, through last: UnsafeRawBufferPointer,
        _ tables: StoreTables, _ transaction: WriteTransaction
    ) throws {
        guard let fold = BufferFold(table, tables, transaction) else { return nil }
        guard tables.bufferLimits.gather(count, beside: try transaction.statistics(table.main)) else {
            try fold.stretch(from: first, through: last)
            return nil
        }
        buffer = try transaction.writeCursor(fold.buffer)
        main = try transaction.writeCursor(table.main)
    }

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, isNew: Bool) throws {
        if !isNew, try main.seek(to: key) { return try main.put(key, value) }
        try buffer.put(key, value)
    }

    mutating func remove(_ key: UnsafeRawBufferPointer) throws {
        if try buffer.seek(to: key) {
            try buffer.delete()
        } else if try main.seek(to: key) {
            ahead.note(main)
            try main.delete()
        }
    }

    func close() {
        buffer.close()
        main.close()
    }
}
