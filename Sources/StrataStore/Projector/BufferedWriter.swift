import LMDB
import StrataModel

/// Writes a batch's records to a table with a buffer, in ascending order of their keys, and moves records on from there.
///
/// A record stands in one of the two tables. One that is put is in neither, unless it was removed before in the same
/// batch: then it may stand where it was.
struct BufferedWriter {
    private let buffer: WriteCursor
    private let main: WriteCursor
    private let fold: BufferFold

    /// - Parameter count: about how many records the batch has.
    /// - Returns: nil when they do not gather. The buffer is empty then.
    init?(_ table: BufferedTable, count: Int, _ tables: StoreTables, _ transaction: WriteTransaction) throws {
        guard let fold = BufferFold(table, tables, transaction) else { return nil }
        guard tables.bufferLimits.gather(count, beside: try transaction.statistics(table.main)) else {
            try fold.all()
            return nil
        }
        self.fold = fold
        buffer = try transaction.writeCursor(fold.buffer)
        main = try transaction.writeCursor(table.main)
    }

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, isNew: Bool) throws {
        if !isNew, try main.seek(to: key) { return try main.put(key, value) }
        try buffer.put(key, value)
    }

    func remove(_ key: UnsafeRawBufferPointer) throws {
        if try buffer.seek(to: key) {
            try buffer.delete()
        } else if try main.seek(to: key) {
            try main.delete()
        }
    }

    /// Ends the writing, and moves records on where the buffer has become too large.
    ///
    /// - Parameter count: records of the batch.
    func finish(_ count: Int) throws {
        buffer.close()
        main.close()
        try fold.some(after: count)
    }
}

/// Moves records from a buffer to the table where they belong.
struct BufferFold {
    let buffer: Table
    private let main: Table
    private let state: Table
    /// Names in `state` which record was the last to go.
    private let name: [UInt8]
    private let limits: BufferLimits
    private let transaction: WriteTransaction

    /// - Returns: nil for a table without a buffer.
    init?(_ table: BufferedTable, _ tables: StoreTables, _ transaction: WriteTransaction) {
        guard let buffer = table.buffer else { return nil }
        self.buffer = buffer
        self.transaction = transaction
        main = table.main
        state = tables.state
        limits = tables.bufferLimits
        name = Array("fold \(table.main == tables.links.main ? "links" : "indexes")".utf8)
    }

    func all() throws {
        guard try transaction.count(buffer) > 0 else { return }
        var record = Record()
        try transaction.withWriteCursor(main) { main in
            try transaction.withCursor(buffer) { buffer in
                while try buffer.next() {
                    record.take(buffer)
                    try record.put(main)
                }
            }
        }
        try transaction.clear(buffer)
    }

    /// Moves those that follow the ones that went last, if there are too many: so all have their turn, and each goes with
    /// as many neighbours as have come since.
    ///
    /// - Parameter added: records that have just come; twice as many go at most, so that no commit has much more to do
    ///   than its own.
    func some(after added: Int) throws {
        let count = try transaction.count(buffer)
        let surplus = try count - limits.size(beside: transaction.count(main))
        guard surplus > 0 else { return }
        var rest = min(max(surplus, limits.fewestLeaving), max(2 * added, limits.fewestLeaving))
        var record = Record()
        try transaction.withWriteCursor(main) { main in
            try transaction.withWriteCursor(buffer) { buffer in
                var isThere = try seekNext(buffer)
                while rest > 0, try isThere || buffer.first() {
                    record.take(buffer)
                    try buffer.delete()
                    try record.put(main)
                    rest -= 1
                    isThere = try buffer.next()
                }
            }
        }
        try name.withUnsafeBytes { try transaction.put(state, $0, record.key) }
    }

    private func seekNext(_ cursor: Cursor) throws -> Bool {
        let last = try name.withUnsafeBytes { try transaction.get(state, $0).map { Array($0) } }
        guard let last else { return try cursor.first() }
        return try last.withUnsafeBytes { last in
            guard try cursor.seek(atOrAfter: last) else { return false }
            return try cursor.key.compare(with: last) > 0 || cursor.next()
        }
    }

    /// One record on its way: LMDB's bytes are valid until the next write.
    private struct Record: ~Copyable {
        private var bytes = ByteWriter()
        private var keySize = 0

        var key: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes.bytes[..<keySize]) }

        mutating func take(_ cursor: Cursor) {
            bytes.reset()
            bytes.append(cursor.key)
            keySize = cursor.key.count
            bytes.append(cursor.value)
        }

        func put(_ cursor: WriteCursor) throws {
            try cursor.put(key, UnsafeRawBufferPointer(rebasing: bytes.bytes[keySize...]))
        }
    }
}
