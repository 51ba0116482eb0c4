import CLMDB

/// LMDB's cursor in one table of one transaction, which owns it.
///
/// It closes with `close()`, when it is released, or with its transaction, whichever comes first; use after that is
/// trapped. `Cursor` moves it.
@usableFromInline package class OpenCursor {
    /// LMDB's cursor while it is open, else nil.
    @exclusivity(unchecked) final var handle: OpaquePointer?
    /// LMDB's cursor while it waits in its transaction to be used again.
    @exclusivity(unchecked) final var idleHandle: OpaquePointer?
    /// Outlives the open cursor: it closes its cursors when it ends.
    @exclusivity(unchecked) unowned(unsafe) final var transaction: ReadTransaction
    @exclusivity(unchecked) private final var nextOpen: Unmanaged<OpenCursor>?
    @exclusivity(unchecked) private final var previousOpen: Unmanaged<OpenCursor>?
    final let bounds: MapBounds
    final let isWriting: Bool
    final let table: Table

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

    @inline(__always)
    final var active: OpaquePointer {
        guard let handle else {
            preconditionFailure("A cursor was used after it was closed or its transaction had ended.")
        }
        return handle
    }

    /// Opens a cursor that was kept for reuse in a transaction that has been renewed.
    final func reopen(in transaction: ReadTransaction) throws(LMDBError) {
        let result = mdb_cursor_renew(transaction.active, idleHandle)
        guard result == 0 else { throw transaction.failure(result, "renew a cursor") }
        handle = idleHandle
        idleHandle = nil
        self.transaction = transaction
        link()
    }

    /// Enters the list of open cursors of the transaction.
    private final func link() {
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

extension ReadTransaction {
    /// Closes every cursor that is still open.
    @inline(never)
    final func closeCursors() {
        while let cursor = firstCursor { cursor.takeUnretainedValue().close() }
    }

    /// Takes a cursor in a table that was kept for reuse.
    @inline(__always)
    final func takeSpareCursor(in table: Table) -> OpenCursor? {
        guard let spare = spareCursors?[Int(table.handle)] else { return nil }
        spareCursors?[Int(table.handle)] = nil
        return spare.takeRetainedValue()
    }

    /// Keeps an open cursor for the next use of its table, closed but with LMDB's memory of it.
    final func keep(_ cursor: OpenCursor) {
        cursor.unlink()
        cursor.idleHandle = cursor.handle
        cursor.handle = nil
        let spares = spareCursors ?? makeRoomForSpareCursors()
        let index = Int(cursor.table.handle)
        if spares[index] == nil { spares[index] = Unmanaged.passRetained(cursor) }
    }

    /// A slot for each table, and the two that LMDB keeps for itself.
    @inline(never)
    private final func makeRoomForSpareCursors() -> UnsafeMutablePointer<Unmanaged<OpenCursor>?> {
        let count = environment.options.maximumTables + 2
        let room = UnsafeMutablePointer<Unmanaged<OpenCursor>?>.allocate(capacity: count)
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
}
