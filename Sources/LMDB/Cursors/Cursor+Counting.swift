extension Cursor {
    /// Counts the records from the cursor's on whose keys lie below `upper`, at most `limit`, and leaves the cursor
    /// where it stopped; a cursor without a position counts none.
    ///
    /// A page whose last key is below `upper` counts by the number in its head, without a look at its records.
    ///
    /// - Complexity: a few comparisons for each page of records.
    package final func count(below upper: UnsafeRawBufferPointer, atMost limit: Int) throws(LMDBError) -> Int {
        var count = 0
        var isThere = key.baseAddress != nil
        while isThere, count < limit {
            if let rest = restOfPage(), try lastKey(of: rest).compare(with: upper) < 0 {
                count += rest.count
                isThere = try move(behind: rest)
            } else {
                guard key.compare(with: upper) < 0 else { break }
                count += 1
                isThere = try next()
            }
        }
        return min(count, limit)
    }
}
