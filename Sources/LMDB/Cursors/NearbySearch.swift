/// Finds records under numbers, one after the other: one that stands close behind the last is found in its page, without a
/// search.
///
/// What it finds is valid until the cursor's transaction ends or writes, and nobody else moves the cursor meanwhile.
package struct NearbySearch: ~Copyable {
    private let cursor: Cursor
    /// The number that was found last.
    private var last: UInt64?
    /// The records of its page, once they have been asked for, and its place among them.
    private var page: (records: PageRecords, place: Int)?
    /// How many records behind the last one are looked at.
    private static let reach = 8

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

    /// Nil where it has to be searched for.
    @inline(__always)
    private mutating func valueBehindLast(_ key: UInt64) -> UnsafeRawBufferPointer? {
        guard let last, key > last, key - last <= UInt64(Self.reach) else { return nil }
        // Where no page is known, the cursor stands where `last` was found.
        let (records, found) = page ?? (cursor.pageRecords(), 0)
        var place = found + 1
        let end = min(records.count, place + Self.reach)
        while place < end, let (bytes, value) = records.recordInPage(place), bytes.count == 8 {
            let stored = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
            if stored >= key {
                guard stored == key else { break }
                self.last = key
                page = (records, place)
                return value
            }
            place += 1
        }
        return nil
    }
}
