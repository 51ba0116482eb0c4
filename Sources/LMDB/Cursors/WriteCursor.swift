import CLMDB

/// A cursor that can also change its table.
package final class WriteCursor: Cursor {
    /// Removes the current record. `next()` then moves to the record behind it.
    package func delete() throws(LMDBError) {
        let result = mdb_cursor_del(active, 0)
        guard result == 0 else { throw transaction.failure(result, "delete a record") }
    }

    /// Stores a value and moves there. Faster than the transaction's `put` when keys ascend, since the search begins at
    /// the cursor's page.
    package func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(LMDBError) {
        guard key.count > 0, key.count <= Table.maximumKeySizeInBytes else {
            throw transaction.failure(MDB_BAD_VALSIZE, "put a value")
        }
        var keyValue = MDB_val(key)
        var dataValue = MDB_val(value)
        let result = mdb_cursor_put(active, &keyValue, &dataValue, 0)
        guard result == 0 else { throw transaction.failure(result, "put a value") }
    }

    /// Stores a value behind the last key, under a number in big-endian bytes, and moves there.
    /// - Throws: `keyExists` when the number is not above the last one of the table.
    package func append(_ key: UInt64, _ value: UnsafeRawBufferPointer) throws(LMDBError) {
        var bytes = key.bigEndian
        var dataValue = MDB_val(value)
        let handle = active
        let result = withUnsafeMutableBytes(of: &bytes) { buffer in
            var keyValue = MDB_val(mv_size: 8, mv_data: buffer.baseAddress)
            return mdb_cursor_put(handle, &keyValue, &dataValue, UInt32(MDB_APPEND))
        }
        guard result == 0 else { throw transaction.failure(result, "append a value") }
    }

    /// Makes room for a value, replacing an older one, and moves there. The caller writes the bytes, which are not
    /// cleared, before the next call on the transaction.
    package func reserve(
        _ key: UnsafeRawBufferPointer, sizeInBytes: Int
    ) throws(LMDBError) -> UnsafeMutableRawBufferPointer {
        guard key.count > 0, key.count <= Table.maximumKeySizeInBytes else {
            throw transaction.failure(MDB_BAD_VALSIZE, "reserve a value")
        }
        var keyValue = MDB_val(key)
        var value = MDB_val(mv_size: sizeInBytes, mv_data: nil)
        let result = mdb_cursor_put(active, &keyValue, &value, UInt32(MDB_RESERVE))
        guard result == 0 else { throw transaction.failure(result, "reserve a value") }
        return UnsafeMutableRawBufferPointer(start: value.mv_data, count: sizeInBytes)
    }
}
