import LMDB

/// A table of entries, and the small one in which new entries gather before they go there.
///
/// Entries at places all over a large table touch a page each, which a commit copies and writes. They are put into a
/// buffer, of which a commit rewrites little, and moved from there a stretch of neighbours at a time (after P. O'Neil,
/// E. Cheng, D. Gawlick and E. O'Neil, "The Log-Structured Merge-Tree", 1996, with two trees, and its rolling merge).
/// Both are tables of one environment, so a commit changes them together.
struct BufferedTable: Sendable {
    let main: Table
    /// Nil of tables that have none.
    let buffer: Table?

    init(_ main: Table, buffer: Table? = nil) {
        self.main = main
        self.buffer = buffer
    }

    func count(_ transaction: ReadTransaction) throws(LMDBError) -> Int {
        guard let buffer else { return try transaction.count(main) }
        return try transaction.count(main) + transaction.count(buffer)
    }

    /// Whether there is a record with exactly this key.
    func contains(_ key: UnsafeRawBufferPointer, _ transaction: ReadTransaction) throws(LMDBError) -> Bool {
        if try transaction.get(main, key) != nil { return true }
        guard let buffer = try filledBuffer(transaction) else { return false }
        return try transaction.get(buffer, key) != nil
    }

    /// Leaf pages of both.
    func leafPageCount(_ transaction: ReadTransaction) throws(LMDBError) -> Int {
        let pages = try transaction.statistics(main).leafPageCount
        guard let buffer else { return pages }
        return try pages + transaction.statistics(buffer).leafPageCount
    }

    /// How many more records the buffer holds than it should; below zero there is room.
    func surplus(_ transaction: ReadTransaction, _ limits: BufferLimits) throws(LMDBError) -> Int {
        guard let buffer else { return 0 }
        return try transaction.count(buffer) - limits.size(beside: transaction.count(main))
    }

    func clear(_ transaction: WriteTransaction) throws(LMDBError) {
        try transaction.clear(main)
        if let buffer { try transaction.clear(buffer) }
    }

    /// Runs the body with a walk over the entries of both.
    func withCursor<R>(_ transaction: ReadTransaction, _ body: (inout EntryCursor) throws -> R) throws -> R {
        try transaction.withCursor(main) { main in
            guard let buffer = try filledBuffer(transaction) else {
                var cursor = EntryCursor(main, nil)
                return try body(&cursor)
            }
            return try transaction.withCursor(buffer) { buffer in
                var cursor = EntryCursor(main, buffer)
                return try body(&cursor)
            }
        }
    }

    /// Calls `body` with a cursor in each of the tables that has records.
    func withCursors<R>(_ transaction: ReadTransaction, _ body: (Cursor, Cursor?) throws -> R) throws -> R {
        try transaction.withCursor(main) { main in
            guard let buffer = try filledBuffer(transaction) else { return try body(main, nil) }
            return try transaction.withCursor(buffer) { try body(main, $0) }
        }
    }

    @inline(__always)
    private func filledBuffer(_ transaction: ReadTransaction) throws(LMDBError) -> Table? {
        guard let buffer, try transaction.count(buffer) > 0 else { return nil }
        return buffer
    }
}

/// When entries gather, and how many.
///
/// A commit rewrites a part of the buffer, which grows with it, and the pages that its oldest stretch goes to, which are
/// the fewer the larger it is: together they are least about the square root of the table's entries, times a number that
/// the pages' fill tells. What it comes to: `strata-bench run --size 1000000 --filter insert`.
package struct BufferLimits: Sendable {
    /// Entries of a smaller table go where they belong: it is rewritten quickly.
    package var fewestPages: Int
    /// A batch with more entries for each page of the table goes where it belongs.
    package var mostEntriesForEachPage: Int
    /// Entries that leave together, at least.
    package var fewestLeaving: Int
    /// How many times the square root of the table's entries a buffer holds.
    package var sizeInRoots: Double

    package init(
        fewestPages: Int = 1024, mostEntriesForEachPage: Int = 4, fewestLeaving: Int = 4096, sizeInRoots: Double = 96
    ) {
        self.fewestPages = fewestPages
        self.mostEntriesForEachPage = mostEntriesForEachPage
        self.fewestLeaving = fewestLeaving
        self.sizeInRoots = sizeInRoots
    }

    /// Entries that a buffer holds beside a table of so many.
    func size(beside entryCount: Int) -> Int { Int(sizeInRoots * Double(max(1, entryCount)).squareRoot()) }

    /// Whether so many new entries gather.
    func gather(_ count: Int, beside main: TableStatistics) -> Bool {
        main.leafPageCount >= fewestPages && count < main.leafPageCount * mostEntriesForEachPage
    }
}
