import CLMDB
import Synchronization

/// A transaction that reads every table of an environment as of the commit it began at.
///
/// Values point into the mapped file: they are valid until the transaction ends (in a `WriteTransaction`, until its
/// next write) and must be copied to be kept. A transaction may move between threads, but only one uses it at a time:
/// it is not `Sendable`, and its stored state needs no exclusivity checks. While a read transaction is open LMDB can
/// reuse none of the pages it sees, so end it soon.
package class ReadTransaction: PooledReader {
    /// LMDB's transaction while it is active, else nil.
    @exclusivity(unchecked) final var handle: OpaquePointer?
    /// Outlives the transaction: its pool owns idle ones, and `keeper` holds it for those with an owner.
    unowned(unsafe) final let environment: Environment
    @exclusivity(unchecked) final var keeper: Environment?
    final let bounds: MapBounds
    final let isWriting: Bool
    /// The caller's object for the snapshot that it read last with this transaction. It stays with a pooled
    /// transaction, which has one user at a time, so it needs no lock.
    @exclusivity(unchecked) private final var memo: AnyObject?
    /// Whether an assertion of LMDB has failed in the transaction: LMDB's cursors can no longer be closed.
    @exclusivity(unchecked) final var cursorsAreLost = false
    /// The open cursors, linked through themselves, to be closed with the transaction.
    @exclusivity(unchecked) final var firstCursor: Unmanaged<OpenCursor>?
    /// The pages of the snapshot; in a write transaction, of the commit that it began at.
    final let pages: SnapshotPages
    /// Whether LMDB reads for the transaction: pages that it has changed are in LMDB's memory.
    final let usesLMDB: Bool
    /// Admits the pages that LMDB will meet; only in a write transaction of a file that others can damage. Each call
    /// uses it, so it is not counted then.
    unowned(unsafe) final let admission: WriteAdmission?
    private final let ownedAdmission: WriteAdmission?
    /// LMDB's number of the commit that the transaction sees, or makes. Numbers start again after a compacting copy, so
    /// they do not identify commits for ever.
    @exclusivity(unchecked) package private(set) final var number: UInt64 = 0
    /// Closed cursors by table, which can be used again.
    @exclusivity(unchecked) final var spareCursors: UnsafeMutablePointer<Unmanaged<OpenCursor>?>?

    init(environment: Environment, handle: OpaquePointer, isWriting: Bool) {
        self.environment = environment
        self.handle = handle
        self.isWriting = isWriting
        bounds = environment.bounds
        pages = SnapshotPages(environment)
        let isMapKnown = bounds.lower.load(ordering: .relaxed) != 0
        usesLMDB = isWriting || !isMapKnown
        let isGuarded = isWriting && isMapKnown && environment.options.residence == .named
        ownedAdmission = isGuarded ? WriteAdmission(pages) : nil
        admission = ownedAdmission
    }

    /// Makes an idle transaction of the parts of one that is still referred to.
    init(takingOver other: ReadTransaction) {
        environment = other.environment
        bounds = other.bounds
        isWriting = false
        pages = SnapshotPages(other.environment)
        usesLMDB = other.usesLMDB
        ownedAdmission = nil
        admission = nil
        super.init(idleHandle: other.idleHandle)
        other.idleHandle = nil
        spareCursors = other.spareCursors
        other.spareCursors = nil
    }

    deinit {
        if let handle {
            closeCursors()
            dropSpareCursors()
            mdb_txn_abort(handle)
            environment.transactionEnded()
        } else {
            discard()
        }
    }

    override final func discard() {
        if idleHandle != nil { dropSpareCursors() }
        super.discard()
    }

    /// LMDB's transaction. Traps when the transaction has ended.
    @inline(__always)
    final var active: OpaquePointer {
        guard let handle else { preconditionFailure("A transaction was used after it had ended.") }
        return handle
    }

    /// Whether the transaction can still be used.
    package final var isOpen: Bool { handle != nil }

    /// The address of the map, and the shift from an offset in it to a page's number; nil when that is not known, or
    /// when values may lie elsewhere, as in a writer.
    package final var map: (address: UInt, pageShift: UInt)? {
        let address = bounds.lower.load(ordering: .relaxed)
        return isWriting || address == 0 ? nil : (address, bounds.pageShift.load(ordering: .relaxed))
    }

    /// The identity of the state of the file that a transaction sees, whose pages never change. A number may be used
    /// twice when a file is reopened after a failed commit, so the count of openings is part of it.
    package struct SnapshotID: Sendable, Hashable, Comparable {
        let opening: Int
        let number: UInt64

        package static func < (left: SnapshotID, right: SnapshotID) -> Bool {
            (left.opening, left.number) < (right.opening, right.number)
        }
    }

    /// The identity of the state of the file that this transaction sees.
    package final var snapshotID: SnapshotID {
        SnapshotID(opening: bounds.openings.load(ordering: .relaxed), number: number)
    }

    /// The object that was passed to `keep` last; valid until the next call of `keep`.
    package final var kept: Unmanaged<AnyObject>? { memo.map(Unmanaged.passUnretained) }

    /// Keeps an object with the transaction, over its next uses from the pool.
    package final func keep(_ memo: AnyObject) { self.memo = memo }

    /// Takes note of the commit that the transaction sees; false where the head of the file no longer has it.
    @inline(__always)
    final func noteCommit() -> Bool {
        number = UInt64(mdb_txn_id(active))
        let opening = bounds.openings.load(ordering: .relaxed)
        return pages.turn(to: SnapshotID(opening: opening, number: isWriting ? number &- 1 : number))
    }
}

// MARK: - Reading

extension ReadTransaction {
    /// Runs the body while pages are judged by their structure alone, and not compared with their sums: for a look at
    /// what a damaged file has.
    package final func judgingByStructure<Success>(_ body: () throws -> Success) rethrows -> Success {
        pages.judgesByStructure = true
        defer { pages.judgesByStructure = false }
        return try body()
    }

    /// The value stored under a key, or nil.
    /// - Throws: `badValueSize` for a key outside 1...511 bytes, `corrupted` for a value outside the file.
    package final func get(
        _ table: Table, _ key: UnsafeRawBufferPointer
    ) throws(LMDBError) -> UnsafeRawBufferPointer? {
        guard UInt(bitPattern: key.count &- 1) < UInt(Table.maximumKeySizeInBytes) else {
            throw failure(MDB_BAD_VALSIZE, "get a value")
        }
        guard usesLMDB else { return try search(table, key) }
        try admission?.admit(table, key)
        var keyValue = MDB_val(key)
        var value = MDB_val()
        let result = clmdb_get(active, table.handle, &keyValue, &value)
        if result == 0 { return try checked(value) }
        if result == MDB_NOTFOUND { return nil }
        throw failure(result, "get a value")
    }

    /// The value stored under a number in big-endian bytes, or nil.
    package final func get(_ table: Table, _ key: UInt64) throws(LMDBError) -> UnsafeRawBufferPointer? {
        var bytes = key.bigEndian
        guard usesLMDB else {
            return try withUnsafeBytes(of: bytes) { bytes throws(LMDBError) in try search(table, bytes) }
        }
        try admission?.admit(table, key)
        var keyValue = MDB_val(mv_size: 8, mv_data: nil)
        var value = MDB_val()
        let handle = active
        let result = withUnsafeMutableBytes(of: &bytes) { buffer in
            keyValue.mv_data = buffer.baseAddress
            return clmdb_get(handle, table.handle, &keyValue, &value)
        }
        if result == 0 { return try checked(value) }
        if result == MDB_NOTFOUND { return nil }
        throw failure(result, "get a value")
    }

    /// The value of a key, found in the pages of the snapshot.
    private func search(
        _ table: Table, _ key: UnsafeRawBufferPointer
    ) throws(LMDBError) -> UnsafeRawBufferPointer? {
        _ = active
        guard
            let (page, index) = try pages.find(
                SoughtKey(key), in: try pages.tree(of: table), PageGuard.Contents(of: table))
        else { return nil }
        return try pages.value(of: page.entryStart(index))
    }

    /// Whether a table can be used, which may have been opened after the transaction began: LMDB does not know it then.
    package final func canUse(_ table: Table) -> Bool {
        guard usesLMDB else { return true }
        var flags: UInt32 = 0
        return mdb_dbi_flags(active, table.handle, &flags) == 0
    }

    /// The number of records in a table.
    package final func count(_ table: Table) throws(LMDBError) -> Int {
        try statistics(table).entryCount
    }

    /// The shape of a table's tree.
    package final func statistics(_ table: Table) throws(LMDBError) -> TableStatistics {
        guard usesLMDB else {
            _ = active
            return TableStatistics(try pages.tree(of: table))
        }
        var stat = MDB_stat()
        let result = clmdb_stat(active, table.handle, &stat)
        guard result == 0 else { throw failure(result, "read the statistics of a table") }
        return TableStatistics(stat)
    }

    /// The value as bytes, after a check that they lie inside the file.
    @inline(__always)
    final func checked(_ value: MDB_val) throws(LMDBError) -> UnsafeRawBufferPointer {
        if !bounds.contain(value.mv_data, count: value.mv_size) { try checkSlowly(value) }
        return UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
    }

    /// Looks at the file's present length before calling a value corrupt.
    @inline(never)
    final func checkSlowly(_ value: MDB_val) throws(LMDBError) {
        if isWriting {
            // Pages that this transaction has written are in ordinary memory, or, if there are too many, in the map
            // behind the last committed page.
            let start = UInt(bitPattern: value.mv_data)
            let end = bounds.mapEnd.load(ordering: .relaxed)
            if start < bounds.lower.load(ordering: .relaxed) || start >= end { return }
            if UInt(bitPattern: value.mv_size) <= end - start { return }
        } else {
            environment.refreshUpperBound()
            if bounds.contain(value.mv_data, count: value.mv_size) { return }
        }
        throw LMDBError(
            .corrupted, operation: "read a value", path: environment.path, detail: "it lies outside the file")
    }

    @inline(never)
    final func failure(_ result: Int32, _ operation: String) -> LMDBError {
        let writer = self as? WriteTransaction
        defer { writer?.note(result) }
        if result == MDB_BAD_TXN, writer?.hasFailed != true {
            // LMDB fails the transaction without an error when it cannot find the root of a table.
            return SystemError.lmdb(MDB_CORRUPTED, operation, environment.path, detail: "the root of a table is lost")
        }
        return SystemError.lmdb(result, operation, environment.path)
    }
}

// MARK: - Ending

extension ReadTransaction {
    /// Stops the transaction but keeps its reader slot, so that it can be renewed.
    @inline(__always)
    final func reset() {
        let handle = active
        if firstCursor != nil { closeCursors() }
        mdb_txn_reset(handle)
        idleHandle = handle
        self.handle = nil
    }
}

extension MDB_val {
    /// A view of bytes for a call into LMDB, which does not change them.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
}
