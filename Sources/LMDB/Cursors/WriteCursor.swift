import CLMDB

/// A cursor that can also change its table.
package final class WriteCursor: Cursor {
    /// Removes the current record. `next()` then moves to the record behind it.
    package func delete() throws(LMDBError) {
        if let admission = transaction.admission { try admitNeighbours(admission) }
        let result = clmdb_cursor_del(active)
        guard result == 0 else { throw transaction.failure(result, "delete a record") }
    }

    /// Stores a value and moves there. Faster than the transaction's `put` when keys ascend, since the search begins at
    /// the cursor's page.
    package func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(LMDBError) {
        guard key.count > 0, key.count <= Table.maximumKeySizeInBytes else {
            throw transaction.failure(MDB_BAD_VALSIZE, "put a value")
        }
        try transaction.admission?.admit(table, key)
        var keyValue = MDB_val(key)
        var dataValue = MDB_val(value)
        let result = clmdb_cursor_put(active, &keyValue, &dataValue, 0)
        guard result == 0 else { throw transaction.failure(result, "put a value") }
    }

    /// Stores a value behind the last key, under a number in big-endian bytes, and moves there.
    /// - Throws: `keyExists` when the number is not above the last one of the table.
    package func append(_ key: UInt64, _ value: UnsafeRawBufferPointer) throws(LMDBError) {
        try transaction.admission?.admit(table, key)
        try transaction.admission?.admitLast(of: table)
        var bytes = key.bigEndian
        var dataValue = MDB_val(value)
        let handle = active
        let result = withUnsafeMutableBytes(of: &bytes) { buffer in
            var keyValue = MDB_val(mv_size: 8, mv_data: buffer.baseAddress)
            return clmdb_cursor_put(handle, &keyValue, &dataValue, UInt32(MDB_APPEND))
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
        try transaction.admission?.admit(table, key)
        var keyValue = MDB_val(key)
        var value = MDB_val(mv_size: sizeInBytes, mv_data: nil)
        let result = clmdb_cursor_put(active, &keyValue, &value, UInt32(MDB_RESERVE))
        guard result == 0 else { throw transaction.failure(result, "reserve a value") }
        return UnsafeMutableRawBufferPointer(start: value.mv_data, count: sizeInBytes)
    }
}

extension WriteCursor {
    /// Admits the pages that LMDB reads when it removes the current record, and has not read to come here: those of its
    /// value, the leaf behind it, to which cursors move from a page's last record, and those beside it with which it may
    /// be merged.
    private func admitNeighbours(_ admission: WriteAdmission) throws(LMDBError) {
        if try admission.hasLongValues(table) { try admission.admit(table, key) }
        guard let stack = CursorStack(active) else { return try admission.admit(table, key) }
        var level = stack.depth - 1
        guard let leaf = stack.page(level, pageSize) else { return }
        if stack.index(level) + 1 >= leaf.count, let upper = stack.upperEntry(of: level, pageSize) {
            try admission.admit(table, .key(SoughtKey(entry: upper)))
        }
        guard level > 0, leaf.mayBeMerged(without: stack.index(level)) else { return }
        // LMDB merges pages below the same page above.
        if let above = stack.page(level - 1, pageSize), above.count > 4,
            try admission.admitLeaves(of: table, below: above, beside: stack.index(level - 1))
        {
            return
        }
        while level > 0, let page = stack.page(level, pageSize), page.mayBeMerged(without: stack.index(level)) {
            if let lower = stack.lowerEntry(of: level, pageSize) {
                try admission.admit(table, .before(SoughtKey(entry: lower)))
                try admission.admit(table, .key(SoughtKey(entry: lower)))
            } else {
                try admission.admit(table, .first)
            }
            if let upper = stack.upperEntry(of: level, pageSize) {
                try admission.admit(table, .key(SoughtKey(entry: upper)))
            }
            level -= 1
        }
    }
}

extension Page {
    /// Whether LMDB may merge the page with one beside it when an entry is removed: with a margin, since it does so
    /// below a quarter of a leaf, and below two entries of a branch page.
    fileprivate func mayBeMerged(without index: Int) -> Bool {
        guard Page.kind(of: bytes) == .leaf, count > 2, let entry = entry(index) else { return count <= 4 }
        return size - upper + 2 * count - (entry.end - entry.offset) < size / 3
    }
}

extension WriteTransaction {
    /// Removes a record.
    /// - Returns: whether it was there.
    package func delete(_ table: Table, _ key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        let cursor = try writeCursor(table)
        defer { cursor.close() }
        guard try cursor.seek(to: key) else { return false }
        try cursor.delete()
        return true
    }

    /// Removes the record under a number in big-endian bytes.
    /// - Returns: whether it was there.
    package func delete(_ table: Table, _ key: UInt64) throws(LMDBError) -> Bool {
        let bytes = key.bigEndian
        return try withUnsafeBytes(of: bytes) { bytes throws(LMDBError) in try delete(table, bytes) }
    }
}
