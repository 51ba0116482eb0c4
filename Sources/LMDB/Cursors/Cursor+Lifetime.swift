import CLMDB

extension ReadTransaction {
    /// A new cursor in a table, standing nowhere.
    package final func cursor(_ table: Table) throws(LMDBError) -> Cursor {
        if let spare = spareCursors?[Int(table.handle)] {
            spareCursors?[Int(table.handle)] = nil
            return try reopened(spare.takeRetainedValue())
        }
        return try Cursor(self, table)
    }

    /// Runs the body with a cursor and closes it; the cheapest way to scan, since cursors are kept for reuse.
    @inlinable
    package final func withCursor<Success>(
        _ table: Table, _ body: (Cursor) throws -> Success
    ) throws -> Success {
        var cursor = try cursor(table)
        defer { recycle(&cursor) }
        return try body(cursor)
    }

    /// Closes a cursor and keeps its memory for the next one in the same table, unless somebody still refers to it.
    package final func recycle(_ cursor: inout Cursor) {
        guard !isWriting, isKnownUniquelyReferenced(&cursor), let handle = cursor.handle else {
            cursor.close()
            return
        }
        cursor.unlink()
        cursor.idleHandle = handle
        cursor.handle = nil
        let spares = spareCursors ?? makeRoomForSpareCursors()
        let index = Int(cursor.table.handle)
        if spares[index] == nil { spares[index] = Unmanaged.passRetained(cursor) }
    }

    /// One place for each table, and the two that LMDB keeps for itself.
    @inline(never)
    private func makeRoomForSpareCursors() -> UnsafeMutablePointer<Unmanaged<Cursor>?> {
        let count = environment.options.maximumTables + 2
        let room = UnsafeMutablePointer<Unmanaged<Cursor>?>.allocate(capacity: count)
        room.initialize(repeating: nil, count: count)
        spareCursors = room
        return room
    }

    /// Closes the cursors kept for reuse. Comes before the end of LMDB's transaction.
    final func dropSpareCursors() {
        guard let spareCursors else { return }
        for index in 0..<environment.options.maximumTables + 2 { spareCursors[index]?.release() }
        spareCursors.deallocate()
        self.spareCursors = nil
    }

    private func reopened(_ spare: Cursor) throws(LMDBError) -> Cursor {
        let result = mdb_cursor_renew(active, spare.idleHandle)
        guard result == 0 else { throw failure(result, "renew a cursor") }
        spare.handle = spare.idleHandle
        spare.idleHandle = nil
        spare.transaction = self
        spare.link()
        return spare
    }
}

extension WriteTransaction {
    /// A new cursor that may change the table.
    package func writeCursor(_ table: Table) throws(LMDBError) -> WriteCursor {
        try WriteCursor(self, table)
    }

    /// Runs the body with a cursor that may change the table, and closes it.
    @inlinable
    package func withWriteCursor<Success>(
        _ table: Table, _ body: (WriteCursor) throws -> Success
    ) throws -> Success {
        let cursor = try writeCursor(table)
        defer { cursor.close() }
        return try body(cursor)
    }
}

extension Cursor {
    /// Enters the list of open cursors of the transaction.
    final func link() {
        previousOpen = nil
        nextOpen = transaction.firstCursor
        nextOpen?._withUnsafeGuaranteedRef { $0.previousOpen = Unmanaged.passUnretained(self) }
        transaction.firstCursor = Unmanaged.passUnretained(self)
    }

    /// Leaves that list.
    final func unlink() {
        if let previousOpen {
            previousOpen._withUnsafeGuaranteedRef { $0.nextOpen = nextOpen }
        } else {
            transaction.firstCursor = nextOpen
        }
        nextOpen?._withUnsafeGuaranteedRef { $0.previousOpen = previousOpen }
        nextOpen = nil
        previousOpen = nil
    }
}
