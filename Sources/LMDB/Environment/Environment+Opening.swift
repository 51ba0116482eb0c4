// Opens an environment: its directory, files, map and sums.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB
import Locking
import Synchronization

extension Environment {
    /// The version of LMDB that runs, as three numbers.
    package static var libraryVersion: String {
        var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
        _ = mdb_version(&major, &minor, &patch)
        return "\(major).\(minor).\(patch)"
    }

    /// Opens the store in a directory, or returns the environment that this process has open there already.
    ///
    /// Nothing changes before the data file has proved to be a whole LMDB file of this format.
    /// - Throws: `missing`, `empty`, `foreign`, `truncated`, `newerFormat`, `invalid`, `symbolicLink`,
    ///   `insecurePermissions`, `permissionDenied`, `networkFileSystem`, `conflictingOptions`, `alreadyExists`, `busy`;
    ///   `fileReplaced` if the files are replaced again and again.
    package static func open(
        at directoryPath: String, options: EnvironmentOptions = EnvironmentOptions()
    ) throws(LMDBError) -> Environment {
        var attempt = 0
        while true {
            attempt += 1
            // A restored store may have replaced the whole directory.
            let directory = try EnvironmentDirectory(path: directoryPath, createIfMissing: options.mayCreate)
            do throws(LMDBError) {
                return try open(directory, options)
            } catch {
                if directory.wasCreated { rmdir(directory.path) }
                guard error.code == .fileReplaced, attempt < mostOpenings else { throw error }
            }
            // Several that wait would meet again and again.
            usleep(.random(in: 1_000...10_000))
        }
    }

    private static let mostOpenings = 500

    private static func open(
        _ directory: EnvironmentDirectory, _ options: EnvironmentOptions
    ) throws(LMDBError) -> Environment {
        try directory.checkDirectory(ownership: options.ownership)
        if !options.isReadOnly { try restoreCheckpoint(at: directory.path, ownership: options.ownership) }
        if options.networkFileSystems == .refused { try NetworkFileSystem.check(directory) }
        try directory.checkLockFile(ownership: options.ownership)
        if options.residence == .unlinkedAfterOpen, !options.takesOverFile { try checkIsUnused(directory) }
        if !options.isReadOnly { try directory.sweepLeftovers() }
        let environment: Environment
        do throws(LMDBError) {
            environment = try openedFile(in: directory, options)
        } catch {
            // After a power cut the file may be inconsistent until a writer takes it back: this is not damage yet.
            guard error.isOfContent, options.isReadOnly, options.refusesUnrestored, try isUnrestored(directory) else {
                throw error
            }
            throw LMDBError(
                .unrestored, operation: "open the environment", path: directory.path, detail: unrestoredDetail)
        }
        if options.residence == .unlinkedAfterOpen { environment.unlinkFiles() }
        return environment
    }

    private static func openedFile(
        in directory: EnvironmentDirectory, _ options: EnvironmentOptions
    ) throws(LMDBError) -> Environment {
        let identity = try ensureDataFile(in: directory, options)
        return try EnvironmentRegistry.shared.environment(for: identity, options) { () throws(LMDBError) in
            try Environment(directory: directory, identity: identity, options: options)
        }
    }

    private static func checkIsUnused(_ directory: EnvironmentDirectory) throws(LMDBError) {
        for name in [EnvironmentDirectory.dataName, EnvironmentDirectory.lockName]
        where try directory.status(of: name) != nil {
            throw LMDBError(.alreadyExists, operation: "make an unnamed store", path: directory.path(of: name))
        }
    }

    /// Checks the data file, made first if it is missing and may be made.
    private static func ensureDataFile(
        in directory: EnvironmentDirectory, _ options: EnvironmentOptions
    ) throws(LMDBError) -> FileIdentity {
        if let found = try checkedDataFile(in: directory, options) { return found }
        if options.mayCreate {
            try createDataFile(in: directory, options)
            if let made = try checkedDataFile(in: directory, options) { return made }
        }
        throw LMDBError(.missing, operation: "open the store", path: directory.path(of: EnvironmentDirectory.dataName))
    }

    /// Checks the data file's type, owner and header through one descriptor; nil when there is no data file.
    private static func checkedDataFile(
        in directory: EnvironmentDirectory, _ options: EnvironmentOptions
    ) throws(LMDBError) -> FileIdentity? {
        let name = EnvironmentDirectory.dataName
        let file: (descriptor: Int32, identity: FileIdentity)
        do {
            file = try directory.openFile(name, O_RDONLY, ownership: options.ownership)
        } catch let error where error.code == .missing {
            return nil
        }
        defer { EnvironmentDirectory.closeFile(file.descriptor) }
        _ = try DataFileHeader.read(descriptor: file.descriptor, path: directory.path(of: name))
        if !options.isReadOnly { try directory.synchronize(ifNew: file.descriptor) }
        return file.identity
    }

    static func checkHeader(in directory: EnvironmentDirectory) throws(LMDBError) {
        let name = EnvironmentDirectory.dataName
        let descriptor = try directory.openFile(name, O_RDONLY)
        defer { EnvironmentDirectory.closeFile(descriptor) }
        _ = try DataFileHeader.read(descriptor: descriptor, path: directory.path(of: name))
    }

    /// Makes the data file, unless there is one: another process may have made it meanwhile, and the sums are those of its
    /// file then.
    static func createDataFile(
        in directory: EnvironmentDirectory, _ options: EnvironmentOptions
    ) throws(LMDBError) {
        try directory.exclusively(timeout: options.openingTimeout) { () throws(LMDBError) in
            guard try directory.status(of: EnvironmentDirectory.dataName) == nil else { return }
            try makeDataFile(in: directory, isSynced: options.residence == .named)
        }
    }

    /// Lets LMDB make a data file under a temporary name, so that a crash leaves no half-made one.
    private static func makeDataFile(in directory: EnvironmentDirectory, isSynced: Bool) throws(LMDBError) {
        let name = ".new-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        guard mkdirat(directory.descriptor, name, 0o700) == 0 else {
            let error = SystemError.current("make a temporary directory", directory.path(of: name))
            // A file system may report a failure after it has made the directory.
            unlinkat(directory.descriptor, name, AT_REMOVEDIR)
            throw error
        }
        let temporary = name + "/" + EnvironmentDirectory.dataName
        defer { unlinkat(directory.descriptor, name, AT_REMOVEDIR) }
        var made: OpaquePointer?
        var result = mdb_env_create(&made)
        defer { mdb_env_close(made) }
        if result == 0 { result = mdb_env_open(made, directory.path(of: name), UInt32(MDB_NOLOCK), 0o600) }
        if result == 0 { result = mdb_env_sync(made, 1) }
        guard result == 0 else {
            directory.remove(temporary)
            throw SystemError.lmdb(result, "make the data file", directory.path(of: temporary))
        }
        // Sums of a data file that is gone.
        directory.remove(EnvironmentDirectory.sumsName)
        try directory.publish(temporary, as: EnvironmentDirectory.dataName, isSynced: isSynced)
    }

    /// Removes the names of the files, and the directory if opening made it.
    private func unlinkFiles() {
        directory.remove(EnvironmentDirectory.dataName)
        directory.remove(EnvironmentDirectory.lockName)
        if directory.wasCreated { rmdir(path) }
    }
}

// MARK: - LMDB's environment

extension Environment {
    private static let smallestMapSizeInBytes = 16 << 20

    /// Opens LMDB's environment with the largest map the system grants, and records its addresses.
    func openHandle() throws(LMDBError) -> OpaquePointer {
        let wanted = min(options.mapSizeInBytes, options.maximumMapSizeInBytes, AddressSpace.share)
        var size = max(wanted, 64 << 10)
        while true {
            do {
                let opened = try openHandle(mapSize: size)
                try adopt(opened)
                return opened
            } catch let error where error.code == .other(ENOMEM) && size > Self.smallestMapSizeInBytes {
                size /= 2
            }
        }
    }

    private func openHandle(mapSize: Int) throws(LMDBError) -> OpaquePointer {
        var created: OpaquePointer?
        var result = mdb_env_create(&created)
        guard result == 0, let created else { throw failure(result, "create an environment") }
        mdb_env_set_mapsize(created, mapSize)
        mdb_env_set_maxdbs(created, UInt32(options.maximumTables))
        mdb_env_set_maxreaders(created, UInt32(options.maximumReaders))
        do throws(LMDBError) {
            if options.locking != .none {
                try directory.makeLockFile(readers: options.maximumReaders)
                try directory.waitForLockFile(timeout: options.openingTimeout)
            }
        } catch {
            mdb_env_close(created)
            throw error
        }
        result = mdb_env_open(created, path, openFlags, 0o600)
        guard result == 0 else {
            mdb_env_close(created)
            throw failure(result, "open the environment")
        }
        return created
    }

    private var openFlags: UInt32 {
        var flags = UInt32(MDB_NOTLS)
        if options.isReadOnly { flags |= UInt32(MDB_RDONLY) }
        if options.locking == .none { flags |= UInt32(MDB_NOLOCK) }
        switch options.durability {
        case .full: break
        case .relaxed: flags |= UInt32(MDB_NOMETASYNC)
        case .checkpointed, .journaled, .disposable: flags |= UInt32(MDB_NOSYNC)
        }
        return flags
    }

    /// Checks that LMDB opened the files that were checked, and completes the opening.
    private func adopt(_ opened: OpaquePointer) throws(LMDBError) {
        do throws(LMDBError) {
            let descriptor = Self.descriptor(of: opened)
            var status = stat()
            guard fstat(descriptor, &status) == 0, FileIdentity(status) == identity else {
                throw failure(.fileReplaced, "open the environment", detail: EnvironmentDirectory.dataName)
            }
            try checkIsCurrent(opened)
            // LMDB lets child programs inherit the data file.
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            try noteFiles()
        } catch {
            mdb_env_close(opened)
            throw error
        }
        noteMap(of: opened)
        folioSplitter.begin(size: Self.fileSize(of: opened))
        // A reader changes nothing here, since its user may want to see the slots. It sweeps when no slot is free.
        if options.locking == .shared, !options.isReadOnly { _ = mdb_reader_check(opened, nil) }
    }

    /// Checks that the opened file and its directory still have their names, and that the lock file belongs to it. No
    /// process can replace them while it is locked.
    ///
    /// A process that waited for the lock while the file was replaced meets the old file's lock file, which names a
    /// later commit than the new file has. LMDB makes a new lock file when no process has it open.
    private func checkIsCurrent(_ opened: OpaquePointer) throws(LMDBError) {
        guard options.residence == .named, options.locking == .shared else { return }
        guard directory.isInPlace, let named = try directory.status(of: EnvironmentDirectory.dataName),
            FileIdentity(named) == identity
        else {
            throw failure(.fileReplaced, "open the environment", detail: EnvironmentDirectory.dataName)
        }
        var transaction: OpaquePointer?
        // A full table of readers is no reason not to open.
        guard mdb_txn_begin(opened, nil, UInt32(MDB_RDONLY), &transaction) == 0, let transaction else { return }
        let commit = mdb_txn_id(transaction)
        mdb_txn_abort(transaction)
        var info = MDB_envinfo()
        guard mdb_env_info(opened, &info) == 0 else { return }
        guard commit <= info.me_last_txnid else {
            throw failure(.fileReplaced, "open the environment", detail: EnvironmentDirectory.lockName)
        }
    }

    private func noteFiles() throws(LMDBError) {
        guard options.residence == .named else { return }
        var files = [(name: EnvironmentDirectory.dataName, identity: identity)]
        for name in [EnvironmentDirectory.lockName, EnvironmentDirectory.writerLockName] {
            if let status = try directory.status(of: name) { files.append((name, FileIdentity(status))) }
        }
        let found = files
        guardedFiles.withLock { $0 = found }
    }

    /// Records the addresses of the map, and keeps users' data out of core dumps.
    func noteMap(of opened: OpaquePointer) {
        let (info, pageSize) = Self.shape(of: opened)
        bounds.noteSize(Int(info.me_mapsize))
        clmdb_watch(opened)
        pageGuard.begin(mapSize: Int(info.me_mapsize), pageSize: pageSize, descriptor: Self.descriptor(of: opened))
        guard let address = MapBounds.mapAddress(environment: opened, pageSize: pageSize) else {
            bounds.set(lower: 0, upper: .max, mapEnd: .max, pageSize: pageSize)
            return
        }
        let size = UInt(info.me_mapsize)
        sums.reserve(map: UnsafeRawPointer(bitPattern: address), mapSize: Int(size), pageSize: pageSize)
        bounds.set(
            lower: address, upper: address + UInt(info.me_last_pgno + 1) * UInt(pageSize), mapEnd: address + size,
            pageSize: pageSize)
        #if os(Linux)
            let dontDump: Int32 = 16  // MADV_DONTDUMP
            madvise(UnsafeMutableRawPointer(bitPattern: address), Int(size), dontDump)
        #endif
    }

    /// Raises the upper bound to the last page of the newest commit.
    func refreshUpperBound() {
        let lower = bounds.lower.load(ordering: .relaxed)
        guard let handle, lower != 0 else { return }
        let (info, pageSize) = Self.shape(of: handle)
        bounds.upper.store(lower + UInt(info.me_last_pgno + 1) * UInt(pageSize), ordering: .relaxed)
    }

    /// The size of the file as the newest commit counts it, in bytes. The file is shorter where the last pages were
    /// never written.
    static func fileSize(of handle: OpaquePointer) -> Int {
        let (info, pageSize) = shape(of: handle)
        return Int(info.me_last_pgno + 1) * pageSize
    }

    /// The data file as LMDB has it open; -1 once the environment is closed.
    var descriptor: Int32 { handle.map(Self.descriptor) ?? -1 }

    static func descriptor(of handle: OpaquePointer) -> Int32 {
        var descriptor: Int32 = -1
        mdb_env_get_fd(handle, &descriptor)
        return descriptor
    }

    /// LMDB's numbers of the environment, and the size of a page in bytes.
    static func shape(of handle: OpaquePointer) -> (info: MDB_envinfo, pageSize: Int) {
        var info = MDB_envinfo()
        var stat = MDB_stat()
        mdb_env_info(handle, &info)
        mdb_env_stat(handle, &stat)
        return (info, Int(stat.ms_psize))
    }
}

extension LMDBError {
    /// Whether the error means that the data file is not what it should be.
    fileprivate var isOfContent: Bool { [.corrupted, .invalid, .foreign, .empty, .truncated].contains(code) }
}
