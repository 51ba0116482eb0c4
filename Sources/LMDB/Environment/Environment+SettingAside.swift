#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

// Moves the files of a store that cannot be opened out of the way.

extension Environment {
    /// Moves the files of a store that cannot be opened into a new folder in its directory, so that another store can
    /// be made in their place. If a power cut interrupts this, the next call moves the files that are left.
    ///
    /// - Parameters:
    ///   - folder: the new folder's name.
    ///   - stays: whether a name stays where it is.
    /// - Returns: whether they were moved; not while a process uses the store or moves it.
    /// - Throws: `alreadyExists`, `permissionDenied`, `noSpaceOrIO`; some files may have moved.
    package static func setAside(
        at directoryPath: String, in folder: String, ownership: FileOwnership, except stays: (String) -> Bool
    ) throws(LMDBError) -> Bool {
        let directory = try EnvironmentDirectory(path: directoryPath, createIfMissing: false)
        try directory.checkDirectory(ownership: ownership)
        let opened = try directory.openFile(CheckpointFile.name, O_RDWR | O_CREAT, ownership: ownership)
        let file = CheckpointFile(opened.descriptor)
        // Another process may have moved them between the opening and the lock.
        guard file.exclude(), directory.holds(CheckpointFile.name, as: opened.identity) else { return false }
        guard mkdirat(directory.descriptor, folder, 0o700) == 0 else {
            throw SystemError.current("make a folder for damaged files", directory.path(of: folder))
        }
        // The lock is on the file of checkpoints, so that file is moved last.
        let names = directory.names.filter { $0 != folder && $0 != CheckpointFile.name && !stays($0) }
        for name in names + [CheckpointFile.name] {
            guard renameat(directory.descriptor, name, directory.descriptor, folder + "/" + name) == 0 else {
                throw SystemError.current("move a damaged file", directory.path(of: name))
            }
        }
        try directory.synchronize()
        return true
    }
}
