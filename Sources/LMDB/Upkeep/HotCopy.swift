// Copies an environment while others read and write it.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB

extension Environment {
    /// The kind of copy that `copy` writes.
    package enum CopyKind: Sendable {
        /// Page for page, fastest.
        case exact
        /// Without free pages, in order. LMDB's transaction numbers start again at 1.
        case compacting
    }

    /// Copies the newest commit into another directory, while readers and writers continue.
    ///
    /// The directory is made with mode 0700 if it is missing. The copy appears under its name only when it is whole and
    /// durable. It holds a read transaction for its length, so the store grows if much is written meanwhile.
    /// - Throws: `alreadyExists` when the directory has a data file, `noSpaceOrIO`, `corrupted`.
    package func copy(to directoryPath: String, _ kind: CopyKind = .exact) throws(LMDBError) {
        let target = try EnvironmentDirectory(path: directoryPath, createIfMissing: true)
        let name = EnvironmentDirectory.dataName
        if try target.status(of: name) != nil {
            throw LMDBError(.alreadyExists, operation: "copy the store", path: target.path(of: name))
        }
        let temporary = ".copy-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        let descriptor = try target.openFile(temporary, O_RDWR | O_CREAT | O_EXCL)
        defer { EnvironmentDirectory.closeFile(descriptor) }
        let seal = CopySeal(in: target)
        // Keeps the pages that are copied, and so their sums.
        let transaction = try beginRead()
        defer { end(transaction) }
        do throws(LMDBError) {
            // On a damaged page LMDB would write outside its memory.
            if kind == .compacting { try checkTrees() }
            try write(to: descriptor, kind)
            let header = try DataFileHeader.read(descriptor: descriptor, path: target.path(of: temporary))
            try seal.make(descriptor, header, original: kind == .exact && sums.isAttached ? sums : nil)
            guard fsync(descriptor) == 0 else {
                throw SystemError.current("sync the copy", target.path(of: temporary))
            }
            try seal.publish()
            try target.publish(temporary, as: name)
        } catch {
            target.remove(temporary)
            seal.remove()
            if target.wasCreated { rmdir(target.path) }
            throw error
        }
    }

    /// Removes the remains of interrupted copies in a directory.
    /// - Returns: whether the directory exists and is empty now.
    package static func sweepLeftoverCopies(in directoryPath: String) throws(LMDBError) -> Bool {
        let directory = try EnvironmentDirectory(path: directoryPath, createIfMissing: false)
        try directory.sweepLeftovers()
        return directory.isEmpty
    }

    private func write(to descriptor: Int32, _ kind: CopyKind) throws(LMDBError) {
        try withHandle("copy the store") { handle throws(LMDBError) in
            let flags = kind == .compacting ? UInt32(MDB_CP_COMPACT) : 0
            let result = mdb_env_copyfd2(handle, descriptor, flags)
            if result == MDB_INCOMPATIBLE {
                throw failure(.corrupted, "copy the store", detail: "pages have leaked")
            }
            guard result == 0 else { throw failure(result, "copy the store") }
        }
    }
}

extension Environment {
    /// Checks the newest commit: the pages of all its trees, and that trees and free lists part the file.
    ///
    /// - Throws: `corrupted`, with the page.
    /// - Complexity: a read of every page.
    func checkTrees() throws(LMDBError) {
        guard let problem = try surveyPages().problems.first else { return }
        throw failure(.corrupted, "check the pages", detail: "page \(problem.page): \(problem.sentence)")
    }
}
