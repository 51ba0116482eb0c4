import CLMDB
import Locking

// Opens and creates named tables.

extension Environment {
    /// Opens named tables, and makes those that are missing if the environment may write.
    ///
    /// Call it once, at the start: LMDB lets only one transaction at a time open tables.
    /// - Throws: `notFound` for a table that a read-only environment does not have, `tablesFull`,
    ///   `incompatibleTable`, and what `beginWrite` throws.
    package func openTables(_ names: [String]) throws(LMDBError) -> [Table] {
        // Not under the lock of the names: a write may reopen the environment first, which needs them.
        try tableOpenings.withLock { count throws(LMDBError) in
            count += 1
            return try openOrCreate(names)
        }
    }

    /// Notes the names of tables that a transaction has opened, and ends it. Until then it keeps the environment from being
    /// reopened, which opens the tables with these names.
    private func noting(_ names: [String], _ commit: () throws(LMDBError) -> Void) throws(LMDBError) {
        let count = tableNames.withLock { known in
            defer { known += names.filter { !known.contains($0) } }
            return known.count
        }
        do {
            try commit()
        } catch {
            tableNames.withLock { $0.removeLast($0.count - count) }
            throw error
        }
    }

    private func openOrCreate(_ names: [String]) throws(LMDBError) -> [Table] {
        do {
            return try openExisting(names)
        } catch let error where error.code == .notFound && !options.isReadOnly {
            return try create(names)
        }
    }

    private func openExisting(_ names: [String]) throws(LMDBError) -> [Table] {
        let transaction = try beginRead()
        // A handle opened in a transaction is kept only by committing it, so this one does not go to the pool.
        let handle = transaction.active
        var tables: [Table] = []
        do {
            for name in names {
                if !transaction.usesLMDB { try transaction.pages.admitRecord(of: name) }
                tables.append(try table(name, in: handle, flags: 0))
            }
        } catch {
            end(transaction)
            throw error
        }
        transaction.handle = nil
        try noting(names) { () throws(LMDBError) in
            let result = mdb_txn_commit(handle)
            gate.leave()
            guard result == 0 else { throw failure(result, "open tables") }
        }
        return tables
    }

    private func create(_ names: [String]) throws(LMDBError) -> [Table] {
        let transaction = try beginWrite()
        var tables: [Table] = []
        do {
            for name in names {
                tables.append(try table(name, in: transaction.active, flags: UInt32(MDB_CREATE)))
            }
        } catch {
            transaction.abort()
            throw error
        }
        try noting(names) { () throws(LMDBError) in try transaction.commit() }
        return tables
    }
}
