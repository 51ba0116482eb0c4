import Foundation
import StrataModel
import StrataStore

/// Prints the listing of `inspect`, section by section.
struct InspectPrinter {
    let statistics: StoreStatistics
    let path: String
    let schemas: [Schema]
    let tags: [String: EventNumber]
    let subscriptions: [String: TransactionNumber]
    private let style = Style.standard

    init(
        statistics: StoreStatistics, path: String, schemas: [Schema], tags: [String: EventNumber],
        subscriptions: [String: TransactionNumber]
    ) {
        self.statistics = statistics
        self.path = path
        self.schemas = schemas
        self.tags = tags
        self.subscriptions = subscriptions
    }

    func print() {
        printHead()
        printFiles()
        printModels()
        printEntities()
        printPlaces()
        printTables()
        printIndexes()
        printReaders()
    }

    private func heading(_ text: String) {
        Output.shared.line()
        Output.shared.line(style(text, .bold))
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
            "\(ValueText.count(Int(statistics.head.event.rawValue), "event")) in "
                + ValueText.count(Int(statistics.head.transaction.rawValue), "transaction"))
        columns.add("first", Self.text(statistics.firstTransaction))
        columns.add("last", Self.text(statistics.lastTransaction))
        columns.flush()
    }

    private static func text(_ record: TransactionRecord?) -> String {
        guard let record else { return "none" }
        return ValueText.moment(record.date) + (record.author.map { " by \(ValueText.harmless($0))" } ?? "")
    }

    private func printFiles() {
        heading("Files")
        var columns = Columns([.left, .right, .left], indent: "  ")
        for file in statistics.files {
            columns.add(file.path, file.sizeInBytes.map(ValueText.size) ?? "not there", file.purpose)
        }
        columns.flush()
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
        heading("Models")
        var columns = Columns([.left, .left], indent: "  ")
        for schema in schemas {
            columns.add(
                "version \(schema.version.rawValue)", ValueText.count(schema.entities.count, "entity", "entities"))
        }
        columns.flush()
    }

    private func printPlaces() {
        guard !tags.isEmpty || !subscriptions.isEmpty else { return }
        heading("Tags and subscriptions")
        var columns = Columns([.left, .left, .left], indent: "  ")
        for (name, eventNumber) in tags.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
            columns.add(name, "tag", "event \(eventNumber)")
        }
        for (name, transaction) in subscriptions.sorted(by: { $0.key < $1.key }) {
            columns.add(name, "subscription", "acknowledged through transaction \(transaction)")
        }
        columns.flush()
    }

    private func printEntities() {
        heading("Entities")
        var columns = Columns([.left, .right, .left], indent: "  ")
        for entity in statistics.entities {
            columns.add(entity.name, ValueText.count(entity.objectCount), entity.isAbstract ? "abstract" : "")
        }
        columns.flush()
    }

    private func printTables() {
        heading("Tables")
        var columns = Columns([.left, .right, .right, .left], indent: "  ")
        columns.add([.init("", nil), .init("entries", .dim), .init("size", .dim), .init("", nil)])
        for table in statistics.tables {
            columns.add(
                table.name, ValueText.count(table.entryCount), ValueText.size(UInt64(table.sizeInBytes)),
                table.isView ? "view" : "")
        }
        columns.flush()
    }

    private func printIndexes() {
        guard !statistics.indexes.isEmpty else { return }
        heading("Indexes")
        var columns = Columns([.left, .right, .right, .left], indent: "  ")
        columns.add([.init("", nil), .init("entries", .dim), .init("keys", .dim), .init("", nil)])
        for index in statistics.indexes {
            columns.add(
                "\(index.entityName.map { $0 + "." } ?? "")\(index.name)", ValueText.count(index.entryCount),
                ValueText.size(UInt64(index.sizeInBytes)),
                index.entityName == nil ? "no longer in the model" : index.isUnique ? "unique" : "")
        }
        columns.flush()
    }

    private func printReaders() {
        // Leaves out this command's own slot.
        let others = statistics.readers.filter { $0.processID != getpid() }
        guard !others.isEmpty else { return }
        heading("Readers")
        var columns = Columns([.left, .left], indent: "  ")
        for reader in others {
            columns.add([
                .init("process \(reader.processID)"),
                reader.isStale
                    ? .init("stale: its process has ended", .yellow)
                    : .init(reader.isActive ? "reading" : "idle", .dim),
            ])
        }
        columns.flush()
    }
}

/// The listing as JSON.
struct InspectText: Encodable {
    struct Log: Encodable {
        let events: UInt64
        let transactions: UInt64
        let first: String?
        let last: String?
    }

    struct File: Encodable {
        let path: String
        let purpose: String
        let bytes: UInt64?
    }

    struct Entity: Encodable {
        let name: String
        let objects: Int
        let abstract: Bool
    }

    struct Table: Encodable {
        let name: String
        let view: Bool
        let entries: Int
        let bytes: Int
    }

    struct Index: Encodable {
        let name: String
        let entity: String?
        let unique: Bool
        let entries: Int
        let bytes: Int
    }

    struct Blobs: Encodable {
        let files: Int
        let bytes: UInt64
        let named: Int
    }

    struct Reader: Encodable {
        let process: Int32
        let active: Bool
        let stale: Bool
    }

    let path: String
    let store: String
    let lineage: String
    let format: UInt32
    let created: String
    let models: [UInt32]
    let log: Log
    let files: [File]
    let entities: [Entity]
    let tables: [Table]
    let indexes: [Index]
    let blobs: Blobs
    let readers: [Reader]
    let reclaimableBytes: Int
    let tags: [String: UInt64]
    let subscriptions: [String: UInt64]

    init(
        _ statistics: StoreStatistics, path: String, tags: [String: EventNumber],
        subscriptions: [String: TransactionNumber]
    ) {
        self.tags = tags.mapValues(\.rawValue)
        self.subscriptions = subscriptions.mapValues(\.rawValue)
        self.path = path
        store = statistics.header.identifier.uuidString
        lineage = statistics.header.lineage.uuidString
        format = statistics.header.format
        created = ValueText.moment(statistics.header.created)
        models = statistics.modelVersions.map(\.rawValue)
        log = Log(
            events: statistics.head.event.rawValue, transactions: statistics.head.transaction.rawValue,
            first: statistics.firstTransaction.map { ValueText.moment($0.date) },
            last: statistics.lastTransaction.map { ValueText.moment($0.date) })
        files = statistics.files.map { File(path: $0.path, purpose: $0.purpose, bytes: $0.sizeInBytes) }
        entities = statistics.entities.map { Entity(name: $0.name, objects: $0.objectCount, abstract: $0.isAbstract) }
        tables = statistics.tables.map {
            Table(name: $0.name, view: $0.isView, entries: $0.entryCount, bytes: $0.sizeInBytes)
        }
        indexes = statistics.indexes.map {
            Index(
                name: $0.name, entity: $0.entityName, unique: $0.isUnique, entries: $0.entryCount, bytes: $0.sizeInBytes
            )
        }
        blobs = Blobs(
            files: statistics.blobs.fileCount, bytes: statistics.blobs.sizeInBytes, named: statistics.blobs.namedCount)
        readers = statistics.readers.filter { $0.processID != getpid() }.map {
            Reader(process: $0.processID, active: $0.isActive, stale: $0.isStale)
        }
        reclaimableBytes = statistics.freePageCount * statistics.pageSizeInBytes
    }
}
