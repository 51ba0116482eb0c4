import Locking

// The journal entries of a commit.
//
// A commit of a `journaled` environment is on the disk when it returns. Either its writer gave the journal entries,
// from which the changes can be made again, or a checkpoint follows the commit. After a power cut the file goes back to
// its last checkpoint, and the next opening repeats the changes of `journalEntries`.

/// The part of a write transaction that is in the journal.
enum JournaledPart {
    case nothing
    /// Entries for all changes so far, from the first to the end of the last.
    case entries(Range<Int>)
    /// A part of the changes: a checkpoint is made after the commit.
    case tooLarge
}

extension WriteTransaction {
    /// Gives the journal of a `journaled` environment a part of the changes, in a form from which they can be made again.
    /// `commit()` waits until all parts are on the disk. A transaction that gives nothing is followed by a checkpoint.
    ///
    /// - Parameters:
    ///   - content: nil if the part is too large; what was given and is given is of no use then.
    ///   - isEarly: whether the disk begins to write it at once, while the transaction goes on.
    package func journal(_ content: [UInt8]?, isEarly: Bool = false) throws(LMDBError) {
        try environment.journal(content, of: self, isEarly: isEarly)
    }
}

extension Environment {
    fileprivate func journal(
        _ content: [UInt8]?, of transaction: WriteTransaction, isEarly: Bool
    ) throws(LMDBError) {
        guard options.durability == .journaled, let journal = journal.withLock({ $0 }) else { return }
        if case .tooLarge = transaction.journaled { return }
        guard let content else { return transaction.journaled = try withoutEntries(transaction) }
        let answer = journal.append(content, commit: transaction.number, isEarly: isEarly) {
            checkpoints.withLock { $0.file?.newest?.commit ?? 0 }
        }
        switch answer {
        case .written(let place):
            var all = place
            if case .entries(let earlier) = transaction.journaled { all = earlier.lowerBound..<place.upperBound }
            transaction.journaled = .entries(all)
        case .tooLarge: transaction.journaled = try withoutEntries(transaction)
        case .failed(let result): throw SystemError.lmdb(result, "write the journal", path)
        case .unknown(let result):
            throw LMDBError(.outcomeUnknown, operation: "write the journal", path: path, errno: result)
        }
    }

    /// Takes back the entries of a transaction that becomes too large for the journal.
    private func withoutEntries(_ transaction: WriteTransaction) throws(LMDBError) -> JournaledPart {
        if let failure = retractEntries(of: transaction) { throw failure }
        return .tooLarge
    }

    /// Has the entries of a transaction that is about to be committed on the disk.
    func syncEntries(of transaction: WriteTransaction) throws(LMDBError) {
        guard case .entries = transaction.journaled, let journal = journal.withLock({ $0 }) else { return }
        let result = journal.sync()
        guard result != 0 else { return }
        if let failure = retractEntries(of: transaction) { throw failure }
        throw SystemError.lmdb(result, "write the journal", path)
    }

    /// Makes a commit without entries durable by a checkpoint, unless it may be lost.
    func confirm(_ transaction: WriteTransaction) throws(LMDBError) {
        if case .entries = transaction.journaled { return }
        guard options.durability == .journaled, !transaction.mayBeLost else { return }
        do throws(LMDBError) {
            try makeCheckpoint()
        } catch {
            throw LMDBError(.outcomeUnknown, operation: "commit", path: path, errno: error.errno)
        }
    }

    /// Takes back the entries of a transaction that is not committed.
    ///
    /// - Returns: `outcomeUnknown` if that fails: a power cut may make the commit happen after all.
    func retractEntries(of transaction: WriteTransaction) -> LMDBError? {
        guard case .entries(let place) = transaction.journaled, let journal = journal.withLock({ $0 }) else {
            return nil
        }
        transaction.journaled = .nothing
        let result = journal.retract(place)
        return result == 0
            ? nil : LMDBError(.outcomeUnknown, operation: "write the journal", path: path, errno: result)
    }
}
