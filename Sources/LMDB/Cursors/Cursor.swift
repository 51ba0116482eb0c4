import CLMDB

/// A place in one table, seen by one transaction.
///
/// A new cursor stands nowhere; each move that returns true leaves it on a record, whose bytes `key` and `value` show
/// until the next move (or, in a write transaction, the next write). It closes with `close()`, when it is released,
/// or with its transaction, whichever comes first; use after that is trapped.
@usableFromInline package class Cursor {
    /// LMDB's cursor while it is open, else nil.
    @exclusivity(unchecked) final var handle: OpaquePointer?
    /// LMDB's cursor while it waits in its transaction to be used again.
    @exclusivity(unchecked) final var idleHandle: OpaquePointer?
    /// Outlives the open cursor: it closes its cursors when it ends.
    @exclusivity(unchecked) unowned(unsafe) final var transaction: ReadTransaction
    @exclusivity(unchecked) final var nextOpen: Unmanaged<Cursor>?
    @exclusivity(unchecked) final var previousOpen: Unmanaged<Cursor>?
    final let bounds: MapBounds
    final let isWriting: Bool
    final let table: Table
    @exclusivity(unchecked) @usableFromInline final var currentKey = UnsafeRawBufferPointer(start: nil, count: 0)
    @exclusivity(unchecked) @usableFromInline final var currentValue = UnsafeRawBufferPointer(start: nil, count: 0)

    // Getters, since other modules would check each access to the variables themselves.

    /// The key of the current record; only after a move that returned true.
    @inlinable package final var key: UnsafeRawBufferPointer { currentKey }
    /// The value of the current record; only after a move that returned true.
    @inlinable package final var value: UnsafeRawBufferPointer { currentValue }

    init(_ transaction: ReadTransaction, _ table: Table) throws(LMDBError) {
        self.transaction = transaction
        self.table = table
        bounds = transaction.bounds
        isWriting = transaction.isWriting
        var opened: OpaquePointer?
        let result = mdb_cursor_open(transaction.active, table.handle, &opened)
        guard result == 0, let opened else { throw transaction.failure(result, "open a cursor") }
        handle = opened
        link()
    }

    deinit {
        close()
        if let idleHandle { mdb_cursor_close(idleHandle) }
    }

    /// Ends the use of the cursor. Closing twice does nothing.
    package final func close() {
        guard let handle else { return }
        unlink()
        mdb_cursor_close(handle)
        self.handle = nil
    }

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
        // A writer's own pages are no part of the map. The transaction says so too, at the price of counting a reference.
        if isWriting, bounds.areOutside(key.mv_data), bounds.areOutside(value.mv_data) { return }
        try transaction.checkSlowly(key)
        try transaction.checkSlowly(value)
    }

    @inline(__always)
    final var active: OpaquePointer {
        guard let handle else {
            preconditionFailure("A cursor was used after it was closed or its transaction had ended.")
        }
        return handle
    }
}

/// A cursor that may also change the table it stands in.
package final class WriteCursor: Cursor {
    /// Removes the current record. `next()` then moves to the record behind it.
    package func delete() throws(LMDBError) {
        let result = mdb_cursor_del(active, 0)
        guard result == 0 else { throw transaction.failure(result, "delete a record") }
    }

    /// Stores a value and moves there. Faster than the transaction's `put` when keys come in ascending order, since the
    /// search begins at the page the cursor stands on.
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
