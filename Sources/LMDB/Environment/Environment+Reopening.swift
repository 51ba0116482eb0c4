import CLMDB
import Locking

extension Environment {
    /// Reopens the environment if a commit has failed half way in it, and it has not been reopened since.
    /// - Throws: what `reopen()` throws.
    package func reopenIfBroken() throws(LMDBError) {
        let isBroken = try withHandle("look at the environment") { handle throws(LMDBError) in
            var probe: OpaquePointer?
            let result = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &probe)
            if let probe { mdb_txn_abort(probe) }
            return result == MDB_PANIC
        }
        if isBroken { try reopen() }
    }

    /// Closes LMDB's environment and opens it again in place, after `outcomeUnknown` or `panic`.
    ///
    /// Tables keep their handles. Waits for open transactions to end.
    /// - Throws: `busy` when they do not end in time; everything that opening throws, and from then on every use throws
    ///   `closed` until reopening succeeds.
    package func reopen() throws(LMDBError) { try reopen(timeout: options.drainTimeout) }

    func reopen(timeout: Duration) throws(LMDBError) {
        try checkProcess()
        guard options.residence == .named else {
            throw failure(.missing, "reopen the environment", detail: "its files have no names")
        }
        let done: Void? = try gate.exclusively(timeout: timeout) { () throws(LMDBError) in
            closeHandle()
            try Self.checkHeader(in: directory)
            let opened = try openHandle()
            do throws(LMDBError) {
                try reopenTables(in: opened)
            } catch {
                mdb_env_close(opened)
                bounds.noteSize(0)
                throw error
            }
            handle = opened
            do throws(LMDBError) {
                try openSums()
            } catch {
                closeHandle()
                throw error
            }
        }
        if gate.isShut { throw failure(.closed, "reopen the environment") }
        if done == nil { throw failure(.busy, "reopen the environment", detail: "transactions are open") }
    }

    /// Opens one table in a transaction of LMDB.
    func table(
        _ name: String, in transaction: OpaquePointer, flags: UInt32
    ) throws(LMDBError) -> Table {
        var table: MDB_dbi = 0
        let result = clmdb_dbi_open(transaction, name, flags, &table)
        guard result == 0 else { throw SystemError.lmdb(result, "open the table \(name)", path) }
        var found: UInt32 = 0
        mdb_dbi_flags(transaction, table, &found)
        guard found == 0 else { throw failure(.incompatibleTable, "open the table \(name)") }
        return Table(handle: table)
    }

    /// Opens the tables of a reopened environment in the same order, which gives them the same handles.
    func reopenTables(in opened: OpaquePointer) throws(LMDBError) {
        let names = tableNames.withLock { $0 }
        var begun: OpaquePointer?
        var result = mdb_txn_begin(opened, nil, UInt32(MDB_RDONLY), &begun)
        guard result == 0, let begun else { throw failure(result, "reopen the tables") }
        do {
            for (index, name) in names.enumerated() {
                let table = try table(name, in: begun, flags: 0)
                precondition(Int(table.handle) == index + 2, "LMDB numbers tables in the order of opening.")
            }
        } catch {
            mdb_txn_abort(begun)
            throw error
        }
        result = mdb_txn_commit(begun)
        guard result == 0 else { throw failure(result, "reopen the tables") }
    }
}
