import CLMDB
import Locking

extension Environment {
    /// Opens named tables, making those that are missing if the environment may write.
    ///
    /// To be called once, at the start: LMDB lets only one transaction at a time open tables.
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
            for name in names { tables.append(try table(name, in: handle, flags: 0)) }
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

    private func table(
        _ name: String, in transaction: OpaquePointer, flags: UInt32
    ) throws(LMDBError) -> Table {
        var table: MDB_dbi = 0
        let result = mdb_dbi_open(transaction, name, flags, &table)
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
