import Locking

// What a commit writes to the journal.
//
// A commit of a `journaled` environment is on the disk when it returns. Either its writer gave the journal an entry,
// from which the changes can be made again, or a checkpoint follows the commit. After a power cut the file goes back to
// its last checkpoint, and the next opening repeats the changes of `journalEntries`.

extension Environment {
    /// Writes the entry of a transaction that is about to be committed.
    ///
    /// - Returns: its offset in the journal; nil if the commit needs a checkpoint instead.
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

    /// Makes a commit without an entry durable by a checkpoint, unless it may be lost.
    func confirm(_ transaction: WriteTransaction, entry: Int?) throws(LMDBError) {
        guard options.durability == .journaled, entry == nil, !transaction.mayBeLost else { return }
        do throws(LMDBError) {
            try makeCheckpoint()
        } catch {
            throw LMDBError(.outcomeUnknown, operation: "commit", path: path, errno: error.errno)
        }
    }

    /// Takes back the entry of a failed commit. If that fails too, a power cut may make the commit happen after all.
    ///
    /// - Returns: the error to report.
    func retractEntry(_ entry: Int?, _ failure: LMDBError) -> LMDBError {
        guard let entry, failure.code != .outcomeUnknown, let journal = journal.withLock({ $0 }) else {
            return failure
        }
        let result = journal.retract(entry)
        return result == 0
            ? failure : LMDBError(.outcomeUnknown, operation: "commit", path: path, errno: result)
    }
}
