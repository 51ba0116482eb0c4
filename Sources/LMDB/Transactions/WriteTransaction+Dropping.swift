import CLMDB
import Synchronization

// Empties tables whose pages may be damaged.

extension WriteTransaction {
    /// Removes every record of tables, even if their pages are damaged; the tables stay. Call it before the transaction
    /// uses the tables in any other way.
    ///
    /// None of their pages is read. They are the pages that no other table leads to and no free list names. So all
    /// other tables are read, and must be sound.
    /// - Throws: `corrupted` for a damaged page of another table or of LMDB's own; then abort.
    /// - Complexity: a read of every page of the other tables.
    package func drop(_ tables: [Table]) throws(LMDBError) {
        guard clmdb_can_abandon(active, UInt32(environment.options.maximumTables)) != 0 else {
            for table in tables { try clear(table) }
            return
        }
        let numbers = try pagesOf(tables).map { Int($0) }
        let result = tables.map(\.handle).withUnsafeBufferPointer { tables in
            numbers.withUnsafeBufferPointer { numbers in
                clmdb_empty(active, tables.baseAddress, UInt32(tables.count), numbers.baseAddress, numbers.count)
            }
        }
        guard result == 0 else { throw failure(result, "drop tables") }
        for table in tables { admission?.forget(table) }
    }

    /// The pages of tables in the commit that the transaction began at; of a long value all of them.
    package func pagesOf(_ tables: [Table]) throws(LMDBError) -> [UInt64] {
        let commit = number - 1
        let file = PageCopies(
            descriptor: environment.descriptor, pageSize: 1 << Int(bounds.pageShift.load(ordering: .relaxed)))
        // The slots of another object: this page is used as long as the others are read.
        let head = PageCopies(descriptor: environment.descriptor, pageSize: file.pageSize)
        guard let meta = head.page(commit & 1, slot: 0), MetaPage(meta).transaction == commit else {
            throw pages.damaged(commit & 1, "it is not that of commit \(commit)")
        }
        let sums = environment.sums
        let scope = TreeCheck.Scope(omitted: Set(tables.compactMap { environment.name(of: $0) })) { number, bytes in
            if case .damaged = sums.verdict(number, bytes) { true } else { false }
        }
        let partition = FilePartition(meta, commit & 1, in: file, frees: false, scope)
        if let problem = partition.problems.first { throw pages.damaged(problem.page, problem.sentence) }
        return partition.rest
    }
}
