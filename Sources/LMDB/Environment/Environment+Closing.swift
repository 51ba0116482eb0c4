#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB
import Locking

extension Environment {
    /// Gives up one opening of the environment; the last one closes it.
    ///
    /// - Throws: `busy` when transactions stay open beyond the drain timeout; the environment then stays open.
    package func close() throws(LMDBError) {
        try checkProcess()
        let closed = EnvironmentRegistry.shared.releaseOwner(identity, ObjectIdentifier(self)) {
            gate.shutDown(timeout: options.drainTimeout) {
                closeHandle()
                checkpoints.withLock { $0.file = nil }
                journal.withLock { $0 = nil }
            }
        }
        if !closed {
            throw failure(.busy, "close the environment", detail: "open transactions: \(gate.count)")
        }
    }

    /// Ends the idle readers, then LMDB's environment. No transaction may be open.
    func closeHandle() {
        guard let handle else { return }
        endPin()
        while let idle = pool.take() { idle.discard() }
        mdb_env_close(handle)
        self.handle = nil
        bounds.noteSize(0)
    }
}
