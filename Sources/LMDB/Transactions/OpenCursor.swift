import CLMDB

/// The lifetime of a cursor in one table of a transaction: open, closed, or kept for reuse.
///
/// It closes with `close()`, when it is released, or with its transaction, whichever comes first; later use traps. Its
/// subclass `Cursor` moves it. It has a cursor of LMDB only in a transaction that LMDB reads for (`usesLMDB`).
@usableFromInline package class OpenCursor {
    /// LMDB's cursor while it is open, else nil.
    @exclusivity(unchecked) final var handle: OpaquePointer?
    /// Outlives the open cursor: it closes its cursors when it ends.
    @exclusivity(unchecked) unowned(unsafe) final var transaction: ReadTransaction
    /// The pages of the transaction's snapshot.
    @exclusivity(unchecked) unowned(unsafe) final var pages: SnapshotPages
    @exclusivity(unchecked) private final var nextOpen: Unmanaged<OpenCursor>?
    @exclusivity(unchecked) private final var previousOpen: Unmanaged<OpenCursor>?
    @exclusivity(unchecked) final var isOpen = true
    /// The number of records in the leaf page of a snapshot's cursor; 0 while the cursor has no position.
    @exclusivity(unchecked) final var leafCount = 0
    final let bounds: MapBounds
    final let isWriting: Bool
    final let usesLMDB: Bool
    final let table: Table

    init(_ transaction: ReadTransaction, _ table: Table) throws(LMDBError) {
        self.transaction = transaction
        self.table = table
        pages = transaction.pages
        bounds = transaction.bounds
        isWriting = transaction.isWriting
        usesLMDB = transaction.usesLMDB
        if usesLMDB {
            let result = clmdb_cursor_open(transaction.active, table.handle, &handle)
            guard result == 0 else { throw transaction.failure(result, "open a cursor") }
        } else {
            _ = transaction.active
        }
        link()
    }

    deinit { close() }

    /// Ends the use of the cursor. Closing twice does nothing.
    package final func close() {
        guard isOpen else { return }
        unlink()
        isOpen = false
        leafCount = 0
        guard let handle else { return }
        if !transaction.cursorsAreLost { mdb_cursor_close(handle) }
        self.handle = nil
    }

    /// LMDB's cursor.
    @inline(__always)
    final var active: OpaquePointer {
        guard let handle else { Self.trap() }
        return handle
    }

    @inline(__always)
    final func checkIsOpen() { if !isOpen { Self.trap() } }

    private static func trap() -> Never {
        preconditionFailure("A cursor was used after it was closed or its transaction had ended.")
    }

    /// Opens a cursor that was kept for reuse in a transaction that has been renewed.
    final func reopen(in transaction: ReadTransaction) {
        self.transaction = transaction
        pages = transaction.pages
        isOpen = true
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
    private final func unlink() {
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

    /// Keeps a closed cursor for the next use of its table.
    final func keep(_ cursor: OpenCursor) {
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

    /// Releases the cursors kept for reuse.
    final func dropSpareCursors() {
        guard let spareCursors else { return }
        for index in 0..<environment.options.maximumTables + 2 { spareCursors[index]?.release() }
        spareCursors.deallocate()
        self.spareCursors = nil
    }
}
