import Foundation
import LMDB
import StrataModel

extension Store {
    /// Measures the store as of now.
    ///
    /// - Complexity: O(n) in the index entries, which are counted for each index.
    package func statistics() throws -> StoreStatistics {
        let (info, readers) = try measureFile()
        let sharedLog = try sharedLogName()
        return try readLog { reader, head in
            let measure = StoreMeasure(file: file, reader: reader, info: info)
            let baseline = try reader.baseline()
            let dropped = baseline?.transaction ?? .zero
            let first = TransactionNumber(rawValue: dropped.rawValue + 1)
            return StoreStatistics(
                header: file.header, head: head, files: files(), tables: measure.tables(),
                entities: try measure.entities(), indexes: try measure.indexes(),
                readers: readers.map(Self.use), blobs: try blobUse(reader.transaction),
                modelVersions: reader.histories.versions,
                firstTransaction: try head.transaction < first ? nil : reader.transaction(first),
                lastTransaction: try head.transaction < first ? nil : reader.transaction(head.transaction),
                baseline: baseline, isStandby: isStandby, sharedLog: sharedLog,
                pageSizeInBytes: info.pageSizeInBytes, freePageCount: info.freePageCount,
                mapSizeInBytes: info.mapSizeInBytes)
        }
    }

    /// The shape of the file and its tables, and the readers.
    func measureFile() throws -> (info: Environment.Info, readers: [Environment.Reader]) {
        do {
            return (try file.environment.info(), try file.environment.readers())
        } catch {
            throw file.publicError(error, during: "measuring")
        }
    }

    private func files() -> [StoreStatistics.File] {
        func file(_ name: String, _ purpose: String) -> StoreStatistics.File {
            StoreStatistics.File(
                path: "\(path)/\(name)", purpose: purpose, sizeInBytes: BlobFile.size("\(path)/\(name)"))
        }
        let usage = blobs.usage
        // Files that only some stores have, and files that stores of older versions lack, are left out if they do not
        // exist.
        let perhaps = [
            file("pages.sums", "a sum of each page of data.mdb; belongs to it"),
            file("journal", "saves that data.mdb may not have after a power cut"),
            file("checkpoint", "the commit that data.mdb has after a power cut"),
        ]
        return [file("data.mdb", "the log and its views")] + perhaps.filter { $0.sizeInBytes != nil } + [
            file("lock.mdb", "the current readers and writer"),
            file("writer.lock", "the lock of the current writer"),
            StoreStatistics.File(
                path: "\(path)/blobs", purpose: "large values, a file each",
                sizeInBytes: usage.count > 0 ? usage.sizeInBytes : nil),
        ]
    }

    private static func use(_ reader: Environment.Reader) -> StoreStatistics.ReaderUse {
        StoreStatistics.ReaderUse(
            processID: reader.processID, isActive: reader.transaction != nil,
            isStale: kill(reader.processID, 0) != 0 && errno == ESRCH)
    }

    private func blobUse(_ transaction: ReadTransaction) throws -> StoreStatistics.BlobUse {
        let usage = blobs.usage
        return StoreStatistics.BlobUse(
            fileCount: usage.count, sizeInBytes: usage.sizeInBytes,
            namedCount: try transaction.count(file.tables.blobs))
    }
}

/// Measures tables, entities and indexes inside one read.
private struct StoreMeasure {
    let file: StoreFile
    let reader: LogReader
    let info: Environment.Info

    func tables() -> [StoreStatistics.TableUse] {
        let waiting =
            StoreTables.bufferNames + StoreTables.removalNames + StoreTables.declaredViewNames
            + [StoreTables.textName]
        return (StoreTables.names + waiting).compactMap { name in
            guard let shape = info.tables[name] else { return nil }
            let pages = shape.branchPageCount + shape.leafPageCount + shape.overflowPageCount
            return StoreStatistics.TableUse(
                name: name, isView: (StoreTables.viewNames + waiting).contains(name), entryCount: shape.entryCount,
                pageCount: pages, sizeInBytes: pages * info.pageSizeInBytes, depth: shape.depth)
        }
    }

    func entities() throws -> [StoreStatistics.EntityUse] {
        try (reader.histories.newest?.entities ?? []).map { entity in
            let count = try CounterKey.entity(entity.id).withBytes { key in
                try reader.transaction.get(file.tables.counts, key).map { value throws(CorruptRecord) in
                    Int(try CounterKey.value(value))
                }
            }
            return StoreStatistics.EntityUse(
                name: entity.name, id: entity.id, isAbstract: entity.isAbstract, objectCount: count ?? 0)
        }
    }

    func indexes() throws -> [StoreStatistics.IndexUse] {
        var sizes: [IndexID: (entries: Int, bytes: Int)] = [:]
        try file.tables.indexes.withCursor(reader.transaction) { cursor in
            var found = try cursor.first()
            while found {
                if cursor.key.count >= 4 {
                    let number = IndexID(rawValue: UInt32(bigEndian: cursor.key.loadUnaligned(as: UInt32.self)))
                    sizes[number, default: (0, 0)].entries += 1
                    sizes[number, default: (0, 0)].bytes += cursor.key.count
                }
                found = try cursor.advance()
            }
        }
        let names = RecordedNames(reader.histories)
        let schema = reader.histories.newest
        let numbers = Set(sizes.keys).union(schema?.indexes.map(\.id) ?? [])
        return numbers.sorted().map { number in
            let index = schema?.index(number)
            return StoreStatistics.IndexUse(
                name: names.name(of: number), entityName: index.map { names.name(of: $0.entityID) },
                isUnique: index?.isUnique ?? false, entryCount: sizes[number]?.entries ?? 0,
                sizeInBytes: sizes[number]?.bytes ?? 0)
        }
    }
}
