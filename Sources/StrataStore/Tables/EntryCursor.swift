import LMDB

/// A cursor over a buffered table: all of its entries in key order, from the main table and the buffer.
///
/// A search sets the direction in which `advance` goes on. Keys are valid for as long as those of LMDB's cursors.
struct EntryCursor {
    private var main: MainCursor
    /// Nil if the buffer is empty.
    private let buffer: Cursor?
    private var hasMain = false
    private var hasBuffer = false
    private var isInBuffer = false
    private var isDescending = false

    init(_ main: MainCursor, _ buffer: Cursor?) {
        self.main = main
        self.buffer = buffer
    }

    /// The key of the current entry; valid after a move that returned true.
    @inline(__always)
    var key: UnsafeRawBufferPointer {
        if isInBuffer, let buffer { return buffer.key }
        return main.key
    }

    @inline(__always)
    var value: UnsafeRawBufferPointer {
        if isInBuffer, let buffer { return buffer.value }
        return main.value
    }

    /// Moves to the first entry.
    mutating func first() throws(LMDBError) -> Bool {
        isDescending = false
        hasMain = try main.first()
        guard let buffer else { return hasMain }
        hasBuffer = try buffer.first()
        return choose(buffer)
    }

    /// Moves to the first entry whose key is not below the given one.
    mutating func seek(atOrAfter key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        isDescending = false
        hasMain = try main.seek(atOrAfter: key)
        guard let buffer else { return hasMain }
        hasBuffer = try buffer.seek(atOrAfter: key)
        return choose(buffer)
    }

    /// Moves to the last entry whose key is below the given one, or equals it if `isIncluded`.
    mutating func seek(
        before key: UnsafeRawBufferPointer, orAt isIncluded: Bool = false
    ) throws(LMDBError) -> Bool {
        isDescending = true
        hasMain = try main.seek(before: key, orAt: isIncluded)
        guard let buffer else { return hasMain }
        hasBuffer = try buffer.seek(before: key, orAt: isIncluded)
        return choose(buffer)
    }

    /// Moves to the next entry in the direction of the last search; valid after a move that returned true.
    @inline(__always)
    mutating func advance() throws(LMDBError) -> Bool {
        guard let buffer else { return try isDescending ? main.previous() : main.next() }
        return try advanceBoth(buffer)
    }

    private mutating func advanceBoth(_ buffer: Cursor) throws(LMDBError) -> Bool {
        if isInBuffer {
            hasBuffer = try isDescending ? buffer.previous() : buffer.next()
        } else {
            hasMain = try isDescending ? main.previous() : main.next()
        }
        return choose(buffer)
    }

    /// Counts the entries from the current one on whose keys are below `upper`, up to `limit`. The cursor has no
    /// position afterwards. Valid after `seek(atOrAfter:)`.
    mutating func count(below upper: UnsafeRawBufferPointer, atMost limit: Int) throws(LMDBError) -> Int {
        let count = hasMain ? try main.count(below: upper, atMost: limit) : 0
        guard let buffer, hasBuffer, count < limit else { return count }
        return try count + buffer.count(below: upper, atMost: limit - count)
    }

    private mutating func choose(_ buffer: Cursor) -> Bool {
        guard hasMain, hasBuffer else {
            isInBuffer = hasBuffer
            return hasMain || hasBuffer
        }
        let order = buffer.key.compare(with: main.key)
        isInBuffer = isDescending ? order > 0 : order < 0
        return true
    }
}
