// The counts of a ranked order, in the table `viewOrders`:
//
//   key    UInt32 view, UInt8 number of the order + 128, UInt8 level from 1 on, the rest as in an entry of the order
//   value  UInt64 number of entries of the order in the block, little-endian
//
// On each level the entries are cut into blocks. An entry begins a block of a level if enough bits of its hash (XXH64 of
// the key behind the number of the order) are 0: five for each level. The record of a block has the key of that entry.
// The first block of a level has the entries before all of these and a key without a rest; it has no record if it is
// empty. So the counts are a function of the entries, however these came to be there: a skip list (Pugh 1990) whose
// towers are chosen by hashes.

import LMDB
import StrataModel

/// The blocks into which the entries of a ranked order are cut.
struct RankLevels: Hashable {
    /// The bits of the hash for each level.
    var bits = 5
    /// The number of levels.
    var count = 4

    /// The mark that is added to the number of an order in the keys of its counts.
    static let mark: UInt8 = 0x80

    /// The number of levels on which an entry begins a block.
    ///
    /// - Parameter rest: the key of the entry behind the number of the order.
    func height(of rest: [UInt8]) -> Int {
        min(count, rest.withUnsafeBytes { XXH64.hash($0) }.trailingZeroBitCount / bits)
    }

    /// The prefix of the keys of a level.
    ///
    /// - Parameter order: the prefix of the order's entries.
    static func prefix(_ order: [UInt8], level: Int) -> [UInt8] {
        var prefix = order
        prefix[PreparedView.Order.prefixSize - 1] |= mark
        prefix.append(UInt8(truncatingIfNeeded: level))
        return prefix
    }
}

/// Finds ranks in a ranked order.
///
/// - Complexity: each method takes O(log n) expected for keys that were not chosen to have certain hashes.
struct RankReader {
    /// The prefix of the order's entries.
    let order: [UInt8]
    let transaction: ReadTransaction
    let table: Table
    var levels = RankLevels()

    /// The number of entries whose keys, behind the number of the order, lie below a bound.
    ///
    /// - Parameter bound: nil for all entries.
    func count(below bound: [UInt8]?) throws -> Int {
        try transaction.withCursor(table) { cursor in
            var total = 0
            var start: [UInt8] = []
            for level in stride(from: levels.count, through: 1, by: -1) {
                try walk(level, from: start, cursor) { next, count in
                    if let bound, bound.lexicographicallyPrecedes(next) { return false }
                    (start, total) = (next, total + count)
                    return true
                }
            }
            guard try (order + start).withUnsafeBytes({ try cursor.seek(atOrAfter: $0) }) else { return total }
            let end = bound.map { order + $0 } ?? Self.end(of: order) ?? order
            return total + (try end.withUnsafeBytes { try cursor.count(below: $0, atMost: .max) })
        }
    }

    /// The key of an entry, behind the number of the order; nil if there are fewer entries.
    ///
    /// - Parameter index: the number of entries before it.
    func entry(at index: Int) throws -> [UInt8]? {
        try transaction.withCursor(table) { cursor in
            var left = index
            var start: [UInt8] = []
            for level in stride(from: levels.count, through: 1, by: -1) {
                try walk(level, from: start, cursor) { next, count in
                    if count > left { return false }
                    (start, left) = (next, left - count)
                    return true
                }
            }
            var found = try (order + start).withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
            while found, left > 0 {
                left -= 1
                found = try cursor.next()
            }
            guard found, cursor.key.starts(with: order) else { return nil }
            return Array(cursor.key[order.count...])
        }
    }

    /// Calls `body` with the beginning of each block behind the first, and with the number of entries in the block before
    /// it, until it returns false.
    ///
    /// - Parameter start: the beginning of a block of this level.
    private func walk(
        _ level: Int, from start: [UInt8], _ cursor: Cursor, _ body: ([UInt8], Int) -> Bool
    ) throws {
        let prefix = RankLevels.prefix(order, level: level)
        var found = try (prefix + start).withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
        var before = 0
        while found, cursor.key.starts(with: prefix) {
            let next = cursor.key[prefix.count...]
            if !next.elementsEqual(start) { guard body(Array(next), before) else { return } }
            before = Int(try CounterKey.value(cursor.value))
            found = try cursor.next()
        }
    }

    /// The smallest bytes above all that begin with some bytes; nil if there are none.
    static func end(of prefix: [UInt8]) -> [UInt8]? {
        var end = prefix
        while let last = end.popLast() {
            if last < 0xFF { return end + [last + 1] }
        }
        return nil
    }
}
