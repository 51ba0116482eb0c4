import Logging
import Foundation
import LMDB
package import StrataModel

extension Store {
    /// Opens a store, or makes it.
    ///
    /// - Parameter model: nil opens with the model that the store has. A model that differs is installed as a new
    ///   version if that rewrites nothing but indexes (STORE-RULES 4).
    /// - Throws: `persistentStoreOpen` for a missing, foreign, damaged or newer file, which is left as it was;
    ///   `migration` for a model that cannot be installed so, with every reason; `invalidModel` when there is none.
    package static func open(
        _ location: StoreLocation, model: ManagedObjectModel?, options: StoreOptions = StoreOptions()
    ) throws -> Store {
        let directory = try StoreDirectory(location)
        let store: Store
        do {
            store = try openFiles(directory, location, hasModel: model != nil, options)
        } catch let error as LMDBError {
            directory.removeIfTemporary()
            throw StrataError(error, during: "opening", path: directory.path)
        } catch {
            directory.removeIfTemporary()
            throw error
        }
        do {
            try store.resumeRebuild()
            try store.adopt(model)
            if !options.isReadOnly, store.blobs.hasFiles { store.sweepBlobsInBackground() }
        } catch {
            store.close()
            throw error
        }
        return store
    }

    private static func openFiles(
        _ directory: StoreDirectory, _ location: StoreLocation, hasModel: Bool, _ options: StoreOptions
    ) throws -> Store {
        let lmdbOptions = environmentOptions(location, hasModel: hasModel, options)
        if case .directory = location { try refuseForeignFile(directory, lmdbOptions) }
        let environment = try Environment.open(at: directory.path, options: lmdbOptions)
        do {
            let tables = try openTables(environment)
            let header = try readOrWriteHeader(environment, tables, options, directory)
            let histories = try environment.read { try StoreCore.modelsAtOpening(tables, $0) }
            let core = StoreCore(
                environment: environment, tables: tables, options: options, header: header, path: directory.path,
                histories: histories)
            let blobs = try BlobStore(location, directory: directory.path, core: core)
            return Store(location: location, core: core, blobs: blobs)
        } catch {
            try environment.close()
            throw error
        }
    }

    private static func environmentOptions(
        _ location: StoreLocation, hasModel: Bool, _ options: StoreOptions
    ) -> EnvironmentOptions {
        var lmdb = EnvironmentOptions()
        lmdb.access =
            options.isReadOnly ? .readOnly : .readWrite(create: options.createsIfMissing && hasModel)
        lmdb.durability =
            switch options.durability {
            case .full: .full
            case .relaxed: .relaxed
            case .disposable: .disposable
            }
        if case .inMemory = location {
            lmdb.residence = .unlinkedAfterOpen
            lmdb.durability = .disposable
        }
        if let size = options.mapSizeInBytes { lmdb.mapSizeInBytes = size }
        lmdb.writerLockTimeout = options.writerLockTimeout
        lmdb.networkFileSystems = options.acceptsNetworkFileSystem ? .accepted : .refused
        lmdb.ownership = options.acceptsSharedOwnership ? .unchecked : .privateOnly
        return lmdb
    }

    /// Looks into an existing file before anything is opened for writing: somebody else's LMDB file is left alone.
    private static func refuseForeignFile(_ directory: StoreDirectory, _ options: EnvironmentOptions) throws {
        guard directory.hasDataFile else { return }
        var readOnly = options
        readOnly.access = .readOnly
        let environment = try Environment.open(at: directory.path, options: readOnly)
        do {
            let info = try environment.info()
            // A store whose making was cut short has no tables at all, and none of LMDB's commits.
            if info.lastTransaction > 0 {
                guard let meta = try? environment.openTables(["meta"]).first else {
                    throw foreign(directory)
                }
                let isOurs = try environment.read { transaction in
                    try StoreCore.withKey("header") { try transaction.get(meta, $0) }?.count ?? 0 >= 16
                }
                if !isOurs { throw foreign(directory) }
            }
            try environment.close()
        } catch {
            try environment.close()
            throw error
        }
    }

    private static func foreign(_ directory: StoreDirectory) -> StrataError {
        StrataError(
            .persistentStoreOpen, "The file is an LMDB file, but no Strata store.",
            context: .init(path: directory.path))
    }

    private static func openTables(_ environment: Environment) throws -> StoreTables {
        let tables = try environment.openTables(StoreTables.names)
        return try StoreTables(
            Dictionary(zip(StoreTables.names, tables), uniquingKeysWith: { first, _ in first }))
    }

    private static func readOrWriteHeader(
        _ environment: Environment, _ tables: StoreTables, _ options: StoreOptions, _ directory: StoreDirectory
    ) throws -> StoreHeader {
        func read(_ transaction: ReadTransaction) throws -> StoreHeader? {
            guard let bytes = try StoreCore.meta("header", tables, transaction) else { return nil }
            do {
                return try StoreHeader(bytes)
            } catch {
                throw StrataError(
                    .persistentStoreOpen, "The store's header is damaged: \(error.reason).",
                    context: .init(path: directory.path), cause: error)
            }
        }
        if let header = try environment.read(read) { return try check(header, options, directory) }
        guard case .readWrite = environment.options.access else { throw foreign(directory) }
        var header: StoreHeader?
        // Another process may have made it meanwhile.
        try environment.write(timeout: options.writerLockTimeout) { transaction in
            if let other = try read(transaction) { return header = other }
            let fresh = StoreHeader(
                identifier: UUID(), lineage: UUID(),
                createdMicroseconds: Int64(options.clock().timeIntervalSince1970 * 1_000_000))
            try fresh.encoded().withUnsafeBytes { value in
                try StoreCore.withKey("header") { try transaction.put(tables.meta, $0, value) }
            }
            try LogHead.start.encoded().withUnsafeBytes { value in
                try StoreCore.withKey("head") { try transaction.put(tables.meta, $0, value) }
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
        guard header.format == StoreHeader.formatVersion, header.incompatibleFlags == 0 else {
            throw StrataError(
                .persistentStoreOpen,
                "The store has format \(header.format), which is newer than this version of Strata reads "
                    + "(\(StoreHeader.formatVersion)).", context: context)
        }
        guard header.readCompatibleFlags == 0 || options.isReadOnly else {
            throw StrataError(
                .persistentStoreOpen,
                "The store was written by a newer version of Strata; this one can open it for reading only.",
                context: context)
        }
        return header
    }
}

/// The directory a store's files are in.
struct StoreDirectory {
    let path: String
    private let isTemporary: Bool

    init(_ location: StoreLocation) throws {
        switch location {
        case .directory(let url):
            path = url.path(percentEncoded: false).droppingTrailingSlash
            isTemporary = false
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        case .inMemory:
            path = FileManager.default.temporaryDirectory
                .appending(component: "strata-\(UUID().uuidString)").path(percentEncoded: false)
            isTemporary = true
        }
    }

    var hasDataFile: Bool { FileManager.default.fileExists(atPath: path + "/data.mdb") }

    func removeIfTemporary() {
        guard isTemporary else { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            StoreLog.logger.debug("nothing to remove at \(path): \(error)")
        }
    }
}

extension String {
    fileprivate var droppingTrailingSlash: String {
        count > 1 && hasSuffix("/") ? String(dropLast()).droppingTrailingSlash : self
    }
}
