import CLMDB

/// The way from the root of a table to the record that a cursor stands on, as LMDB keeps it.
///
/// LMDB does not tell. Its record of a cursor (0.9, 64-bit) holds, from 24 bytes on: the transaction, the table's number,
/// four pointers, u16 the depth of the stack and u16 its top, u32 flags (1: it stands somewhere), a stack of 32 pages,
/// and of 32 places in them u16. The first two can be asked for and are compared; another version is not looked at.
/// (Source: `struct MDB_cursor` of LMDB's mdb.c.)
struct CursorStack {
    /// How many pages there are from the root to the leaf, both counted.
    let depth: Int
    private let record: UnsafeRawPointer

    private static let capacity = 32
    private static let pagesPlace = 72
    private static let placesPlace = pagesPlace + 8 * capacity

    private static let isLayoutKnown = Environment.libraryVersion.hasPrefix("0.9.") && Int.bitWidth == 64

    /// - Returns: nil where the cursor stands nowhere, or the record is another.
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

    /// The page of a level; 0 is the root.
    func page(_ level: Int) -> UnsafeRawPointer? {
        record.load(fromByteOffset: Self.pagesPlace + 8 * level, as: UnsafeRawPointer?.self)
    }

    /// The place in the page of a level.
    func place(_ level: Int) -> Int {
        Int(record.load(fromByteOffset: Self.placesPlace + 2 * level, as: UInt16.self))
    }
}
