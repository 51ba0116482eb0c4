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

    /// Moves those with keys from one through another.
    func stretch(from first: UnsafeRawBufferPointer, through last: UnsafeRawBufferPointer) throws {
        guard try transaction.count(buffer) > 0 else { return }
        let run = try take(.max, through: last) { try $0.seek(atOrAfter: first) }
        try run.write(to: main, transaction)
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
        let most = min(max(surplus, limits.fewestLeaving), max(2 * added, limits.fewestLeaving))
        let moved = try move(most, from: seekNext)
        // At the end it begins anew.
        if moved < most { _ = try move(most - moved) { try $0.first() } }
    }

    /// Moves records that follow each other, at most so many, and notes where it stopped.
    ///
    /// - Returns: how many there were.
    private func move(_ most: Int, from start: (Cursor) throws -> Bool) throws -> Int {
        let run = try take(most, from: start)
        guard run.count > 0 else { return 0 }
        try run.write(to: main, transaction)
        try name.withUnsafeBytes { try transaction.put(state, $0, run.key(run.count - 1)) }
        return run.count
    }

    private func take(
        _ most: Int, through last: UnsafeRawBufferPointer? = nil, from start: (Cursor) throws -> Bool
    ) throws -> Run {
        var run = Run()
        try transaction.withWriteCursor(buffer) { cursor in
            var isThere = try start(cursor)
            while isThere, run.count < most {
                if let last, cursor.key.compare(with: last) > 0 { break }
                run.take(cursor)
                try cursor.delete()
                isThere = try cursor.next()
            }
        }
        return run
    }

    private func seekNext(_ cursor: Cursor) throws -> Bool {
        let last = try name.withUnsafeBytes { try transaction.get(state, $0).map { Array($0) } }
        guard let last else { return try cursor.first() }
        return try last.withUnsafeBytes { last in
            guard try cursor.seek(atOrAfter: last) else { return false }
            return try cursor.key.compare(with: last) > 0 || cursor.next()
        }
    }

    /// Records on their way, in the order of their keys.
    private struct Run: ~Copyable {
        private struct Place {
            let offset: Int
            let keySize: Int
            let valueSize: Int
        }

        private var arena = Arena(capacity: 1 << 16)
        private var places: [Place] = []

        var count: Int { places.count }

        func key(_ index: Int) -> UnsafeRawBufferPointer {
            arena.bytes(at: places[index].offset, count: places[index].keySize)
        }

        mutating func take(_ cursor: Cursor) {
            let offset = arena.append(cursor.key)
            _ = arena.append(cursor.value)
            places.append(Place(offset: offset, keySize: cursor.key.count, valueSize: cursor.value.count))
        }

        func write(to table: Table, _ transaction: WriteTransaction) throws {
            var writer = try RunWriter(table, transaction)
            for (index, place) in places.enumerated() {
                let value = arena.bytes(at: place.offset + place.keySize, count: place.valueSize)
                try writer.put(key(index), value, index, of: count) { key($0) }
            }
            try writer.finish()
        }
    }
}
