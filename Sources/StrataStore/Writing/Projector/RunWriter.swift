import LMDB

/// Writes records to one table in ascending order of their keys.
///
/// Its cursor stands where the last key went, so that a neighbour is found without a search from the root, and runs of
/// new records fill their pages (`RecordsAside`).
struct RunWriter: ~Copyable {
    private let cursor: WriteCursor
    private var aside = RecordsAside()
    private var ahead = RunAhead()

    init(_ table: Table, _ transaction: WriteTransaction) throws { cursor = try transaction.writeCursor(table) }

    /// - Parameters:
    ///   - index: the record's place among the `count` that are to be written or removed.
    ///   - keyOf: the key of one of those.
    mutating func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ index: Int, of count: Int,
        _ keyOf: (Int) -> UnsafeRawBufferPointer
    ) throws {
        if !aside.isEmpty { try aside.comeBack(cursor, upTo: key) }
        let next = index + RecordsAside.step
        func isFollowed(by distance: Int, before limit: UnsafeRawBufferPointer) -> Bool {
            index + distance < count && keyOf(index + distance).compare(with: limit) < 0
        }
        // Those that a group of entries begins with would split the page before anything behind has stepped aside.
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

    /// Whether two keys differ in the object at their end alone.
    private static func areOfOneGroup(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        let size = left.count - 8
        return size > 0 && left.count == right.count
            && UnsafeRawBufferPointer(rebasing: left[..<size]).compare(
                with: UnsafeRawBufferPointer(rebasing: right[..<size])) == 0
    }

    /// - Returns: whether it stood there.
    @discardableResult
    mutating func remove(_ key: UnsafeRawBufferPointer) throws -> Bool {
        if !aside.isEmpty { try aside.comeBack(cursor, upTo: key) }
        guard try cursor.seek(to: key) else { return false }
        ahead.note(cursor)
        try cursor.delete()
        return true
    }

    /// Ends the writing. A writer that is not finished goes with its transaction, which has failed then.
    consuming func finish() throws {
        try aside.comeBack(cursor, upTo: nil)
        cursor.close()
    }
}
