/// Finds records whose numbers ascend. A record in the page of the record before it is found without a search.
///
/// A value is valid until the cursor's transaction ends or writes. Nothing else may move the cursor meanwhile.
package struct NearbySearch: ~Copyable {
    private let cursor: Cursor
    /// The number that was found last.
    private var last: UInt64?
    /// The records of its page, once they are needed, and its index among them.
    private var page: (records: PageRecords, index: Int)?
    /// The number of records behind the last one that are searched.
    private static let reach = 8

    /// Begins with a cursor at any position.
    package init(_ cursor: Cursor) { self.cursor = cursor }

    /// The value under a number in big-endian bytes; nil where there is none.
    ///
    /// - Complexity: a few loads where the number follows the last, else a search of LMDB's (`strata-bench run --filter
    ///   "update of"`).
    package mutating func value(of key: UInt64) throws(LMDBError) -> UnsafeRawBufferPointer? {
        if let value = valueBehindLast(key) { return value }
        page = nil
        last = nil
        guard try cursor.seek(to: key) else { return nil }
        last = key
        return cursor.value
    }

    /// The value under a number close behind the last one; nil if a search is needed.
    @inline(__always)
    private mutating func valueBehindLast(_ key: UInt64) -> UnsafeRawBufferPointer? {
        guard let last, key > last, key - last <= UInt64(Self.reach) else { return nil }
        // If no page is known, the cursor is at the record of `last`.
        let (records, found) = page ?? (cursor.pageRecords(), 0)
        var index = found + 1
        let end = min(records.count, index + Self.reach)
        while index < end, let (bytes, value) = records.recordInPage(index), bytes.count == 8 {
            let stored = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
            if stored >= key {
                guard stored == key else { break }
                self.last = key
                page = (records, index)
                return value
            }
            index += 1
        }
        return nil
    }
}
