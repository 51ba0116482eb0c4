import LMDB

/// Writes records to one table in ascending key order.
///
/// Its cursor stays at the last key, so that a neighbour is found without a search from the root, and runs of new
/// records fill their pages (`RecordsAside`).
struct RunWriter: ~Copyable {
    private let cursor: WriteCursor
    private var aside = RecordsAside()
    private var ahead = ReadAhead()

    init(_ table: Table, _ transaction: WriteTransaction) throws { cursor = try transaction.writeCursor(table) }

    /// - Parameters:
    ///   - index: the record's index among the `count` records to write or remove.
    ///   - keyOf: the key of one of these.
    mutating func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ index: Int, of count: Int,
        _ keyOf: (Int) -> UnsafeRawBufferPointer
    ) throws {
        if !aside.isEmpty { try aside.comeBack(cursor, upTo: key) }
        let next = index + RecordsAside.step
        func isFollowed(by distance: Int, before limit: UnsafeRawBufferPointer) -> Bool {
            index + distance < count && keyOf(index + distance).compare(with: limit) < 0
        }
        // The first records of a group would split the page before anything after them is taken out.
        if next < count, Self.areOfOneGroup(key, keyOf(next)), index == 0 || !Self.areOfOneGroup(key, keyOf(index - 1)),
            try cursor.seek(atOrAfter: key)
        {
            try aside.stepAside(cursor, withOwn: true, isFollowed: isFollowed)
        }
        try cursor.put(key, value)
        ahead.note(cursor)
        guard index % RecordsAside.step == 0, next < count else { return }
        try aside.stepAside(cursor, isFollowed: isFollowed)
    }

    /// Whether two keys differ only in the object at their end.
    private static func areOfOneGroup(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        let size = left.count - 8
        return size > 0 && left.count == right.count
            && UnsafeRawBufferPointer(rebasing: left[..<size]).compare(
                with: UnsafeRawBufferPointer(rebasing: right[..<size])) == 0
    }

    /// - Returns: whether the record was there.
    @discardableResult
    mutating func remove(_ key: UnsafeRawBufferPointer) throws -> Bool {
        if !aside.isEmpty { try aside.comeBack(cursor, upTo: key) }
        guard try cursor.seek(to: key) else { return false }
        ahead.note(cursor)
        try cursor.delete()
        return true
    }

    /// Puts back the records taken out. A writer that is dropped unfinished belongs to a transaction that has failed.
    consuming func finish() throws {
        try aside.comeBack(cursor, upTo: nil)
        cursor.close()
    }
}
