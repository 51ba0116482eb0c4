import LMDB
import StrataModel

/// Keeps the counts of ranked orders in step with their entries. The caller reports each entry after it was written or
/// removed, in key order. The layout is in `RankLevels.swift`.
struct RankWriter: ~Copyable {
    /// A block of a level whose count changes.
    private struct Block {
        /// The key of its record.
        let start: [UInt8]
        /// The key of the record of the next block; nil for the last one.
        var end: [UInt8]?
        var count: Int64
        var isStored: Bool
        var isChanged = false

        func holds(_ key: [UInt8], prefixSize: Int) -> Bool {
            guard key.starts(with: start.prefix(prefixSize)), !key.lexicographicallyPrecedes(start) else {
                return false
            }
            return end.map { key.lexicographicallyPrecedes($0) } ?? true
        }
    }

    private let levels: RankLevels
    private let cursor: WriteCursor
    /// The blocks that changed last, by level.
    private var blocks: [Block?]

    private static let prefixSize = PreparedView.Order.prefixSize + 1

    init(_ table: Table, _ transaction: WriteTransaction, _ levels: RankLevels = RankLevels()) throws {
        self.levels = levels
        cursor = try transaction.writeCursor(table)
        blocks = Array(repeating: nil, count: levels.count + 1)
    }

    /// Counts an entry that has just been put.
    mutating func insert(_ entry: UnsafeRawBufferPointer) throws {
        let (order, rest) = Self.parts(entry)
        let height = levels.height(of: rest)
        for level in 1...levels.count {
            let key = RankLevels.prefix(order, level: level) + rest
            var block = try block(level, with: key)
            if level > height {
                block.count += 1
                block.isChanged = true
            } else {
                // The entry cuts the block in two.
                let cut = try cut(of: block, at: key, level, order: order, rest: rest)
                block.count -= cut.count - 1
                block.isChanged = true
                try write(block)
                block = cut
            }
            blocks[level] = block
        }
    }

    /// Counts an entry no longer that has just been removed.
    mutating func remove(_ entry: UnsafeRawBufferPointer) throws {
        let (order, rest) = Self.parts(entry)
        let height = levels.height(of: rest)
        for level in 1...levels.count {
            let key = RankLevels.prefix(order, level: level) + rest
            var block = try block(level, with: key)
            if level <= height, block.start == key {
                // The entries after the removed one belong to the block before it.
                if block.isStored, try key.withUnsafeBytes({ try cursor.seek(to: $0) }) { try cursor.delete() }
                blocks[level] = nil
                var earlier = try found(before: key)
                earlier.end = block.end
                earlier.count += block.count
                block = earlier
            }
            block.count -= 1
            block.isChanged = true
            guard block.count >= 0 else {
                throw StrataError(.corrupt, "A ranked order would count its rows below zero. Rebuild the views.")
            }
            blocks[level] = block
        }
    }

    /// Writes the remaining counts.
    mutating func finish() throws {
        for level in blocks.indices {
            if let block = blocks[level] { try write(block) }
            blocks[level] = nil
        }
        cursor.close()
    }

    // MARK: Blocks

    private static func parts(_ entry: UnsafeRawBufferPointer) -> (order: [UInt8], rest: [UInt8]) {
        let size = PreparedView.Order.prefixSize
        return (Array(entry[..<size]), Array(entry[size...]))
    }

    /// The block of a level that has a key.
    private mutating func block(_ level: Int, with key: [UInt8]) throws -> Block {
        if let block = blocks[level] {
            if block.holds(key, prefixSize: Self.prefixSize) { return block }
            try write(block)
            blocks[level] = nil
        }
        let isStart = try key.withUnsafeBytes { try cursor.seek(to: $0) }
        var block =
            isStart
            ? Block(start: key, end: nil, count: try CounterKey.value(cursor.value), isStored: true)
            : try found(before: key)
        block.end = try end(after: isStart ? key : nil, from: key)
        return block
    }

    /// The last block that is stored before a key, without its end; the empty first block if there is none.
    private func found(before key: [UInt8]) throws -> Block {
        let prefix = key.prefix(Self.prefixSize)
        if try key.withUnsafeBytes({ try cursor.seek(before: $0) }), cursor.key.starts(with: prefix) {
            return Block(
                start: Array(cursor.key), end: nil, count: try CounterKey.value(cursor.value), isStored: true)
        }
        return Block(start: Array(prefix), end: nil, count: 0, isStored: false)
    }

    /// The key of the first record behind a key on its level.
    ///
    /// - Parameter start: the key, if there is a record under it.
    private func end(after start: [UInt8]?, from key: [UInt8]) throws -> [UInt8]? {
        var found = try key.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
        if found, start != nil { found = try cursor.next() }
        guard found, cursor.key.starts(with: key.prefix(Self.prefixSize)) else { return nil }
        return Array(cursor.key)
    }

    /// The part of a block from a new entry on.
    ///
    /// On the lowest level the entries are counted, on another one the blocks of the level below, of which the first is
    /// the one that the entry has just begun.
    private func cut(
        of block: Block, at key: [UInt8], _ level: Int, order: [UInt8], rest: [UInt8]
    ) throws -> Block {
        var cut = Block(start: key, end: block.end, count: 0, isStored: false, isChanged: true)
        let endRest = block.end.map { $0[Self.prefixSize...] }
        guard level > 1, let below = blocks[level - 1] else {
            guard try (order + rest).withUnsafeBytes({ try cursor.seek(atOrAfter: $0) }) else { return cut }
            let end = endRest.map { order + $0 } ?? RankReader.end(of: order) ?? order
            cut.count = Int64(try end.withUnsafeBytes { try cursor.count(below: $0, atMost: .max) })
            return cut
        }
        cut.count = below.count
        guard let next = below.end else { return cut }
        let prefix = RankLevels.prefix(order, level: level - 1)
        let end = endRest.map { prefix + $0 }
        var found = try next.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
        while found, cursor.key.starts(with: prefix) {
            if let end, !cursor.key.lexicographicallyPrecedes(end) { break }
            cut.count += try CounterKey.value(cursor.value)
            found = try cursor.next()
        }
        return cut
    }

    private func write(_ block: Block) throws {
        guard block.isChanged else { return }
        try block.start.withUnsafeBytes { key in
            if block.count > 0 {
                try withUnsafeBytes(of: block.count.littleEndian) { try cursor.put(key, $0) }
            } else if block.isStored, try cursor.seek(to: key) {
                try cursor.delete()
            }
        }
    }
}
