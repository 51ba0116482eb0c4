import Logging
package import Foundation
import LMDB
import Locking
package import StrataModel

extension Store {
    /// Opens a store, or creates it.
    ///
    /// A damaged copy of a shared log is moved aside and made again from the log.
    ///
    /// - Parameter model: nil opens the store with its own model. If the model differs from the store's, the store is
    ///   migrated (`options.migration`); an interrupted migration is finished.
    /// - Throws: `persistentStoreOpen` for a missing, foreign, damaged or newer file, which is left as it was;
    ///   `migration` for a model that the objects do not fit, naming them; `invalidModel` if there is none.
    package static func open(
        _ location: StoreLocation, model: ManagedObjectModel?, options: StoreOptions = StoreOptions()
    ) throws -> Store {
        let directory = try StoreDirectory(location, isReadOnly: options.isReadOnly)
        var options = options
        var log: (any SharedLog)?
        if let connection = options.sharedLog, !options.isReadOnly {
            let made = try connection.connect()
            options = options.joining(
                try identity(of: made, connection, hasStore: directory.hasDataFile, options))
            log = made
            try placeSnapshot(directory, location, made, connection, &options)
        }
        // `journaled` is as safe as `full`, and all processes with the file have to write the journal.
        if options.durability == .full, Environment.hasJournal(at: directory.path) { options.durability = .journaled }
        var end: SharedLogEnd?
        do {
            return try open(directory, location, model, options, log, &end)
        } catch  where DamagedCopy.isDamage(error, in: directory) || error is StoreBehindLog {
            guard log != nil, let connection = options.sharedLog, case .directory = location else {
                throw (error as? StoreBehindLog)?.refusal(path: directory.path) ?? error
            }
            // The store that could not be opened may have closed the other one.
            let log = try connection.connect()
            guard
                try DamagedCopy(directory: directory, options: options, connection: connection, end: end)
                    .setAside(error, log)
            else { throw (error as? StoreBehindLog)?.refusal(path: directory.path) ?? error }
            // The log has answered, so the new store can have its identity.
            options = options.joining(try identity(of: log, connection, hasStore: false, options))
            try placeSnapshot(directory, location, log, connection, &options)
            return try open(directory, location, model, options, log, &end)
        }
    }

    /// - Parameter end: where a store that cannot be opened ends, if that can be read.
    private static func open(
        _ directory: StoreDirectory, _ location: StoreLocation, _ model: ManagedObjectModel?, _ options: StoreOptions,
        _ log: (any SharedLog)?, _ end: inout SharedLogEnd?
    ) throws -> Store {
        let store: Store
        do {
            store = try openFiles(directory, location, model, options)
        } catch let error as LMDBError {
            directory.removeIfTemporary()
            throw StrataError(opening: error, path: directory.path)
        } catch let error as BackgroundThread.Unavailable {
            directory.removeIfTemporary()
            throw StrataError(
                .persistentStoreOpen, "The store has no thread to write on: \(error).",
                context: .init(path: directory.path), cause: error)
        } catch {
            directory.removeIfTemporary()
            throw error
        }
        do {
            if log == nil { try store.refuseWithoutLog() }
            do {
                try store.settle(model, log)
            } catch let error as StrataError where error.code == .corrupt && options.mendsViews && !options.isReadOnly {
                guard store.mendViews(error) else { throw error }
                try store.settle(model, log)
            }
            store.watchForDamage()
            store.beginScrubbing()
            store.beginRetention()
            store.beginKeepingViews()
            store.watchForModels()
            if !options.isReadOnly, store.blobs.hasFiles { store.sweepBlobsInBackground() }
            try store.startReceiving()
        } catch {
            if log != nil, (error as? StrataError)?.code == .corrupt { end = store.readableEnd() }
            store.close()
            throw error
        }
        return store
    }

    /// Finishes interrupted work, joins the shared log, and installs the model.
    private func settle(_ model: ManagedObjectModel?, _ log: (any SharedLog)?) throws {
        try resumeRebuild(file.options.migration.progress)
        try renewViews()
        try replayJournal()
        try takeKeys(model)
        try resumeMigration(model)
        if let log, let connection = file.options.sharedLog { try join(log, connection, mayBeBehind: try keeps(model)) }
        // After joining: its transactions go to the shared log, too.
        try resumeErasure(file.options.migration.progress)
        try adopt(model)
        try takeKeys(model)
        unlinkStrayPairs()
    }

    /// Creates a store in an empty directory, with a model that another store has had.
    static func begin(in directory: URL, with recovered: Schema) throws {
        let location = StoreLocation.directory(directory)
        let store = try openFiles(try StoreDirectory(location), location, recovered.model, StoreOptions())
        defer { store.close() }
        try store.adopt(recovered: recovered)
    }

    private static func openFiles(
        _ directory: StoreDirectory, _ location: StoreLocation, _ model: ManagedObjectModel?, _ options: StoreOptions
    ) throws -> Store {
        let lmdbOptions = environmentOptions(location, hasModel: model != nil, options)
        // One opening at a time, because looking into a file and opening it are two steps.
        let environment = try openings.withLock { _ in
            if !options.isReadOnly {
                try Environment.restoreCheckpoint(at: directory.path, ownership: lmdbOptions.ownership)
            }
            if case .directory = location { try refuseForeignFile(directory, lmdbOptions, options) }
            return try Environment.open(at: directory.path, options: lmdbOptions)
        }
        do {
            var tables = try StoreTables(opening: environment)
            let header = try readOrWriteHeader(environment, tables, options, directory)
            if !header.buffersEntries {
                tables = tables.withoutBuffers
            } else if !header.buffersRemovals {
                tables = tables.withoutRemovals
            }
            if !header.buffersCounts { tables.countsWait = false }
            // A store with a shared log may receive the first view at any time.
            let isShared = options.sharedLog != nil
            let mayWriteViews = header.hasFormerViews || isShared || model?.needsViewTables == true
            if header.hasViews || !options.isReadOnly && mayWriteViews {
                let mayGetTexts = !options.isReadOnly && (isShared || model?.hasFullText == true)
                tables.use(try ViewTables(opening: environment, hasTexts: header.hasTexts || mayGetTexts))
            }
            tables.bufferLimits = options.bufferLimits
            tables.packing = options.packing
            let histories = try environment.read { try StoreFile.modelsAtOpening(tables, $0) }
            let file = StoreFile(
                environment: environment, tables: tables, options: options, header: header, path: directory.path,
                histories: histories)
            let blobs = try BlobStore(location, directory: directory.path, file: file)
            return try Store(location: location, file: file, blobs: blobs)
        } catch {
            try environment.close()
            throw error
        }
    }

    // A value of some size: the thread sanitizer confuses the address of an empty one with that of the next variable.
    private static let openings = Locked(0)

    private static func environmentOptions(
        _ location: StoreLocation, hasModel: Bool, _ options: StoreOptions
    ) -> EnvironmentOptions {
        var lmdb = EnvironmentOptions()
        lmdb.access =
            options.isReadOnly
            ? .readOnly
            : .readWrite(create: options.createsIfMissing && hasModel || options.identity != nil)
        lmdb.durability =
            switch options.durability {
            case .full: .full
            case .relaxed: .relaxed
            case .checkpointed: .checkpointed
            case .journaled: .journaled
            case .disposable: .disposable
            }
        if case .inMemory = location {
            lmdb.residence = .unlinkedAfterOpen
            lmdb.takesOverFile = options.beginsWithSnapshot
            lmdb.durability = .disposable
        }
        if let size = options.mapSizeInBytes { lmdb.mapSizeInBytes = size }
        if options.isAlone, options.isReadOnly { lmdb.locking = .none }
        lmdb.writerLockTimeout = options.writerLockTimeout
        lmdb.networkFileSystems = options.acceptsNetworkFileSystem ? .accepted : .refused
        lmdb.ownership = options.acceptsSharedOwnership ? .unchecked : .privateOnly
        return lmdb
    }

    /// Looks into an existing file before anything is opened for writing or created beside it. A file of another LMDB
    /// program, or a store of a newer format, is left as it is.
    private static func refuseForeignFile(
        _ directory: StoreDirectory, _ lmdb: EnvironmentOptions, _ options: StoreOptions
    ) throws {
        guard directory.hasDataFile else { return }
        var probing = lmdb
        probing.access = .readOnly
        probing.refusesUnrestored = options.isReadOnly
        // Without a lock file no process has the data file open, so none needs to be created for a look.
        if !directory.hasLockFile { probing.locking = .none }
        let environment = try Environment.open(at: directory.path, options: probing)
        do {
            // A store whose creation was interrupted has no commit of LMDB's, or empty tables and no header.
            if try environment.read({ $0.number }) > 0 { try probe(environment, directory, options) }
            try environment.close()
        } catch {
            try environment.close()
            throw error
        }
    }

    private static func probe(
        _ environment: Environment, _ directory: StoreDirectory, _ options: StoreOptions
    ) throws {
        let tables: StoreTables
        do {
            let meta = try environment.openTables(["meta"])
            let bytes = try environment.read { transaction in
                try StoreFile.withKey("header") { try transaction.get(meta[0], $0).map { Array($0) } }
            }
            if let bytes {
                guard StoreHeader.isHeader(bytes) else { throw foreign(directory) }
                _ = try check(try bytes.withUnsafeBytes { try header($0, directory) }, options, directory)
                return
            }
            tables = try StoreTables(opening: environment)
        } catch let error as LMDBError where error.code == .notFound {
            throw foreign(directory)
        }
        let isEmpty = try environment.read { transaction in
            let others = [tables.meta, tables.state, tables.events, tables.transactions].map { BufferedTable($0) }
            return try (others + tables.viewTables.map { $0.table }).allSatisfy { try $0.count(transaction) == 0 }
        }
        guard isEmpty else { throw foreign(directory) }
    }

    private static func header(_ bytes: UnsafeRawBufferPointer, _ directory: StoreDirectory) throws -> StoreHeader {
        do {
            return try StoreHeader(bytes)
        } catch {
            throw StrataError(
                .corrupt, "The store's header is damaged: \(error.reason).", context: .init(path: directory.path),
                cause: error)
        }
    }

    private static func foreign(_ directory: StoreDirectory) -> StrataError {
        StrataError(
            .persistentStoreOpen, "The file is an LMDB file, but not a Strata store.",
            context: .init(path: directory.path),
            cause: LMDBError(.foreign, operation: "open the store", path: directory.path))
    }

    private static func readOrWriteHeader(
        _ environment: Environment, _ tables: StoreTables, _ options: StoreOptions, _ directory: StoreDirectory
    ) throws -> StoreHeader {
        func read(_ transaction: ReadTransaction) throws -> StoreHeader? {
            try StoreFile.meta("header", tables, transaction).map { try Self.header($0, directory) }
        }
        if let header = try environment.read(read) { return try check(header, options, directory) }
        guard case .readWrite = environment.options.access else { throw foreign(directory) }
        var header: StoreHeader?
        // Another process may have created it meanwhile.
        try environment.write(timeout: options.writerLockTimeout) { transaction in
            if let other = try read(transaction) { return header = other }
            let identity = options.identity ?? .make(at: options.clock())
            var fresh = StoreHeader(
                identifier: identity.identifier, lineage: identity.lineage,
                createdMicroseconds: identity.createdMicroseconds)
            fresh.incompatibleFlags = StoreHeader.newFlags
            try fresh.encoded().withUnsafeBytes { value in
                try StoreFile.withKey("header") { try transaction.put(tables.meta, $0, value) }
            }
            try LogHead.start.encoded().withUnsafeBytes { value in
                try StoreFile.withKey("head") { try transaction.put(tables.meta, $0, value) }
            }
            header = fresh
        }
        guard let header else { throw foreign(directory) }
        return try check(header, options, directory)
    }

    private static func check(
        _ header: StoreHeader, _ options: StoreOptions, _ directory: StoreDirectory
    ) throws -> StoreHeader {
        let context = StrataError.Context(path: directory.path)
        guard header.format == StoreHeader.formatVersion else {
            throw StrataError(
                .persistentStoreOpen,
                "The store has format \(header.format), which is newer than this version of Strata reads "
                    + "(\(StoreHeader.formatVersion)).", context: context)
        }
        let unknown = header.incompatibleFlags & ~StoreHeader.knownFlags
        guard unknown == 0 else {
            throw StrataError(
                .persistentStoreOpen,
                "The store uses features of a newer version of Strata (flags \(unknown)).", context: context)
        }
        guard header.readCompatibleFlags & ~StoreHeader.knownReadFlags == 0 || options.isReadOnly else {
            throw StrataError(
                .persistentStoreOpen,
                "The store was written by a newer version of Strata; this one can open it for reading only.",
                context: context)
        }
        guard !header.isStandby || options.isReadOnly || options.receivesOnly else {
            throw StrataError(
                .readOnly,
                "The store is a standby, which only takes over what another store saves. Open it for reading only, or "
                    + "make it a store of its own: strata standby --promote.", context: context)
        }
        return header
    }
}

extension Store {
    /// Makes a directory for stores, and those above it that are missing, with durable names.
    package static func makeDirectory(_ url: URL, mode: Int) throws { try BlobFile.makeDirectories(url, mode: mode) }
}

/// The directory of a store's files.
struct StoreDirectory {
    let path: String
    private let isTemporary: Bool

    /// - Parameter isReadOnly: whether nothing is made. An interrupted backup may have given up the folder of its copy.
    init(_ location: StoreLocation, isReadOnly: Bool = false) throws {
        switch location {
        case .directory(let url):
            path = url.path(percentEncoded: false).droppingTrailingSlash
            isTemporary = false
            if !isReadOnly { try Self.makeParent(of: url) }
        case .inMemory:
            path = FileManager.default.temporaryDirectory
                .appending(component: "strata-\(UUID().uuidString)").path(percentEncoded: false)
            isTemporary = true
        }
    }

    private static func makeParent(of url: URL) throws {
        let parent = url.deletingLastPathComponent()
        do {
            try BlobFile.makeDirectories(parent)
        } catch {
            throw StrataError(
                .persistentStoreOpen, "The directory for the store cannot be created.",
                context: .init(path: parent.path(percentEncoded: false)), cause: error)
        }
    }

    var hasDataFile: Bool { FileManager.default.fileExists(atPath: path + "/data.mdb") }
    var hasLockFile: Bool { FileManager.default.fileExists(atPath: path + "/lock.mdb") }

    func removeIfTemporary() {
        guard isTemporary else { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            StoreLogger.shared.debug("nothing to remove at \(path): \(error)")
        }
    }
}

extension String {
    fileprivate var droppingTrailingSlash: String {
        count > 1 && hasSuffix("/") ? String(dropLast()).droppingTrailingSlash : self
    }
}
