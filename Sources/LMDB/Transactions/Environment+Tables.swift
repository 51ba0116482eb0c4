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
        try tableNames.withLock { known throws(LMDBError) in
            let tables = try openOrCreate(names)
            for name in names where !known.contains(name) { known.append(name) }
            return tables
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
        let result = mdb_txn_commit(handle)
        gate.leave()
        guard result == 0 else { throw failure(result, "open tables") }
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
        try transaction.commit()
        return tables
    }
}
