#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB

extension Environment {
    /// Gives up one opening of the environment; the last one closes it.
    ///
    /// - Throws: `busy` when transactions stay open beyond the drain timeout; the environment then stays open.
    package func close() throws(LMDBError) {
        try checkProcess()
        let closed = EnvironmentRegistry.shared.releaseOwner(identity, ObjectIdentifier(self)) {
            gate.shutDown(timeout: options.drainTimeout) { closeHandle() }
        }
        if !closed {
            throw failure(.busy, "close the environment", detail: "\(gate.count) transactions are open")
        }
    }

    /// Ends the idle readers and LMDB's environment. No transaction may be open.
    func closeHandle() {
        guard let handle else { return }
        while let idle = pool.take() { idle.discard() }
        mdb_env_close(handle)
        self.handle = nil
        bounds.noteSize(0)
    }

    /// Reopens the environment if a commit has failed half way in it, and nobody has reopened it since.
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
    /// - Throws: `busy` when they do not; everything that opening throws, and then every use throws `closed` until
    ///   reopening succeeds.
    package func reopen() throws(LMDBError) {
        try checkProcess()
        guard options.residence == .named else {
            throw failure(.missing, "reopen the environment", detail: "its files have no names")
        }
        let done: Void? = try gate.exclusively(timeout: options.drainTimeout) { () throws(LMDBError) in
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
        }
        if gate.isShut { throw failure(.closed, "reopen the environment") }
        if done == nil { throw failure(.busy, "reopen the environment", detail: "transactions are open") }
    }
}
