import LMDB
import StrataModel

/// The entries of one table grouped by equal beginnings of their keys, in key order, and counted without decoding the
/// rest of the keys.
struct EntryGroups {
    struct Group {
        let prefix: [UInt8]
        /// The least object id among its entries.
        var first: ObjectID
        var count: Int
    }

    private var cursor: MainCursor
    private let high: UnsafeRawBufferPointer
    private var isThere: Bool
    /// Whether every entry so far belonged to a group.
    private(set) var isWhole = true

    /// - Parameter high: the end of the range; must outlive this value.
    init(
        _ cursor: MainCursor, from low: UnsafeRawBufferPointer, below high: UnsafeRawBufferPointer
    ) throws(LMDBError) {
        self.cursor = cursor
        self.high = high
        isThere = try self.cursor.seek(atOrAfter: low)
    }

    /// - Parameter prefixSize: the length of the beginning that the key shares with its group; nil ends the walk.
    mutating func next(_ prefixSize: (UnsafeRawBufferPointer) throws -> Int?) throws -> Group? {
        guard isWhole, isThere, cursor.key.compare(with: high) < 0 else { return nil }
        guard let size = try prefixSize(cursor.key) else {
            isWhole = false
            return nil
        }
        var group = Group(prefix: Array(cursor.key[..<size]), first: StoreKey.lastObjectID(cursor.key), count: 1)
        try group.prefix.withUnsafeBytes { prefix in
            // Keys are compared with the end of the range only in a group that may contain it.
            let mayEndInside = high.hasPrefix(prefix)
            isThere = try cursor.next()
            while isThere {
                let key = cursor.key
                guard key.hasPrefix(prefix), !mayEndInside || key.compare(with: high) < 0 else { break }
                group.count += 1
                group.first = min(group.first, StoreKey.lastObjectID(key))
                isThere = try cursor.next()
            }
        }
        return group
    }

    /// Calls `body` with the groups of both tables in key order; groups with the same beginning come as one.
    mutating func merge(
        _ others: inout EntryGroups, _ prefixSize: (UnsafeRawBufferPointer) throws -> Int?,
        _ body: (ObjectID, Int) -> Void
    ) throws {
        var mine = try next(prefixSize)
        var other = try others.next(prefixSize)
        while isWhole, others.isWhole, mine != nil || other != nil {
            let order = Self.order(mine, other)
            if order == 0, let left = mine, let right = other {
                body(min(left.first, right.first), left.count + right.count)
            } else if let group = order < 0 ? mine : other {
                body(group.first, group.count)
            }
            if order <= 0 { mine = try next(prefixSize) }
            if order >= 0 { other = try others.next(prefixSize) }
        }
    }

    /// Compares two groups; a missing one comes last.
    private static func order(_ left: Group?, _ right: Group?) -> Int {
        guard let left else { return 1 }
        guard let right else { return -1 }
        return left.prefix.withUnsafeBytes { left in right.prefix.withUnsafeBytes { left.compare(with: $0) } }
    }
}
