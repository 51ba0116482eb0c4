import Foundation
import StrataModel
import StrataStore

/// The listing of `inspect`, for people section by section, and as JSON.
struct StoreListing {
    let statistics: StoreStatistics
    let path: String
    let schemas: [Schema]
    let tags: [String: EventNumber]
    let subscriptions: [String: TransactionNumber]
    let metadata: [String: AttributeValue]
    /// The ids of the keys under which values of today may be encrypted.
    let encryptionKeys: [String]

    private var keptEvents: UInt64 { statistics.head.event.rawValue - (statistics.baseline?.droppedCount ?? 0) }
    private var keptTransactions: UInt64 {
        statistics.head.transaction.rawValue - (statistics.baseline?.transaction.rawValue ?? 0)
    }

    init(_ store: Store, path: String) throws {
        self.path = path
        statistics = try store.statistics()
        schemas = try store.schemas
        tags = try store.tags()
        subscriptions = try store.subscriptions()
        metadata = try store.metadata()
        encryptionKeys = try store.encryptionKeyIDs()
    }

    /// Without this command's own slot.
    private var readers: [StoreStatistics.ReaderUse] { statistics.readers.filter { $0.processID != getpid() } }

    func print() {
        printHead()
        printFiles()
        printModels()
        printEntities()
        printNames()
        printMetadata()
        printTables()
        printIndexes()
        printReaders()
    }

    private func printHead() {
        var columns = Columns([.left, .left])
        let versions = statistics.modelVersions.map(\.rawValue)
        columns.add("store", path)
        columns.add("id", statistics.header.identifier.uuidString)
        columns.add("lineage", statistics.header.lineage.uuidString)
        columns.add("created", ValueText.moment(statistics.header.created))
        columns.add("format", "\(statistics.header.format)")
        columns.add("model", versions.max().map { "version \($0) of \(versions.count)" } ?? "none")
        columns.add(
            "log",
            "\(ValueText.count(Int(keptEvents), "event")) in "
                + ValueText.count(Int(keptTransactions), "transaction"))
        if let baseline = statistics.baseline {
            columns.add("history", "begins at \(baseline.placeText)")
            columns.add("", baseline.truncationText)
        }
        let encrypted = encryptedAttributes
        if !encrypted.isEmpty { columns.add("encrypted", encrypted.joined(separator: ", ")) }
        if !encryptionKeys.isEmpty { columns.add("keys", encryptionKeys.joined(separator: ", ")) }
        if statistics.isStandby { columns.add("standby", "takes over what another store saves; it cannot be saved to") }
        if let log = statistics.sharedLog { columns.add("shared log", ValueText.harmless(log)) }
        columns.add("first", Self.text(statistics.firstTransaction))
        columns.add("last", Self.text(statistics.lastTransaction))
        columns.flush()
    }

    /// The encrypted attributes of the newest model, by the names of the entities that declare them.
    private var encryptedAttributes: [String] {
        let newest = schemas.max { $0.version < $1.version }
        return (newest?.model.entities ?? []).flatMap { entity in
            entity.properties.compactMap(\.attribute).compactMap { attribute in
                attribute.encryption.map { encryption in
                    let name = "\(entity.name).\(attribute.name)"
                    return encryption.subject == nil ? name : "\(name) (\(encryption))"
                }
            }
        }
    }

    private static func text(_ record: TransactionRecord?) -> String {
        guard let record else { return "none" }
        return ValueText.moment(record.date) + (record.author.map { " by \(ValueText.harmless($0))" } ?? "")
    }

    private func printFiles() {
        Columns.section("Files", [.left, .right, .left]) { columns in
            for file in statistics.files {
                columns.add(file.path, file.sizeInBytes.map(ValueText.size) ?? "not there", file.purpose)
            }
        }
        let free = UInt64(statistics.freePageCount * statistics.pageSizeInBytes)
        Output.shared.line(
            "  \(ValueText.size(free)) of data.mdb are free for later saves; a backup leaves them out")
        let blobs = statistics.blobs
        if blobs.fileCount > 0 || blobs.namedCount > 0 {
            Output.shared.line(
                "  \(ValueText.count(blobs.fileCount, "large value")) in files, "
                    + "\(ValueText.count(blobs.namedCount)) named by the log")
        }
    }

    /// Prints nothing for a single model, which the first section shows.
    private func printModels() {
        guard schemas.count > 1 else { return }
        Columns.section("Models", [.left, .left]) { columns in
            for schema in schemas {
                columns.add(
                    "version \(schema.version.rawValue)", ValueText.count(schema.entities.count, "entity", "entities"))
            }
        }
    }

    private func printNames() {
        guard !tags.isEmpty || !subscriptions.isEmpty else { return }
        Columns.section("Tags and subscriptions", [.left, .left, .left]) { columns in
            for (name, eventNumber) in tags.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
                columns.add(name, "tag", "event \(eventNumber)")
            }
            for (name, transaction) in subscriptions.sorted(by: { $0.key < $1.key }) {
                columns.add(name, "subscription", "acknowledged through transaction \(transaction)")
            }
        }
    }

    private func printMetadata() {
        guard !metadata.isEmpty else { return }
        Columns.section("Metadata", [.left, .left]) { columns in
            for name in metadata.keys.sorted() {
                columns.add(ValueText.harmless(name), ValueText.of(metadata[name] ?? .null, name: objectName))
            }
        }
    }

    private func objectName(_ id: ObjectID) -> String { schemas.last?.name(of: id) ?? "object \(id)" }

    private func printEntities() {
        Columns.section("Entities", [.left, .right, .left]) { columns in
            for entity in statistics.entities {
                columns.add(entity.name, ValueText.count(entity.objectCount), entity.isAbstract ? "abstract" : "")
            }
        }
    }

    private func printTables() {
        Columns.section("Tables", [.left, .right, .right, .left], ["", "entries", "size", ""]) { columns in
            for table in statistics.tables {
                columns.add(
                    table.name, ValueText.count(table.entryCount), ValueText.size(UInt64(table.sizeInBytes)),
                    table.isView ? "view" : "")
            }
        }
    }

    private func printIndexes() {
        guard !statistics.indexes.isEmpty else { return }
        Columns.section("Indexes", [.left, .right, .right, .left], ["", "entries", "keys", ""]) { columns in
            for index in statistics.indexes {
                columns.add(
                    "\(index.entityName.map { $0 + "." } ?? "")\(index.name)", ValueText.count(index.entryCount),
                    ValueText.size(UInt64(index.sizeInBytes)),
                    index.entityName == nil ? "no longer in the model" : index.isUnique ? "unique" : "")
            }
        }
    }

    private func printReaders() {
        guard !readers.isEmpty else { return }
        Columns.section("Readers", [.left, .left]) { columns in
            for reader in readers {
                columns.add([
                    .init("process \(reader.processID)"),
                    reader.isStale
                        ? .init("stale: its process has ended", .yellow)
                        : .init(reader.isActive ? "reading" : "idle", .dim),
                ])
            }
        }
    }
}

extension StoreListing {
    var json: JSONObject {
        let header = statistics.header
        return [
            "path": path, "store": header.identifier.uuidString, "lineage": header.lineage.uuidString,
            "format": header.format, "created": ValueText.moment(header.created),
            "models": statistics.modelVersions.map(\.rawValue), "log": log, "tags": tags.mapValues(\.rawValue),
            "subscriptions": subscriptions.mapValues(\.rawValue),
            "metadata": metadata.mapValues { JSONText.Value($0, name: objectName) },
            "files": statistics.files.map { file -> JSONObject in
                ["path": file.path, "purpose": file.purpose, "bytes": file.sizeInBytes]
            },
            "entities": statistics.entities.map { entity -> JSONObject in
                ["name": entity.name, "objects": entity.objectCount, "abstract": entity.isAbstract]
            },
            "tables": statistics.tables.map { table -> JSONObject in
                ["name": table.name, "view": table.isView, "entries": table.entryCount, "bytes": table.sizeInBytes]
            },
            "indexes": statistics.indexes.map { index -> JSONObject in
                [
                    "name": index.name, "entity": index.entityName, "unique": index.isUnique,
                    "entries": index.entryCount, "bytes": index.sizeInBytes,
                ]
            },
            "encryption": ["keys": encryptionKeys, "attributes": encryptedAttributes] as JSONObject,
            "blobs": [
                "files": statistics.blobs.fileCount, "bytes": statistics.blobs.sizeInBytes,
                "named": statistics.blobs.namedCount,
            ] as JSONObject,
            "baseline": JSONObject.orNull(statistics.baseline?.json), "standby": statistics.isStandby,
            "sharedLog": JSONObject.orNull(statistics.sharedLog),
            "readers": readers.map { reader -> JSONObject in
                ["process": reader.processID, "active": reader.isActive, "stale": reader.isStale]
            },
            "reclaimableBytes": statistics.freePageCount * statistics.pageSizeInBytes,
        ]
    }

    private var log: JSONObject {
        [
            "events": keptEvents, "transactions": keptTransactions,
            "first": statistics.firstTransaction.map { ValueText.moment($0.date) },
            "last": statistics.lastTransaction.map { ValueText.moment($0.date) },
        ]
    }
}
