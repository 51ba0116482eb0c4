import LMDB

/// A table of entries together with its two buffers, in which recent changes wait.
///
/// Inserting entries in random key order touches one page of a large table each, and a commit copies and writes every
/// one of them. So new entries wait in a buffer, and removed keys in another. A commit rewrites only a part of these;
/// they are moved to the main table later, a run of neighbouring keys at a time (after P. O'Neil, E. Cheng, D. Gawlick
/// and E. O'Neil, "The Log-Structured Merge-Tree", 1996: two trees and a rolling merge). All three are tables of one
/// environment, so a commit changes them together.
///
/// An entry in the buffer is not in the main table. An entry whose removal waits is still there.
struct BufferedTable: Sendable {
    let main: Table
    /// Nil where the table has none.
    let buffer: Table?
    /// Keys of entries that are still in the main table but count as removed; nil where removals do not wait.
    let removals: Table?

    init(_ main: Table, buffer: Table? = nil, removals: Table? = nil) {
        self.main = main
        self.buffer = buffer
        self.removals = removals
    }

    /// All of its LMDB tables.
    var parts: [Table] { [main, buffer, removals].compactMap { $0 } }

    /// The number of entries, with those that wait.
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

    /// The leaf pages of all its tables.
    func leafPageCount(_ transaction: ReadTransaction) throws(LMDBError) -> Int {
        var pages = 0
        for table in parts { pages += try transaction.statistics(table).leafPageCount }
        return pages
    }

    /// By how much the waiting changes exceed the limit; negative while there is room.
    func surplus(_ transaction: ReadTransaction, _ limits: BufferLimits) throws(LMDBError) -> Int {
        var waiting = 0
        for table in parts.dropFirst() { waiting += try transaction.count(table) }
        return try waiting - limits.size(beside: transaction.count(main))
    }

    /// Whether a batch of `count` changes shall wait in the buffers.
    func gathers(_ count: Int, _ limits: BufferLimits, _ transaction: ReadTransaction) throws(LMDBError) -> Bool {
        guard buffer != nil else { return false }
        return try limits.gather(count, beside: transaction.statistics(main))
    }

    /// Returns the waiting insertions minus the waiting removals of keys that begin with `prefix`, which is shorter
    /// than a key.
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

    /// Runs the body with a cursor over the entries, with those that wait.
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

/// When changes wait in buffers, and how many may.
///
/// A commit rewrites a part of the buffer, which grows with the buffer, and the pages that the oldest run moves to,
/// which become fewer. Together these are least at about the square root of the table's entries, times a factor that
/// depends on how full pages are. To measure it: `strata-bench run --size 1000000 --filter insert`.
package struct BufferLimits: Sendable {
    /// In a table of fewer leaf pages changes do not wait: it is rewritten quickly.
    package var fewestPages: Int
    /// A batch with more changes for each page of the table does not wait.
    package var mostEntriesForEachPage: Int
    /// The least number of changes that are moved to the main table together.
    package var fewestLeaving: Int
    /// The capacity of the buffers, as a multiple of the square root of the table's entries.
    package var sizeInRoots: Double

    package init(
        fewestPages: Int = 1024, mostEntriesForEachPage: Int = 8, fewestLeaving: Int = 4096, sizeInRoots: Double = 96
    ) {
        self.fewestPages = fewestPages
        self.mostEntriesForEachPage = mostEntriesForEachPage
        self.fewestLeaving = fewestLeaving
        self.sizeInRoots = sizeInRoots
    }

    /// The number of changes that may wait beside a table with `entryCount` entries.
    func size(beside entryCount: Int) -> Int { Int(sizeInRoots * Double(max(1, entryCount)).squareRoot()) }

    /// Whether a batch of `count` changes shall wait.
    func gather(_ count: Int, beside main: TableStatistics) -> Bool {
        main.leafPageCount >= fewestPages && count < main.leafPageCount * mostEntriesForEachPage
    }
}
