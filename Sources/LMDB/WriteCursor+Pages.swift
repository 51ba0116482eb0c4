import CLMDB
import Synchronization

extension WriteCursor {
    /// The records of the cursor's page behind its own; nil where there are none, or they cannot be told.
    ///
    /// Valid until the next call on the transaction.
    package func recordsBehind() -> PageRecords? {
        guard let (start, own) = place() else { return nil }
        let pageSize = 1 << Int(bounds.pageShift.load(ordering: .relaxed))
        guard let page = LeafPage(UnsafeRawBufferPointer(start: start, count: pageSize)) else { return nil }
        return PageRecords(self, page, from: own + 1)
    }

    /// The page that the cursor stands in, and the place of its record there.
    ///
    /// LMDB does not tell. Its record of a cursor (0.9, 64-bit) holds, from 24 bytes on: the transaction, the table's
    /// number, three pointers and a fourth, u16 the depth of the stack and u16 its top, u32 flags (1: it stands
    /// somewhere), a stack of 32 pages, and of 32 places in them u16. The first two can be asked for and are compared;
    /// another version is not looked at. (Source: `struct MDB_cursor` of LMDB's mdb.c.)
    private func place() -> (page: UnsafeRawPointer, index: Int)? {
        guard Self.isLayoutKnown else { return nil }
        let cursor = active
        let record = UnsafeRawPointer(cursor)
        let (depth, top) = (
            record.load(fromByteOffset: 64, as: UInt16.self), record.load(fromByteOffset: 66, as: UInt16.self)
        )
        guard record.load(fromByteOffset: 24, as: OpaquePointer?.self) == mdb_cursor_txn(cursor),
            record.load(fromByteOffset: 32, as: UInt32.self) == mdb_cursor_dbi(cursor),
            depth == top &+ 1, top < 32, record.load(fromByteOffset: 68, as: UInt32.self) & 1 != 0,
            let page = record.load(fromByteOffset: 72 + 8 * Int(top), as: UnsafeRawPointer?.self)
        else { return nil }
        return (page, Int(record.load(fromByteOffset: 328 + 2 * Int(top), as: UInt16.self)))
    }

    private static let isLayoutKnown: Bool = {
        var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
        _ = mdb_version(&major, &minor, &patch)
        return major == 0 && minor == 9 && Int.bitWidth == 64
    }()
}
