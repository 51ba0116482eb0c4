#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB

/// A transaction that changes a store, one at a time for each store; it sees its own changes.
///
/// It must be begun, committed or aborted on one thread: LMDB's writer mutex belongs to that thread. A value that was
/// read is valid until the next write of the same transaction.
package final class WriteTransaction: ReadTransaction {
    private let thread = pthread_self()
    private let beginning = ContinuousClock.now
    /// Set when any operation ran out of map; the transaction can only be aborted then.
    private(set) var metMapFull = false
    /// Set when any operation failed.
    private(set) var hasFailed = false
    /// The part that `journal` has written.
    var journaled = JournaledPart.nothing
    /// Whether a power cut may take the changes of a `journaled` environment: those that only move what is there, or that
    /// are made again.
    package var mayBeLost = false
    /// Whether `commit()` takes the time that LMDB needs.
    package var isTimed = false
    /// The time that LMDB took to write the pages and to sync the disk; nil before the commit, and if it is not timed.
    package private(set) var syncing: Duration?

    init(environment: Environment, handle: OpaquePointer) {
        super.init(environment: environment, handle: handle, isWriting: true)
    }

    deinit {
        precondition(handle == nil, "A write transaction was dropped without commit or abort.")
    }

    /// Records a failure that decides the outcome of the whole transaction.
    func note(_ result: Int32) {
        if result == MDB_MAP_FULL { metMapFull = true }
        if result != 0 { hasFailed = true }
        if result == SystemError.assertionFailed { cursorsAreLost = true }
    }

    // MARK: Writing

    /// Stores a value, replacing an older one.
    /// - Throws: `badValueSize`, `mapFull`, `transactionTooLarge`, `noSpaceOrIO`; then abort.
    package func put(
        _ table: Table, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(LMDBError) {
        let result = try store(table, key, value, flags: 0)
        guard result == 0 else { throw failure(result, "put a value") }
    }

    /// Stores a value under a number in big-endian bytes.
    package func put(_ table: Table, _ key: UInt64, _ value: UnsafeRawBufferPointer) throws(LMDBError) {
        let result = try store(table, key, value, flags: 0)
        guard result == 0 else { throw failure(result, "put a value") }
    }

    /// Stores a value unless the key is there.
    /// - Returns: whether it was stored.
    package func insert(
        _ table: Table, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(LMDBError) -> Bool {
        let result = try store(table, key, value, flags: UInt32(MDB_NOOVERWRITE))
        if result == MDB_KEYEXIST { return false }
        guard result == 0 else { throw failure(result, "insert a value") }
        return true
    }

    /// Stores a value behind the last key, filling leaf pages completely.
    /// - Throws: `keyExists` when the key is not above the last key of the table.
    package func append(
        _ table: Table, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(LMDBError) {
        let result = try store(table, key, value, flags: UInt32(MDB_APPEND))
        guard result == 0 else { throw failure(result, "append a value") }
    }

    /// Stores a value behind the last key, under a number in big-endian bytes.
    /// - Throws: `keyExists` when the number is not above the last one of the table.
    package func append(_ table: Table, _ key: UInt64, _ value: UnsafeRawBufferPointer) throws(LMDBError) {
        let result = try store(table, key, value, flags: UInt32(MDB_APPEND))
        guard result == 0 else { throw failure(result, "append a value") }
    }

    /// The place of a reserved value.
    package enum Placement: Sendable {
        /// Anywhere, replacing an older value.
        case anywhere
        /// Behind the last key, or `keyExists`.
        case last
    }

    /// Makes room for a value that the caller writes in place, before the next call on this transaction.
    /// The bytes are not cleared.
    package func reserve(
        _ table: Table, _ key: UnsafeRawBufferPointer, sizeInBytes: Int, placement: Placement = .anywhere
    ) throws(LMDBError) -> UnsafeMutableRawBufferPointer {
        guard key.count > 0, key.count <= Table.maximumKeySizeInBytes else {
            throw failure(MDB_BAD_VALSIZE, "reserve a value")
        }
        try admission?.admit(table, key)
        if placement == .last { try admission?.admitLast(of: table) }
        var keyValue = MDB_val(key)
        var value = MDB_val(mv_size: sizeInBytes, mv_data: nil)
        let flags = UInt32(MDB_RESERVE) | (placement == .last ? UInt32(MDB_APPEND) : 0)
        let result = clmdb_put(active, table.handle, &keyValue, &value, flags)
        guard result == 0 else { throw failure(result, "reserve a value") }
        return UnsafeMutableRawBufferPointer(start: value.mv_data, count: sizeInBytes)
    }

    /// Makes room for a value under a number in big-endian bytes.
    package func reserve(
        _ table: Table, _ key: UInt64, sizeInBytes: Int, placement: Placement = .anywhere
    ) throws(LMDBError) -> UnsafeMutableRawBufferPointer {
        try admission?.admit(table, key)
        if placement == .last { try admission?.admitLast(of: table) }
        var bytes = key.bigEndian
        var value = MDB_val(mv_size: sizeInBytes, mv_data: nil)
        let flags = UInt32(MDB_RESERVE) | (placement == .last ? UInt32(MDB_APPEND) : 0)
        let handle = active
        let result = withUnsafeMutableBytes(of: &bytes) { buffer in
            var keyValue = MDB_val(mv_size: 8, mv_data: buffer.baseAddress)
            return clmdb_put(handle, table.handle, &keyValue, &value, flags)
        }
        guard result == 0 else { throw failure(result, "reserve a value") }
        return UnsafeMutableRawBufferPointer(start: value.mv_data, count: sizeInBytes)
    }

    /// Removes every record of a table; the table stays.
    package func clear(_ table: Table) throws(LMDBError) {
        try admission?.admitAll(of: table)
        let result = clmdb_drop(active, table.handle)
        guard result == 0 else { throw failure(result, "clear a table") }
    }

    @inline(__always)
    private func store(
        _ table: Table, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, flags: UInt32
    ) throws(LMDBError) -> Int32 {
        guard UInt(bitPattern: key.count &- 1) < UInt(Table.maximumKeySizeInBytes) else { return MDB_BAD_VALSIZE }
        try admission?.admit(table, key)
        if flags & UInt32(MDB_APPEND) != 0 { try admission?.admitLast(of: table) }
        var keyValue = MDB_val(key)
        var dataValue = MDB_val(value)
        return clmdb_put(active, table.handle, &keyValue, &dataValue, flags)
    }

    @inline(__always)
    private func store(
        _ table: Table, _ key: UInt64, _ value: UnsafeRawBufferPointer, flags: UInt32
    ) throws(LMDBError) -> Int32 {
        try admission?.admit(table, key)
        if flags & UInt32(MDB_APPEND) != 0 { try admission?.admitLast(of: table) }
        var bytes = key.bigEndian
        var dataValue = MDB_val(value)
        let handle = active
        return withUnsafeMutableBytes(of: &bytes) { buffer in
            var keyValue = MDB_val(mv_size: 8, mv_data: buffer.baseAddress)
            return clmdb_put(handle, table.handle, &keyValue, &dataValue, flags)
        }
    }

    // MARK: Ending

    /// Makes the changes durable as the environment's durability says, and ends the transaction.
    ///
    /// - Throws: `mapFull` or `noSpaceOrIO` when nothing was committed; `outcomeUnknown` when the changes may be
    ///   durable or not: `Environment.reopen()`, then look for them. The transaction has ended, except where the journal
    ///   could not be written.
    package func commit() throws(LMDBError) {
        try environment.syncEntries(of: self)
        let handle = endHandle()
        let early = environment.beginEarlyWriting(after: beginning.duration(to: .now))
        let number = UInt64(mdb_txn_id(handle))
        let start = isTimed ? ContinuousClock.now : nil
        let result = cursorsAreLost ? MDB_BAD_TXN : clmdb_txn_commit(handle)
        if let start { syncing = .now - start }
        early?.end()
        if result == 0 { environment.sealCommit(number) }
        note(result)
        if cursorsAreLost { clmdb_abandon(handle) }
        var failure = result == 0 ? nil : environment.classifyFailedCommit(result)
        if let failed = failure {
            if failed.code != .outcomeUnknown { failure = environment.retractEntries(of: self) ?? failed }
        } else {
            environment.noteCommit()
            do throws(LMDBError) { try environment.confirm(self) } catch { failure = error }
        }
        environment.writeEnded()
        if let failure { throw failure }
    }

    /// Drops the changes and ends the transaction.
    ///
    /// - Returns: `outcomeUnknown` if the journal has the changes and they cannot be taken back: a power cut may make them
    ///   happen after all.
    @discardableResult
    package func abort() -> LMDBError? {
        drop()
        defer { environment.writeEnded() }
        return environment.retractEntries(of: self)
    }

    /// Ends LMDB's transaction only.
    func drop() {
        let handle = endHandle()
        if cursorsAreLost { clmdb_abandon(handle) } else { mdb_txn_abort(handle) }
    }

    private func endHandle() -> OpaquePointer {
        precondition(
            pthread_equal(thread, pthread_self()) != 0,
            "A write transaction must end on the thread that began it.")
        let handle = active
        closeCursors()
        self.handle = nil
        return handle
    }
}
