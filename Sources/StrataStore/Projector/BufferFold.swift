import LMDB
import StrataModel

/// Moves records from a buffer to the table where they belong.
///
/// That is a commit of its own, between two saves (`Committer.tidy`): LMDB gives pages out again two commits after they
/// were freed, so that as many stand free as two commits in a row write, a save and this, or two saves that do both.
struct BufferFold {
    /// Records that leave in one transaction.
    static let mostLeaving = 32_000
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

    /// Whether a buffer holds too much.
    static func isDue(_ tables: StoreTables, _ transaction: ReadTransaction) throws -> Bool {
        try tables.buffered.contains { try $0.surplus(transaction, tables.bufferLimits) > 0 }
    }

    /// Moves what the buffers hold too much, at most `mostLeaving` from each.
    static func run(_ tables: StoreTables, _ transaction: WriteTransaction) throws {
        for table in tables.buffered {
            let surplus = try table.surplus(transaction, tables.bufferLimits)
            if surplus > 0 { try BufferFold(table, tables, transaction)?.some(surplus) }
        }
    }

    /// Moves those that follow the ones that went last: so all have their turn, and each goes with as many neighbours as
    /// have come since.
    private func some(_ surplus: Int) throws {
        let most = min(max(surplus, limits.fewestLeaving), Self.mostLeaving)
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
