import LMDB
import StrataModel

/// Carries out the changes that wait in the buffers of a table.
///
/// That is a commit of its own, between two saves (`Committer.tidy`): LMDB gives pages out again two commits after they
/// were freed, so that as many stand free as two commits in a row write, a save and this, or two saves that do both.
struct BufferFold {
    /// Changes that are carried out in one transaction.
    static let mostLeaving = 32_000
    let buffer: Table
    private let removals: Table?
    private let main: Table
    /// Counters that leave out what waits.
    private let counts: Table?
    private let state: Table
    /// Names in `state` which one was the last.
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

    /// Carries out those with keys from one through another.
    func stretch(from first: UnsafeRawBufferPointer, through last: UnsafeRawBufferPointer) throws {
        let run = try take(.max, through: last) { try $0.seek(atOrAfter: first) }
        if run.count > 0 { try write(run) }
    }

    /// Whether too much waits.
    static func isDue(_ tables: StoreTables, _ transaction: ReadTransaction) throws -> Bool {
        try tables.buffered.contains { try $0.surplus(transaction, tables.bufferLimits) > 0 }
    }

    /// Carries out what waits too much, at most `mostLeaving` changes of each table.
    static func run(_ tables: StoreTables, _ transaction: WriteTransaction) throws {
        for table in tables.buffered {
            let surplus = try table.surplus(transaction, tables.bufferLimits)
            if surplus > 0 { try BufferFold(table, tables, transaction)?.some(surplus) }
        }
    }

    /// Carries out those that follow the last ones: so all have their turn, and each goes with as many neighbours as have
    /// come since.
    private func some(_ surplus: Int) throws {
        let most = min(max(surplus, limits.fewestLeaving), Self.mostLeaving)
        let done = try carryOut(most, from: seekNext)
        // At the end it begins anew.
        if done < most { _ = try carryOut(most - done) { try $0.first() } }
    }

    /// Carries out changes that follow each other, at most so many, and notes where it stopped.
    ///
    /// - Returns: how many there were.
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

    /// Changes on their way, in the order of their keys.
    private struct Run: ~Copyable {
        private struct Place {
            let offset: Int
            let keySize: UInt16
            let isRemoval: Bool
        }

        private var arena = Arena(capacity: 1 << 16)
        private var places: [Place] = []

        var count: Int { places.count }

        func key(_ index: Int) -> UnsafeRawBufferPointer {
            arena.bytes(at: places[index].offset, count: Int(places[index].keySize))
        }

        mutating func take(_ key: UnsafeRawBufferPointer, isRemoval: Bool) {
            places.append(Place(offset: arena.append(key), keySize: UInt16(key.count), isRemoval: isRemoval))
        }

        /// - Parameter note: told of each entry that has come (1) or gone (-1).
        func write(
            to table: Table, _ transaction: WriteTransaction, _ note: (UnsafeRawBufferPointer, Int64) throws -> Void
        ) throws {
            var writer = try RunWriter(table, transaction)
            for (index, place) in places.enumerated() {
                if place.isRemoval {
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
