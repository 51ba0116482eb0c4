import CLMDB

/// Goes through the records of one table in key order, as one transaction sees them.
///
/// A new cursor has no position; each move that returns true leaves it at a record, whose bytes `key` and `value` show
/// until the next move (or, in a write transaction, the next write). A move that returns false leaves it between
/// records, or before or behind all of them.
///
/// In a read transaction the cursor reads the pages itself (`Cursor+Walking`); in a write transaction, whose changed
/// pages are in LMDB's memory, LMDB moves it (`Cursor+LMDB`).
@usableFromInline package class Cursor: OpenCursor {
    @exclusivity(unchecked) @usableFromInline final var currentKey = UnsafeRawBufferPointer(start: nil, count: 0)
    @exclusivity(unchecked) @usableFromInline final var currentValue = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The pages from the root to the leaf. Only in a read transaction.
    @exclusivity(unchecked) final var path = TreePath()
    /// The leaf page, while `leafCount` is not 0, and the index of the record in it.
    @exclusivity(unchecked) final var leaf = UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped
    @exclusivity(unchecked) final var leafIndex = 0
    /// Whether the cursor is between a record and that at `leafIndex + 1`.
    @exclusivity(unchecked) final var isBetween = false

    // Getters, since other modules would check each access to the variables themselves.

    /// The key of the current record; only after a move that returned true.
    @inlinable package final var key: UnsafeRawBufferPointer { currentKey }
    /// The value of the current record; only after a move that returned true.
    @inlinable package final var value: UnsafeRawBufferPointer { currentValue }

    deinit { path.deallocate() }

    /// Closes the cursor, which then has no position.
    final func leave() {
        close()
        clearRecord()
    }

    // MARK: Moving

    /// Moves to the first record; false when the table is empty.
    package final func first() throws(LMDBError) -> Bool {
        usesLMDB ? try moveToEnd(MDB_FIRST, .first) : try walkToFirst()
    }

    /// Moves to the last record; false when the table is empty.
    package final func last() throws(LMDBError) -> Bool { usesLMDB ? try moveToEnd(MDB_LAST, .last) : try walkToLast() }

    /// Moves to the next record, to the first one from nowhere; false behind the last.
    package final func next() throws(LMDBError) -> Bool { usesLMDB ? try step(MDB_NEXT) : try walkToNext() }

    /// Moves to the record before, to the last one from nowhere; false before the first.
    package final func previous() throws(LMDBError) -> Bool { usesLMDB ? try step(MDB_PREV) : try walkToPrevious() }

    /// Moves to the first record whose key is not below the given one; false when there is none.
    package final func seek(atOrAfter key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        // No key is below the empty one, and LMDB has no empty keys.
        if key.isEmpty { return try first() }
        return usesLMDB ? try search(MDB_SET_RANGE, key) : try walk(atOrAfter: key)
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
        return usesLMDB ? try search(MDB_SET_KEY, key) : try walk(to: key)
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

    /// Shows no record.
    final func clearRecord() {
        currentKey = UnsafeRawBufferPointer(start: nil, count: 0)
        currentValue = currentKey
    }
}
