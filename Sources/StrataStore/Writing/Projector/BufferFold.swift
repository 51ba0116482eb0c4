import LMDB
import StrataModel

/// Moves waiting changes from the buffers of a table to the table.
///
/// This is a commit of its own, between two saves (`Committer.tidy`). LMDB reuses pages two commits after they were
/// freed, so the file needs as many free pages as two consecutive commits write.
struct BufferFold {
    /// The most changes that one transaction moves.
    static let mostLeaving = 32_000
    let buffer: Table
    private let removals: Table?
    private let main: Table
    /// The counters that leave out waiting entries.
    private let counts: Table?
    private let state: Table
    /// The key in `state` of the last entry that was moved.
    private let name: [UInt8]
    private let limits: BufferLimits
    private let transaction: WriteTransaction

    /// - Returns: nil for a table without a buffer.
    init?(_ table: BufferedTable, _ tables: StoreTables, _ transaction: WriteTransaction) {
        guard let buffer = table.buffer else { return nil }
        self.buffer = buffer
        removals = table.removals
        self.transaction = transaction
        main = table.main
        counts = tables.uncounted?.main == table.main ? tables.counts : nil
        state = tables.state
        limits = tables.bufferLimits
        name = Array("fold \(table.main == tables.links.main ? "links" : "indexes")".utf8)
    }

    /// Moves the changes with keys from `first` through `last`.
    func stretch(from first: UnsafeRawBufferPointer, through last: UnsafeRawBufferPointer) throws {
        let run = try take(.max, through: last) { try $0.seek(atOrAfter: first) }
        if run.count > 0 { try write(run) }
    }

    /// Moves the waiting removals of objects' entries, and forgets which entry was moved last: both hold keys.
    static func settle(
        _ ids: Set<ObjectID>, in table: BufferedTable, _ tables: StoreTables, _ transaction: WriteTransaction
    ) throws {
        guard let fold = BufferFold(table, tables, transaction) else { return }
        var keys: [[UInt8]] = []
        for part in [table.buffer, table.removals].compactMap({ $0 }) {
            try transaction.withCursor(part) { cursor in
                var found = try cursor.first()
                while found {
                    if ids.contains(StoreKey.lastObjectID(cursor.key)) { keys.append(Array(cursor.key)) }
                    found = try cursor.next()
                }
            }
        }
        for key in keys { try key.withUnsafeBytes { try fold.stretch(from: $0, through: $0) } }
        _ = try fold.name.withUnsafeBytes { try transaction.delete(tables.state, $0) }
    }

    /// Whether too many changes wait.
    static func isDue(_ tables: StoreTables, _ transaction: ReadTransaction) throws -> Bool {
        try tables.buffered.contains { try $0.surplus(transaction, tables.bufferLimits) > 0 }
    }

    /// Moves the changes that exceed the limit, at most `mostLeaving` of each table.
    static func run(_ tables: StoreTables, _ transaction: WriteTransaction) throws {
        for table in tables.buffered {
            let surplus = try table.surplus(transaction, tables.bufferLimits)
            if surplus > 0 { try BufferFold(table, tables, transaction)?.some(surplus) }
        }
    }

    /// Moves the changes that follow the last ones moved, so that all have their turn, and each is moved with the
    /// neighbours that have arrived since.
    private func some(_ surplus: Int) throws {
        let most = min(max(surplus, limits.fewestLeaving), Self.mostLeaving)
        let done = try carryOut(most, from: seekNext)
        // Continues at the beginning after the end.
        if done < most { _ = try carryOut(most - done) { try $0.first() } }
    }

    /// Moves at most `most` consecutive changes, and records where it stopped.
    ///
    /// - Returns: how many were moved.
    private func carryOut(_ most: Int, from start: (Cursor) throws -> Bool) throws -> Int {
        let run = try take(most, from: start)
        guard run.count > 0 else { return 0 }
        try write(run)
        try name.withUnsafeBytes { try transaction.put(state, $0, run.key(run.count - 1)) }
        return run.count
    }

    private func write(_ run: borrowing Run) throws {
        guard let counts else { return try run.write(to: main, transaction) { _, _ in } }
        var writer = try CounterWriter(counts, transaction)
        try run.write(to: main, transaction) { key, delta in
            guard key.count >= CounterKey.membersSize else { return }
            try writer.add(delta, to: UnsafeRawBufferPointer(rebasing: key[..<CounterKey.membersSize]))
        }
        try writer.finish()
    }

    private func take(
        _ most: Int, through last: UnsafeRawBufferPointer? = nil, from start: (Cursor) throws -> Bool
    ) throws -> Run {
        let additions = try transaction.writeCursor(buffer)
        defer { additions.close() }
        let removals = try removals.map { try transaction.writeCursor($0) }
        defer { removals?.close() }
        var run = Run()
        var hasAddition = try start(additions)
        var hasRemoval = try removals.map(start) ?? false
        while run.count < most, hasAddition || hasRemoval {
            var cursor = additions
            var isRemoval = false
            if hasRemoval, let removals, !hasAddition || removals.key.compare(with: additions.key) < 0 {
                (cursor, isRemoval) = (removals, true)
            }
            if let last, cursor.key.compare(with: last) > 0 { break }
            run.take(cursor.key, isRemoval: isRemoval)
            try cursor.delete()
            let isThere = try cursor.next()
            if isRemoval { hasRemoval = isThere } else { hasAddition = isThere }
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

    /// Changes that are being moved, in key order.
    private struct Run: ~Copyable {
        private struct Change {
            let offset: Int
            let keySize: UInt16
            let isRemoval: Bool
        }

        private var arena = Arena(capacity: 1 << 16)
        private var changes: [Change] = []

        var count: Int { changes.count }

        func key(_ index: Int) -> UnsafeRawBufferPointer {
            arena.bytes(at: changes[index].offset, count: Int(changes[index].keySize))
        }

        mutating func take(_ key: UnsafeRawBufferPointer, isRemoval: Bool) {
            changes.append(Change(offset: arena.append(key), keySize: UInt16(key.count), isRemoval: isRemoval))
        }

        /// - Parameter note: called for each entry that was added (1) or removed (-1).
        func write(
            to table: Table, _ transaction: WriteTransaction, _ note: (UnsafeRawBufferPointer, Int64) throws -> Void
        ) throws {
            var writer = try RunWriter(table, transaction)
            for (index, change) in changes.enumerated() {
                if change.isRemoval {
                    if try writer.remove(key(index)) { try note(key(index), -1) }
                } else {
                    try writer.put(key(index), .empty, index, of: count) { key($0) }
                    try note(key(index), 1)
                }
            }
            try writer.finish()
        }
    }
}
