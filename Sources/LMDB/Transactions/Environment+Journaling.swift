import Locking

// A commit of a `journaled` environment is on the disk when it returns. Either its writer has given an entry for the
// journal, from which the same changes can be made again, or a checkpoint is made after it. After a power cut the file goes
// back to its last checkpoint, and the next opening makes the changes of `journalEntries` again.

extension Environment {
    /// Writes the entry of a transaction that is about to be committed.
    ///
    /// - Returns: where it is; nil if the commit needs a checkpoint instead.
    func writeEntry(of transaction: WriteTransaction) throws(LMDBError) -> Int? {
        guard options.durability == .journaled, let content = transaction.journalEntry,
            let journal = journal.withLock({ $0 })
        else { return nil }
        let answer = journal.append(content, commit: transaction.number) {
            checkpoints.withLock { $0.file?.newest?.commit ?? 0 }
        }
        switch answer {
        case .written(let offset): return offset
        case .tooLarge: return nil
        case .failed(let result): throw SystemError.lmdb(result, "write the journal", path)
        case .unknown(let result):
            throw LMDBError(.outcomeUnknown, operation: "write the journal", path: path, errno: result)
        }
    }

    /// Makes what a transaction has committed durable, if its entry does not.
    func confirm(_ transaction: WriteTransaction, entry: Int?) throws(LMDBError) {
        guard options.durability == .journaled, entry == nil, !transaction.mayBeLost else { return }
        do throws(LMDBError) {
            try makeCheckpoint()
        } catch {
            throw LMDBError(.outcomeUnknown, operation: "commit", path: path, errno: error.errno)
        }
    }

    /// Takes back the entry of a commit that has failed. Where that fails, too, the next power cut may bring it.
    func retractEntry(_ entry: Int?, _ failure: LMDBError) -> LMDBError {
        guard let entry, failure.code != .outcomeUnknown, let journal = journal.withLock({ $0 }) else {
            return failure
        }
        let result = journal.retract(entry)
        return result == 0
            ? failure : LMDBError(.outcomeUnknown, operation: "commit", path: path, errno: result)
    }
}
