import CLMDB

/// The path from the root of a table to the cursor's record, read from LMDB's own record of the cursor.
///
/// LMDB has no function for it. Its record of a cursor (0.9, 64-bit) holds, from 24 bytes on: the transaction, the
/// table's number, four pointers, u16 the depth of the stack and u16 its top, u32 flags (1: it stands on a record), a
/// stack of 32 pages, and of 32 indices of their entries u16. LMDB has functions for the first two, which are compared
/// with the record; other versions of LMDB are not read. (Source: `struct MDB_cursor` of LMDB's mdb.c.)
struct CursorStack {
    /// The number of pages from the root to the leaf, both included.
    let depth: Int
    private let record: UnsafeRawPointer

    private static let capacity = 32
    private static let pagesOffset = 72
    private static let indicesOffset = pagesOffset + 8 * capacity

    private static let isLayoutKnown = Environment.libraryVersion.hasPrefix("0.9.") && Int.bitWidth == 64

    /// - Returns: nil if the cursor has no position, or if the record is not as expected.
    init?(_ cursor: OpaquePointer) {
        guard Self.isLayoutKnown else { return nil }
        record = UnsafeRawPointer(cursor)
        let (depth, top) = (
            record.load(fromByteOffset: 64, as: UInt16.self), record.load(fromByteOffset: 66, as: UInt16.self)
        )
        guard record.load(fromByteOffset: 24, as: OpaquePointer?.self) == mdb_cursor_txn(cursor),
            record.load(fromByteOffset: 32, as: UInt32.self) == mdb_cursor_dbi(cursor),
            depth == top &+ 1, top < Self.capacity, record.load(fromByteOffset: 68, as: UInt32.self) & 1 != 0
        else { return nil }
        self.depth = Int(depth)
    }

    /// The branch or leaf page of a level, which may be one that a transaction has changed.
    func page(_ level: Int, _ pageSize: Int) -> Page? {
        guard let start = page(level) else { return nil }
        let bytes = UnsafeRawBufferPointer(start: start, count: pageSize)
        return Page(bytes, level == depth - 1 ? .leaf : .branch)
    }

    /// The entry above a page whose key is not above those of the page; nil for the first page of its level.
    func lowerEntry(of level: Int, _ pageSize: Int) -> UnsafeRawPointer? {
        for above in (0..<level).reversed() where index(above) > 0 {
            guard let page = page(above, pageSize), index(above) < page.count else { return nil }
            return page.entryStart(index(above))
        }
        return nil
    }

    /// The entry above a page whose key is above those of the page; nil for the last page of its level.
    func upperEntry(of level: Int, _ pageSize: Int) -> UnsafeRawPointer? {
        for above in (0..<level).reversed() {
            guard let page = page(above, pageSize) else { return nil }
            if index(above) + 1 < page.count { return page.entryStart(index(above) + 1) }
        }
        return nil
    }

    /// The page of a level; 0 is the root.
    func page(_ level: Int) -> UnsafeRawPointer? {
        record.load(fromByteOffset: Self.pagesOffset + 8 * level, as: UnsafeRawPointer?.self)
    }

    /// The index of the entry in the page of a level.
    func index(_ level: Int) -> Int {
        Int(record.load(fromByteOffset: Self.indicesOffset + 2 * level, as: UInt16.self))
    }
}
