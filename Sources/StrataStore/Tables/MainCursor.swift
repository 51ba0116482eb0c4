import LMDB

/// A cursor over the main table of a buffered table; it skips entries whose removal waits.
struct MainCursor {
    let cursor: Cursor
    /// Nil if no removal waits.
    private let removals: Cursor?
    private var hasRemoval = false

    init(_ cursor: Cursor, without removals: Cursor? = nil) {
        self.cursor = cursor
        self.removals = removals
    }

    @inline(__always)
    var key: UnsafeRawBufferPointer { cursor.key }

    @inline(__always)
    var value: UnsafeRawBufferPointer { cursor.value }

    mutating func first() throws(LMDBError) -> Bool {
        guard try cursor.first() else { return false }
        guard let removals else { return true }
        hasRemoval = try removals.first()
        return try passOver(removals, isDescending: false)
    }

    mutating func seek(atOrAfter key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        guard try cursor.seek(atOrAfter: key) else { return false }
        guard let removals else { return true }
        hasRemoval = try removals.seek(atOrAfter: key)
        return try passOver(removals, isDescending: false)
    }

    mutating func seek(
        before key: UnsafeRawBufferPointer, orAt isIncluded: Bool
    ) throws(LMDBError) -> Bool {
        guard try cursor.seek(before: key, orAt: isIncluded) else { return false }
        guard let removals else { return true }
        hasRemoval = try removals.seek(before: key, orAt: isIncluded)
        return try passOver(removals, isDescending: true)
    }

    /// Moves to the entry with exactly this key; walks cannot go on from there.
    func seek(to key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        guard try cursor.seek(to: key) else { return false }
        guard let removals else { return true }
        return try !removals.seek(to: key)
    }

    @inline(__always)
    mutating func next() throws(LMDBError) -> Bool {
        guard try cursor.next() else { return false }
        guard let removals else { return true }
        return try passOver(removals, isDescending: false)
    }

    @inline(__always)
    mutating func previous() throws(LMDBError) -> Bool {
        guard try cursor.previous() else { return false }
        guard let removals else { return true }
        return try passOver(removals, isDescending: true)
    }

    /// Counts the entries from the current one on whose keys are below `upper`, up to `limit`. The cursor has no
    /// position afterwards. Valid in ascending order only.
    func count(below upper: UnsafeRawBufferPointer, atMost limit: Int) throws(LMDBError) -> Int {
        guard let removals, hasRemoval else { return try cursor.count(below: upper, atMost: limit) }
        let removed = try removals.count(below: upper, atMost: .max)
        let (most, overflow) = limit.addingReportingOverflow(removed)
        return try max(0, cursor.count(below: upper, atMost: overflow ? .max : most) - removed)
    }

    /// Moves on until the current entry is not one whose removal waits.
    private mutating func passOver(_ removals: Cursor, isDescending: Bool) throws(LMDBError) -> Bool {
        while hasRemoval {
            let order = removals.key.compare(with: cursor.key)
            if isDescending ? order < 0 : order > 0 { return true }
            hasRemoval = try isDescending ? removals.previous() : removals.next()
            if order == 0, try !(isDescending ? cursor.previous() : cursor.next()) { return false }
        }
        return true
    }
}

extension Cursor {
    /// Moves to the last record whose key is below the given one, or equals it if `isIncluded`.
    func seek(before key: UnsafeRawBufferPointer, orAt isIncluded: Bool) throws(LMDBError) -> Bool {
        if isIncluded, try seek(to: key) { return true }
        return try seek(before: key)
    }
}
