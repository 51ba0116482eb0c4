import Foundation
import StrataModel
import StrataXcode

/// A store of Core Data or SwiftData in a SQLite file: its entities, tables and model.
final class CoreDataFile {
    /// An entity by the number that the file gives it.
    struct NumberedEntity {
        let number: Int64
        let name: String
        let parent: Int64
    }

    /// The source of the model.
    enum ModelOrigin: String {
        case cache = "the model in the file"
        case given = "the model that was given"
        case tables = "the tables, because the file has no model"
        case chosenTables = "the tables, and not the model in the file"
    }

    let source: SourceFile
    var database: SQLiteDatabase { source.database }
    /// The store's UUID, part of its objects' URIs.
    let identifier: String
    /// The version of the framework that wrote the file last.
    let frameworkVersion: Int64?
    /// The version hashes of its entities.
    let versionHashes: [String: [UInt8]]
    let entities: [NumberedEntity]
    /// The last keys that were given, by entity; zeros are left out.
    let lastKeys: [String: Int64]
    /// By their names in upper case.
    let tables: [String: FileTable]
    let model: ManagedObjectModel
    /// The names in the file of what Strata names otherwise, by `Entity.property` and `Entity`.
    let formerNames: [String: String]
    let origin: ModelOrigin
    /// Facts that the model of Strata does not express.
    let notes: [String]

    /// A file with more tables is not Core Data's.
    private static let mostTables = 4_000

    /// - Parameters:
    ///   - given: a model that takes the place of the one in the file.
    ///   - chosen: the source of the model if none is given.
    ///   - names: `formerNames` of an earlier reading, for a model that has the new names.
    /// - Throws: `persistentStoreOpen`, `invalidModel`.
    init(
        _ path: String, model given: ModelContent? = nil, from chosen: CoreDataModelSource = .file,
        names: [String: String] = [:]
    ) throws(StrataError) {
        let source = try SourceFile(path, try SQLiteLibrary.shared.get())
        self.source = source
        let database = source.database
        // SQLite reads the whole schema first, in a time that grows with the square of its size.
        _ = try database.limited(to: 60) { () throws(StrataError) in
            try database.number("SELECT count(*) FROM sqlite_master")
        }
        tables = try database.limited(to: 2000) { () throws(StrataError) in
            try Self.readTables(database, path)
        }
        for name in ["Z_PRIMARYKEY", "Z_METADATA"] where tables[name] == nil {
            throw StrataError(
                .persistentStoreOpen, "\(path) is a database, but not of Core Data: it has no table \(name).",
                context: .init(path: path))
        }
        try Self.checkPages(database, path)
        entities = try Self.readEntities(database, path)
        lastKeys = tables["Z_PRIMARYKEY"]?.has("Z_MAX") == true ? try Self.readLastKeys(database) : [:]
        let metadata = try StoreFacts(database, path)
        identifier = metadata.identifier
        versionHashes = metadata.versionHashes
        frameworkVersion = metadata.frameworkVersion
        let found: ModelContent
        if let given {
            found = given
            origin = .given
        } else if chosen == .file, tables["Z_MODELCACHE"] != nil, let cached = try Self.cachedModel(database, path) {
            try Self.refuseModelWithoutColumns(cached, tables, path)
            found = cached
            origin = .cache
        } else {
            found = try TableModel.read(database, tables, entities)
            origin = chosen == .file ? .tables : .chosenTables
        }
        let mended = try ModelMending.model(found)
        model = mended.model
        notes =
            mended.notes + source.notes
            + (given == nil
                ? [] : ModelMatch.notes(mended.model, Self.ownModel(database, tables), hashed: Set(versionHashes.keys)))
        formerNames = names.merging(mended.formerNames) { $1 }
    }

    /// More properties than any app's model has.
    private static let mostPropertiesWithoutColumns = 20_000

    /// A model takes time and memory for each property, and a property of a file has a column.
    private static func refuseModelWithoutColumns(
        _ model: ModelContent, _ tables: [String: FileTable], _ path: String
    ) throws(StrataError) {
        let properties = model.entities.reduce(0) { count, entity in
            count + entity.properties.count { !$0.isTransient && $0.relationship?.isToMany != true }
        }
        let columns = tables.values.reduce(0) { $0 + $1.columns.count }
        guard properties <= mostPropertiesWithoutColumns || properties <= columns else {
            throw StrataError(
                .persistentStoreOpen,
                "\(path) has a model of \(properties) properties, and tables of \(columns) columns: it is not what Core "
                    + "Data writes.", context: .init(path: path))
        }
    }

    /// Looks at every page, and then compares each index with its table: damage may leave both readable and different.
    private static func checkPages(_ database: SQLiteDatabase, _ path: String) throws(StrataError) {
        for pragma in ["quick_check", "integrity_check"] {
            let check = try database.prepare("PRAGMA \(pragma)(1)")
            if try check.step(), check.text(0) != "ok" {
                throw StrataError(
                    .persistentStoreOpen, "\(path) is damaged: \(check.text(0)).", context: .init(path: path))
            }
        }
    }

    private static func readTables(
        _ database: SQLiteDatabase, _ path: String
    ) throws(StrataError) -> [String: FileTable] {
        var names: [String] = []
        let list = try database.prepare(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE %'")
        while try list.step() {
            names.append(list.text(0))
            guard names.count <= mostTables else {
                throw StrataError(
                    .persistentStoreOpen, "\(path) has more than \(mostTables) tables.", context: .init(path: path))
            }
        }
        var tables: [String: FileTable] = [:]
        for name in names where name.hasPrefix("Z") || name.hasPrefix("A") {
            // Unlike `table_info`, it lists generated columns, which have values like any other.
            let info = try database.prepare("PRAGMA table_xinfo(\(SQLiteDatabase.quoted(name)))")
            var table = FileTable(name: name)
            while try info.step() { table.add(info.text(1).uppercased(), info.text(2).uppercased()) }
            tables[name.uppercased()] = table
        }
        return tables
    }

    /// The numbers from 16000 on are the history's own.
    private static func readEntities(
        _ database: SQLiteDatabase, _ path: String
    ) throws(StrataError) -> [NumberedEntity] {
        let list = try database.prepare("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT")
        var entities: [NumberedEntity] = []
        while try list.step() {
            guard list.integer(0) < 16_000 else { continue }
            guard entities.count < mostTables else {
                throw StrataError(
                    .persistentStoreOpen, "\(path) has more than \(mostTables) entities.", context: .init(path: path))
            }
            guard list.bytes(1).count <= CachedModel.mostBytesOfName else {
                throw StrataError(
                    .persistentStoreOpen, "\(path) has an entity whose name has \(list.bytes(1).count) bytes.",
                    context: .init(path: path))
            }
            entities.append(NumberedEntity(number: list.integer(0), name: list.text(1), parent: list.integer(2)))
        }
        return entities
    }

    private static func readLastKeys(_ database: SQLiteDatabase) throws(StrataError) -> [String: Int64] {
        let list = try database.prepare("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_MAX > 0 AND Z_ENT < 16000")
        var keys: [String: Int64] = [:]
        while try list.step(), keys.count < mostTables { keys[list.text(0)] = list.integer(1) }
        return keys
    }

    private static func cachedModel(_ database: SQLiteDatabase, _ path: String) throws(StrataError) -> ModelContent? {
        let limit = CachedModel.largestSizeInBytes
        let cache = try database.prepare(
            "SELECT length(Z_CONTENT), CASE WHEN length(Z_CONTENT) <= \(limit) THEN Z_CONTENT END FROM Z_MODELCACHE "
                + "WHERE Z_CONTENT IS NOT NULL")
        guard try cache.step() else { return nil }
        do throws(ArchiveError) {
            guard cache.integer(0) <= limit else { throw ArchiveError("it is larger than \(limit) bytes") }
            return try CachedModel(packed: Array(cache.bytes(1))).content
        } catch {
            throw StrataError(
                .invalidModelFile,
                "The model in \(path) cannot be read: \(error.sentence). Give it with --model, or have one made of the tables "
                    + "with --model-from-tables.", context: .init(path: path), cause: error)
        }
    }

    /// The model in a file that is read by another; nil if there is none, or it cannot be read.
    private static func ownModel(_ database: SQLiteDatabase, _ tables: [String: FileTable]) -> ManagedObjectModel? {
        guard tables["Z_MODELCACHE"] != nil else { return nil }
        do throws(StrataError) {
            guard let content = try cachedModel(database, database.path) else { return nil }
            return try ModelMending.model(content).model
        } catch {
            return nil
        }
    }

    /// The name that an entity of the model has in the file.
    func fileName(of entity: String) -> String { formerNames[entity] ?? entity }

    /// The table of a root entity of the model; nil if the file has none.
    func table(of root: String) -> FileTable? { tables["Z" + fileName(of: root).uppercased()] }

    /// The file of a value that is not in the row.
    func externalFile(_ name: String) -> String {
        let url = URL(filePath: source.path)
        let folder = ".\(url.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA/\(name)"
        return url.deletingLastPathComponent().appending(path: folder).path
    }
}

/// A table of the file.
struct FileTable {
    let name: String
    /// In order, with their declared types, in upper case.
    private(set) var columns: [(name: String, type: String)] = []
    private var names: Set<String> = []

    init(name: String) { self.name = name }

    mutating func add(_ column: String, _ type: String) {
        columns.append((column, type))
        names.insert(column)
    }

    func has(_ column: String) -> Bool { names.contains(column) }
}

/// Core Data's record of a store as a whole, in `Z_METADATA`.
private struct StoreFacts {
    var identifier = ""
    var frameworkVersion: Int64?
    var versionHashes: [String: [UInt8]] = [:]

    private static let mostBytesOfIdentifier = 1000

    /// The newest form of version hashes that is known.
    private static let knownVersion: Int64 = 3

    init(_ database: SQLiteDatabase, _ path: String) throws(StrataError) {
        let row = try database.prepare("SELECT Z_UUID, Z_PLIST FROM Z_METADATA")
        guard try row.step() else { return }
        guard row.byteCount(0) <= Self.mostBytesOfIdentifier else {
            throw StrataError(
                .persistentStoreOpen, "\(path) has an identifier of \(row.byteCount(0)) bytes: Core Data's have 36.",
                context: .init(path: path))
        }
        identifier = row.text(0)
        let bytes = row.bytes(1)
        guard bytes.count <= 16 << 20 else { return }
        let list: BinaryPropertyList
        // A property list of another form has nothing that the import could not do without.
        do throws(ArchiveError) { list = try BinaryPropertyList(Array(bytes)) } catch { return }
        guard case .dictionary(let facts) = list.objects[list.top] else { return }
        func integer(_ name: String) -> Int64? {
            if let index = facts[name], case .integer(let number) = list.objects[index] { number } else { nil }
        }
        frameworkVersion = integer("NSPersistenceFrameworkVersion")
        if let version = integer("NSStoreModelVersionHashesVersion"), version > Self.knownVersion {
            throw StrataError(
                .persistentStoreOpen, "\(path) is in a newer form of Core Data (\(version)) than is known here.",
                context: .init(path: path))
        }
        guard let index = facts["NSStoreModelVersionHashes"], case .dictionary(let hashes) = list.objects[index] else {
            return
        }
        for (name, index) in hashes {
            if case .data(let range) = list.objects[index] { versionHashes[name] = list.data(range) }
        }
    }
}
