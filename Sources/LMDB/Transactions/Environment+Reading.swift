import CLMDB

// Begins, renews and ends read transactions.

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

    /// Runs the body with two read transactions of the same snapshot, for two threads. The second is nil when there is
    /// no second reader slot, or when other processes commit too often for two to begin at the same commit.
    package func readTwice<Success>(_ body: (ReadTransaction, ReadTransaction?) throws -> Success) throws -> Success {
        var first = try beginRead()
        defer { end(first) }
        for _ in 0..<Self.mostBeginnings {
            let second: ReadTransaction
            do throws(LMDBError) {
                second = try beginRead()
            } catch {
                // The first is enough, and meets whatever else is wrong.
                break
            }
            if second.snapshotID == first.snapshotID {
                defer { end(second) }
                return try body(first, second)
            }
            end(first)
            first = second
        }
        return try body(first, nil)
    }

    /// The most attempts to begin a second reader without a commit between the two.
    private static var mostBeginnings: Int { 16 }

    /// Begins a read transaction that the caller ends later with `end(_:)`, on any thread. It keeps the environment
    /// alive.
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
        if let transaction = takeIdle() {
            var result = mdb_txn_renew(transaction.idleHandle)
            if result == 0 { result = settle(transaction.idleHandle) }
            if result == 0 {
                transaction.handle = transaction.idleHandle
                transaction.idleHandle = nil
                return try guarded(transaction)
            }
            // A failed renewal leaves the transaction idle, with its slot.
            pool.put(transaction)
            gate.leave()
            return try beginReaderSlowly(after: result)
        }
        return try beginNewReader()
    }

    @inline(__always)
    private func takeIdle() -> ReadTransaction? {
        guard let reader = pool.take() else { return nil }
        // `recycle` puts nothing else there.
        return unsafeDowncast(reader, to: ReadTransaction.self)
    }

    /// Ends an active read transaction and keeps it for the next reader. If it is still referred to elsewhere, only
    /// LMDB's part of it is kept, so that a late use traps instead of reading in another caller's transaction.
    package func recycle(_ transaction: consuming ReadTransaction) {
        guard transaction.handle != nil else { return }
        transaction.reset()
        if !isKnownUniquelyReferenced(&transaction) { transaction = ReadTransaction(takingOver: transaction) }
        // The last reference may be released after the environment has been closed, so the pool ends a transaction for
        // which it has no room inside the gate.
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
        let result = beginSettled(&begun)
        if result == 0, let begun {
            return try guarded(ReadTransaction(environment: self, handle: begun, isWriting: false))
        }
        let isClosed = handle == nil
        gate.leave()
        if isClosed { throw failure(.closed, "begin a read transaction") }
        return try beginReaderSlowly(after: result)
    }

    /// A transaction that has begun, once it has taken note of its commit.
    @inline(__always)
    private func guarded(_ transaction: ReadTransaction) throws(LMDBError) -> ReadTransaction {
        do throws(LMDBError) {
            try pageGuard.checkLength()
            if !transaction.noteCommit() { try noteCommitSlowly(transaction) }
        } catch {
            recycle(transaction)
            throw error
        }
        return transaction
    }

    /// Renews a reader until the head of the file still has the roots of its commit: the commit after the next writes
    /// over them.
    @inline(never)
    private func noteCommitSlowly(_ transaction: ReadTransaction) throws(LMDBError) {
        for _ in 0..<Self.mostBeginnings {
            mdb_txn_reset(transaction.active)
            var result = mdb_txn_renew(transaction.active)
            if result == 0 { result = settle(transaction.active) }
            guard result == 0 else { throw failure(result, "begin a read transaction") }
            if transaction.noteCommit() { return }
        }
        throw failure(
            .corrupted, "begin a read transaction",
            detail: "meta page \(transaction.number & 1) is not that of commit \(transaction.number)")
    }

    private func beginSettled(_ begun: inout OpaquePointer?) -> Int32 {
        guard let handle else { return MDB_PANIC }
        let result = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &begun)
        guard result == 0 else { return result }
        let settled = settle(begun)
        if settled != 0 { mdb_txn_abort(begun) }
        return settled
    }

    /// Renews a reader that has just begun until its number is that of the commit it sees.
    ///
    /// LMDB takes the number of the last commit, and then copies that commit's meta page, which the commit after the
    /// next overwrites. A reader that is held up in between has a later commit's records under an older number, so a
    /// caller that keeps anything under that number would mix two states. While no commit has followed, nothing was
    /// overwritten.
    ///
    /// - Returns: LMDB's error when it could not be renewed; the reader is idle then.
    @inline(__always)
    private func settle(_ reader: OpaquePointer?) -> Int32 {
        UInt(mdb_txn_id(reader)) == lastCommit ? 0 : settleSlowly(reader)
    }

    @inline(never)
    private func settleSlowly(_ reader: OpaquePointer?) -> Int32 {
        // A commit's meta page is visible before its number is, for as long as its sync takes, and after a kill until
        // the next commit. So a meta page one ahead does not prove that a commit has followed, and is not waited for.
        for round in 0..<1000 {
            let number = UInt(mdb_txn_id(reader))
            let last = lastCommit
            if number >= last || number + 1 == last && round >= 3 { return 0 }
            mdb_txn_reset(reader)
            let result = mdb_txn_renew(reader)
            if result != 0 { return result }
        }
        return 0
    }

    /// The number of the newest meta page.
    @inline(__always)
    private var lastCommit: UInt {
        var info = MDB_envinfo()
        mdb_env_info(handle, &info)
        return UInt(info.me_last_txnid)
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
            result = beginSettled(&begun)
            if result == 0, let begun {
                return try guarded(ReadTransaction(environment: self, handle: begun, isWriting: false))
            }
            gate.leave()
        }
        throw failure(result, "begin a read transaction")
    }
}

extension WriteTransaction {
    /// Begins a read transaction at the commit before this one, with which another thread reads what this one has not
    /// changed.
    ///
    /// - Returns: nil if there is no reader slot for it. Otherwise end it with `endBeside(_:)` before the commit.
    package func beginReadBeside() -> ReadTransaction? {
        guard let reading = try? environment.beginRead() else { return nil }
        if reading.number &+ 1 == number { return reading }
        environment.end(reading)
        return nil
    }

    /// Ends a transaction from `beginReadBeside()`.
    package func endBeside(_ reading: consuming ReadTransaction) { environment.end(reading) }
}
