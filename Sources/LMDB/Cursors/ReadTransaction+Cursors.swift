// Opening cursors in transactions, and keeping closed ones of read transactions for reuse.

extension ReadTransaction {
    /// A cursor in a table, at no record yet: one that was kept for reuse, or a new one.
    package final func cursor(_ table: Table) throws(LMDBError) -> Cursor {
        guard let spare = takeSpareCursor(in: table) else { return try Cursor(self, table) }
        _ = active
        spare.reopen(in: self)
        // `recycle` keeps only objects of this class.
        return unsafeDowncast(spare, to: Cursor.self)
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

    /// Closes a cursor and keeps its memory for the next one in the same table, unless the caller still refers to it
    /// elsewhere.
    package final func recycle(_ cursor: inout Cursor) {
        let isReusable = !usesLMDB && cursor.isOpen && isKnownUniquelyReferenced(&cursor)
        cursor.leave()
        if isReusable { keep(cursor) }
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
