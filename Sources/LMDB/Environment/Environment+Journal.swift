#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB
import Locking

// The journal from opening to removal. The entries of a commit are in `Environment+CommitJournal`.

extension Environment {
    /// Whether a directory has a journal. If so, every process that commits must write to it.
    package static func hasJournal(at directoryPath: String) -> Bool {
        do throws(LMDBError) {
            let directory = try EnvironmentDirectory(path: directoryPath, createIfMissing: false)
            return try directory.status(of: CommitJournal.name) != nil
        } catch {
            // Opening the store reports the problem.
            return false
        }
    }

    /// The size in bytes of the largest entry. A commit with a larger one is followed by a checkpoint instead.
    package static let largestJournalEntry = CommitJournal.largestEntry

    /// Opens the journal if the environment has or needs one.
    func openJournal() throws(LMDBError) {
        guard !options.isReadOnly, options.residence == .named else { return }
        let isNeeded = options.durability == .journaled
        if !isNeeded, try directory.status(of: CommitJournal.name) == nil { return }
        let flags = isNeeded ? O_RDWR | O_CREAT : O_RDWR
        let file = CommitJournal(
            try directory.openFile(CommitJournal.name, flags, ownership: options.ownership).descriptor)
        if !file.isMade {
            // Making it was interrupted. Another process may do so meanwhile.
            try writerLock.acquire(timeout: options.writerLockTimeout)
            defer { writerLock.release() }
            if !file.isMade {
                try checkJournal(file.make())
                try directory.synchronize()
            }
        }
        journal.withLock { $0 = file }
    }

    private func checkJournal(_ result: Int32) throws(LMDBError) {
        guard result == 0 else { throw SystemError.lmdb(result, "write the journal", path) }
    }

    /// The contents of the journal's entries, in order. The data file may already have some of their commits.
    package var journalEntries: [[UInt8]] { journal.withLock { $0?.contents ?? [] } }

    /// Makes the newest commit the checkpoint, where the environment has checkpoints; syncs it otherwise.
    ///
    /// - Throws: `busy`, `noSpaceOrIO`.
    package func checkpoint() throws(LMDBError) {
        guard options.durability.hasCheckpoints else { return try sync() }
        try writerLock.acquire(timeout: options.writerLockTimeout)
        defer { writerLock.release() }
        try withHandle("make a checkpoint") { _ throws(LMDBError) in try makeCheckpoint() }
    }

    /// Makes a checkpoint when the data file has all changes of the journal.
    ///
    /// A data file that was put in the place of another one begins LMDB's numbers of commits again. Entries of the former
    /// file are overwritten then: their higher numbers would say that the data file lacks them.
    ///
    /// - Throws: `busy`, `noSpaceOrIO`.
    package func settleJournal() throws(LMDBError) {
        let newest = try withHandle("look at the newest commit") { handle throws(LMDBError) in
            UInt64(Self.shape(of: handle).info.me_last_txnid)
        }
        guard journal.withLock({ $0 })?.hasEntries(after: newest) == true else { return try checkpoint() }
        try wipeJournal()
    }

    /// Removes the journal of an environment that is not `journaled` any more. The data file must have its changes,
    /// synced.
    package func removeJournal() throws(LMDBError) {
        guard options.durability != .journaled, journal.withLock({ $0 }) != nil else { return }
        journal.withLock { $0 = nil }
        directory.remove(CommitJournal.name)
        try directory.synchronize()
    }

    /// The beginning of the names of journals that did not continue the file.
    package static let unusedJournalPrefix = "\(CommitJournal.name)-unused-"

    /// Copies a journal that does not continue the data file to another name, and empties it.
    ///
    /// - Returns: the name of the copy; nil if there is no journal.
    package func setJournalAside() throws(LMDBError) -> String? {
        guard let journal = journal.withLock({ $0 }), let bytes = journal.bytes else { return nil }
        let name = "\(Self.unusedJournalPrefix)\(UInt32.random(in: 0...UInt32.max))"
        let copy = try directory.openFile(name, O_WRONLY | O_CREAT | O_EXCL)
        defer { EnvironmentDirectory.closeFile(copy) }
        guard pwrite(copy, bytes, bytes.count, 0) == bytes.count, fsync(copy) == 0 else {
            throw SystemError.current("keep a journal", path)
        }
        try directory.synchronize()
        try wipeJournal()
        return name
    }

    /// Overwrites the journal's entries, after a checkpoint or sync has put their changes on the disk.
    func wipeJournal() throws(LMDBError) {
        guard let journal = journal.withLock({ $0 }) else { return }
        try writerLock.acquire(timeout: options.writerLockTimeout)
        defer { writerLock.release() }
        try withHandle("overwrite the journal") { handle throws(LMDBError) in
            if options.durability.hasCheckpoints {
                try makeCheckpoint()
            } else {
                try checkJournal(mdb_env_sync(handle, 1))
            }
            try checkJournal(journal.wipe())
        }
    }
}
