import CLMDB

extension Environment {
    /// Runs the body with a read transaction that ends when the body returns.
    ///
    /// - Throws: what the body throws, `readersFull`, `usedAfterFork`, `closed`, `panic` (then `reopen()`).
    @inlinable
    package func read<Success>(_ body: (ReadTransaction) throws -> Success) throws -> Success {
        let transaction = try takeReader()
        let result: Success
        do {
            result = try body(transaction)
        } catch {
            recycle(transaction)
            throw error
        }
        recycle(transaction)
        return result
    }

    /// Begins a read transaction for an owner that ends it later with `end(_:)`, on any thread.
    /// It keeps the environment alive.
    package func beginRead() throws(LMDBError) -> ReadTransaction {
        let transaction = try takeReader()
        transaction.keeper = self
        return transaction
    }

    /// Ends a transaction from `beginRead()`.
    package func end(_ transaction: consuming ReadTransaction) {
        precondition(!transaction.isWriting, "A write transaction ends with commit or abort.")
        let keeper = transaction.keeper
        transaction.keeper = nil
        recycle(transaction)
        withExtendedLifetime(keeper) {}
    }

    /// An active read transaction, renewed or new. Ends with `recycle`.
    package func takeReader() throws(LMDBError) -> ReadTransaction {
        if forkGuard.isInChild { try checkProcess() }
        guard gate.enter() else { throw failure(.closed, "begin a read transaction") }
        if let transaction = pool.take() {
            let result = mdb_txn_renew(transaction.idleHandle)
            if result == 0 {
                transaction.handle = transaction.idleHandle
                transaction.idleHandle = nil
                return transaction
            }
            // A failed renewal leaves the transaction idle, with its slot.
            pool.put(transaction)
            gate.leave()
            return try beginReaderSlowly(after: result)
        }
        return try beginNewReader()
    }

    /// Ends an active read transaction and keeps it for the next reader. If somebody still refers to it, only LMDB's
    /// part of it is kept, so that a late use is trapped instead of reading in somebody else's transaction.
    package func recycle(_ transaction: consuming ReadTransaction) {
        guard transaction.handle != nil else { return }
        transaction.reset()
        if !isKnownUniquelyReferenced(&transaction) { transaction = ReadTransaction(takingOver: transaction) }
        // The last references may go only after the environment has been closed, so a transaction for which there is
        // no room is ended inside the gate.
        pool.put(transaction)
        gate.leave()
    }

    /// Leaves the gate for a transaction that was released without being ended.
    func transactionEnded() {
        gate.leave()
    }

    /// Begins a transaction with a reader slot of its own. The gate has been entered.
    @inline(never)
    private func beginNewReader() throws(LMDBError) -> ReadTransaction {
        var begun: OpaquePointer?
        let result = handle.map { mdb_txn_begin($0, nil, UInt32(MDB_RDONLY), &begun) } ?? MDB_PANIC
        if result == 0, let begun {
            return ReadTransaction(environment: self, handle: begun, isWriting: false)
        }
        let isClosed = handle == nil
        gate.leave()
        if isClosed { throw failure(.closed, "begin a read transaction") }
        return try beginReaderSlowly(after: result)
    }

    /// Removes the cause of a failed beginning, if it can be removed, and tries again.
    @inline(never)
    private func beginReaderSlowly(after failed: Int32) throws(LMDBError) -> ReadTransaction {
        var result = failed
        for _ in 0..<8 {
            switch result {
            case MDB_MAP_RESIZED: try followMapSize()
            case MDB_READERS_FULL:
                guard try sweepStaleReaders() > 0 else { throw failure(result, "begin a read transaction") }
            default: throw failure(result, "begin a read transaction")
            }
            guard gate.enter() else { throw failure(.closed, "begin a read transaction") }
            var begun: OpaquePointer?
            result = handle.map { mdb_txn_begin($0, nil, UInt32(MDB_RDONLY), &begun) } ?? MDB_PANIC
            if result == 0, let begun {
                return ReadTransaction(environment: self, handle: begun, isWriting: false)
            }
            gate.leave()
        }
        throw failure(result, "begin a read transaction")
    }
}
