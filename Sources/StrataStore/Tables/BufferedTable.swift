import LMDB

/// A table of entries, and the small ones in which changes to it gather before they go there.
///
/// Entries at places all over a large table touch a page each, which a commit copies and writes. New ones are put into a
/// buffer, and those that go are noted in another, of which a commit rewrites little; both are carried out a stretch of
/// neighbours at a time (after P. O'Neil, E. Cheng, D. Gawlick and E. O'Neil, "The Log-Structured Merge-Tree", 1996, with
/// two trees, and its rolling merge). All are tables of one environment, so a commit changes them together.
///
/// What is in the buffer is not in the main table; whose removal waits is there.
struct BufferedTable: Sendable {
    let main: Table
    /// Nil of tables that have none.
    let buffer: Table?
    /// Keys of entries of the main table that stand no more; nil where removals do not wait.
    let removals: Table?

    init(_ main: Table, buffer: Table? = nil, removals: Table? = nil) {
        self.main = main
        self.buffer = buffer
        self.removals = removals
    }

    /// All of its tables.
    var parts: [Table] { [main, buffer, removals].compactMap { $0 } }

    /// Entries that stand.
    func count(_ transaction: ReadTransaction) throws(LMDBError) -> Int {
        var count = try transaction.count(main)
        if let buffer { count += try transaction.count(buffer) }
        if let removals { count -= try transaction.count(removals) }
        return count
    }

    /// Whether there is a record with exactly this key.
    func contains(_ key: UnsafeRawBufferPointer, _ transaction: ReadTransaction) throws(LMDBError) -> Bool {
        if try transaction.get(main, key) != nil {
            guard let removals = try Self.filled(removals, transaction) else { return true }
            return try transaction.get(removals, key) == nil
        }
        guard let buffer = try Self.filled(buffer, transaction) else { return false }
        return try transaction.get(buffer, key) != nil
    }

    /// Leaf pages of all.
    func leafPageCount(_ transaction: ReadTransaction) throws(LMDBError) -> Int {
        var pages = 0
        for table in parts { pages += try transaction.statistics(table).leafPageCount }
        return pages
    }

    /// How many more changes wait than should; below zero there is room.
    func surplus(_ transaction: ReadTransaction, _ limits: BufferLimits) throws(LMDBError) -> Int {
        var waiting = 0
        for table in parts.dropFirst() { waiting += try transaction.count(table) }
        return try waiting - limits.size(beside: transaction.count(main))
    }

    /// Whether a batch of so many changes is to wait.
    func gathers(_ count: Int, _ limits: BufferLimits, _ transaction: ReadTransaction) throws(LMDBError) -> Bool {
        guard buffer != nil else { return false }
        return try limits.gather(count, beside: transaction.statistics(main))
    }

    func clear(_ transaction: WriteTransaction) throws(LMDBError) {
        for table in parts { try transaction.clear(table) }
    }

    /// How many more entries whose keys begin so wait to come than to go; below zero, how many fewer. The prefix is
    /// shorter than keys are.
    func balance(of prefix: UnsafeRawBufferPointer, _ transaction: ReadTransaction) throws -> Int {
        func count(_ table: Table?) throws -> Int {
            guard let table = try Self.filled(table, transaction) else { return 0 }
            return try transaction.withCursor(table) { cursor in
                var count = 0
                var isThere = try cursor.seek(atOrAfter: prefix)
                while isThere, cursor.key.starts(with: prefix) {
                    count += 1
                    isThere = try cursor.next()
                }
                return count
            }
        }
        return try count(buffer) - count(removals)
    }

    /// Runs the body with a walk over the entries that stand.
    func withCursor<R>(_ transaction: ReadTransaction, _ body: (inout EntryCursor) throws -> R) throws -> R {
        try withCursors(transaction) { main, buffer in
            var cursor = EntryCursor(main, buffer)
            return try body(&cursor)
        }
    }

    /// Calls `body` with a cursor in each of the tables that has records.
    func withCursors<R>(_ transaction: ReadTransaction, _ body: (MainCursor, Cursor?) throws -> R) throws -> R {
        try transaction.withCursor(main) { main in
            guard let removals = try Self.filled(removals, transaction) else {
                return try withBuffer(MainCursor(main), transaction, body)
            }
            return try transaction.withCursor(removals) {
                try withBuffer(MainCursor(main, without: $0), transaction, body)
            }
        }
    }

    @inline(__always)
    private func withBuffer<R>(
        _ main: MainCursor, _ transaction: ReadTransaction, _ body: (MainCursor, Cursor?) throws -> R
    ) throws -> R {
        guard let buffer = try Self.filled(buffer, transaction) else { return try body(main, nil) }
        return try transaction.withCursor(buffer) { try body(main, $0) }
    }

    @inline(__always)
    private static func filled(_ table: Table?, _ transaction: ReadTransaction) throws(LMDBError) -> Table? {
        guard let table, try transaction.count(table) > 0 else { return nil }
        return table
    }
}

/// When changes gather, and how many.
///
/// A commit rewrites a part of the buffer, which grows with it, and the pages that its oldest stretch goes to, which are
/// the fewer the larger it is: together they are least about the square root of the table's entries, times a number that
/// the pages' fill tells. What it comes to: `strata-bench run --size 1000000 --filter insert`.
package struct BufferLimits: Sendable {
    /// Entries of a smaller table go where they belong: it is rewritten quickly.
    package var fewestPages: Int
    /// A batch with more entries for each page of the table goes where it belongs.
    package var mostEntriesForEachPage: Int
    /// Changes that are carried out together, at least.
    package var fewestLeaving: Int
    /// How many times the square root of the table's entries its buffers hold.
    package var sizeInRoots: Double

    package init(
        fewestPages: Int = 1024, mostEntriesForEachPage: Int = 8, fewestLeaving: Int = 4096, sizeInRoots: Double = 96
    ) {
        self.fewestPages = fewestPages
        self.mostEntriesForEachPage = mostEntriesForEachPage
        self.fewestLeaving = fewestLeaving
        self.sizeInRoots = sizeInRoots
    }

    /// Changes that wait beside a table of so many entries.
    func size(beside entryCount: Int) -> Int { Int(sizeInRoots * Double(max(1, entryCount)).squareRoot()) }

    /// Whether so many changes gather.
    func gather(_ count: Int, beside main: TableStatistics) -> Bool {
        main.leafPageCount >= fewestPages && count < main.leafPageCount * mostEntriesForEachPage
    }
}
