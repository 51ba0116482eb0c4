import CLMDB

/// Goes through the records of one table in key order, as one transaction sees them.
///
/// A new cursor stands nowhere; each move that returns true leaves it on a record, whose bytes `key` and `value` show
/// until the next move (or, in a write transaction, the next write).
@usableFromInline package class Cursor: OpenCursor {
    @exclusivity(unchecked) @usableFromInline final var currentKey = UnsafeRawBufferPointer(start: nil, count: 0)
    @exclusivity(unchecked) @usableFromInline final var currentValue = UnsafeRawBufferPointer(start: nil, count: 0)

    // Getters, since other modules would check each access to the variables themselves.

    /// The key of the current record; only after a move that returned true.
    @inlinable package final var key: UnsafeRawBufferPointer { currentKey }
    /// The value of the current record; only after a move that returned true.
    @inlinable package final var value: UnsafeRawBufferPointer { currentValue }

    // MARK: Moving

    /// Moves to the first record; false when the table is empty.
    package final func first() throws(LMDBError) -> Bool { try move(MDB_FIRST) }

    /// Moves to the last record; false when the table is empty.
    package final func last() throws(LMDBError) -> Bool { try move(MDB_LAST) }

    /// Moves to the next record, to the first one from nowhere; false behind the last.
    package final func next() throws(LMDBError) -> Bool { try move(MDB_NEXT) }

    /// Moves to the record before, to the last one from nowhere; false before the first.
    package final func previous() throws(LMDBError) -> Bool { try move(MDB_PREV) }

    /// Moves to the first record whose key is not below the given one; false when there is none.
    package final func seek(atOrAfter key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        // No key is below the empty one, and LMDB has no empty keys.
        if key.isEmpty { return try first() }
        return try move(MDB_SET_RANGE, MDB_val(key))
    }

    /// Moves to the first record whose key is not below the number in big-endian bytes.
    package final func seek(atOrAfter key: UInt64) throws(LMDBError) -> Bool {
        try withBytes(of: key) { bytes throws(LMDBError) in try seek(atOrAfter: bytes) }
    }

    /// Moves to the record with exactly this key; false when there is none.
    package final func seek(to key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        guard UInt(bitPattern: key.count &- 1) < UInt(Table.maximumKeySizeInBytes) else {
            throw transaction.failure(MDB_BAD_VALSIZE, "move a cursor")
        }
        return try move(MDB_SET_KEY, MDB_val(key))
    }

    /// Moves to the record whose key is the number in big-endian bytes.
    package final func seek(to key: UInt64) throws(LMDBError) -> Bool {
        try withBytes(of: key) { bytes throws(LMDBError) in try seek(to: bytes) }
    }

    /// Moves to the last record whose key is below the given one; false when there is none.
    package final func seek(before key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        try seek(atOrAfter: key) ? try previous() : try last()
    }

    /// Moves to the last record whose key is below the number in big-endian bytes.
    package final func seek(before key: UInt64) throws(LMDBError) -> Bool {
        try withBytes(of: key) { bytes throws(LMDBError) in try seek(before: bytes) }
    }

    @inline(__always)
    private func withBytes(
        of key: UInt64, _ body: (UnsafeRawBufferPointer) throws(LMDBError) -> Bool
    ) throws(LMDBError) -> Bool {
        let bytes = key.bigEndian
        return try withUnsafeBytes(of: bytes, body)
    }

    @inline(__always)
    private func move(
        _ operation: MDB_cursor_op, _ sought: MDB_val = MDB_val()
    ) throws(LMDBError) -> Bool {
        var foundKey = sought
        var foundValue = MDB_val()
        let result = mdb_cursor_get(active, &foundKey, &foundValue, operation)
        guard result == 0 else { return try stayNowhere(result) }
        if !bounds.contain(foundValue.mv_data, count: foundValue.mv_size)
            || !bounds.contain(foundKey.mv_data, count: foundKey.mv_size)
        {
            try checkSlowly(foundKey, foundValue)
        }
        currentKey = UnsafeRawBufferPointer(start: foundKey.mv_data, count: foundKey.mv_size)
        currentValue = UnsafeRawBufferPointer(start: foundValue.mv_data, count: foundValue.mv_size)
        return true
    }

    @inline(never)
    private func stayNowhere(_ result: Int32) throws(LMDBError) -> Bool {
        currentKey = UnsafeRawBufferPointer(start: nil, count: 0)
        currentValue = currentKey
        if result == MDB_NOTFOUND { return false }
        throw transaction.failure(result, "move a cursor")
    }

    @inline(never)
    private func checkSlowly(_ key: MDB_val, _ value: MDB_val) throws(LMDBError) {
        // A writer's own pages are not in the map. The transaction checks that too, but costs a reference count.
        if isWriting, bounds.areOutside(key.mv_data), bounds.areOutside(value.mv_data) { return }
        try transaction.checkSlowly(key)
        try transaction.checkSlowly(value)
    }
}
