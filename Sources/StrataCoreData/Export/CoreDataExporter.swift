// Exports a store as a SQLite file in the form of Core Data (`CoreDataExporter`).

package import Foundation
import StrataGraph
import StrataModel
package import StrataStore

/// The result of an export to a file of Core Data.
public struct CoreDataExportReport: Sendable {
    /// The objects.
    public internal(set) var rows = 0
    /// The links of to-manys at both ends and of to-manys without inverse. To-ones are part of the rows.
    public internal(set) var pairs = 0
    /// The data that the file does not have, or has in another form.
    public internal(set) var notes: [String] = []
}

/// Writes the newest state of a store as a SQLite file in the form of Core Data.
///
/// The empty tables come first, with the model. Then the file is read as an import reads it, which says in which column
/// each property belongs. The file gets its name when it is complete.
package struct CoreDataExporter {
    private let store: Store
    private let schema: Schema
    private let snapshot: Snapshot
    private let progress: ProgressHandler?
    private var report = CoreDataExportReport()

    /// - Throws: `persistentStoreOpen` if there is something at the place of the file, or it cannot be written;
    ///   `invalidModel` for a model that such a file cannot hold; `encryptionKeyMissing` if there are encrypted values
    ///   whose key was not given, as the file has them in the clear.
    package static func run(
        _ store: Store, to destination: URL, progress: ProgressHandler? = nil
    ) throws -> CoreDataExportReport {
        let place = destination.path(percentEncoded: false)
        guard !FileManager.default.fileExists(atPath: place) else {
            throw StrataError(.persistentStoreOpen, "\(place) exists already.", context: .init(path: place))
        }
        let hidden = hidden(destination)
        let path = hidden.path(percentEncoded: false)
        abandon(destination)
        do {
            let report = try store.read(at: try store.head()) { snapshot in
                var run = CoreDataExporter(store: store, snapshot: snapshot, progress: progress)
                try run.write(path)
                return run.report
            }
            try FileManager.default.moveItem(at: hidden, to: destination)
            return report
        } catch {
            abandon(destination)
            guard var failure = error as? StrataError, failure.context.path == path else { throw error }
            failure.context.path = place
            throw failure
        }
    }

    /// Returns the location of the file until it is complete.
    private static func hidden(_ destination: URL) -> URL {
        destination.deletingLastPathComponent().appending(
            path: ".\(destination.lastPathComponent).exporting", directoryHint: .notDirectory)
    }

    /// Removes the unfinished file of an export to this place.
    package static func abandon(_ destination: URL) {
        let path = hidden(destination).path(percentEncoded: false)
        for suffix in ["", "-journal"] { unlink(path + suffix) }
    }

    private init(store: Store, snapshot: Snapshot, progress: ProgressHandler?) {
        self.store = store
        self.snapshot = snapshot
        self.progress = progress
        schema = snapshot.schema
    }

    private mutating func write(_ path: String) throws {
        let record = try ImportRecord(store.metadata())
        let offsets = try self.offsets(record)
        let writer = try SQLiteWriter(path)
        try writeTables(writer, record)
        // The plan is that of an import of these tables.
        let file = try CoreDataFile(path)
        let plan = FilePlan(file)
        report.notes += file.notes + plan.notes
        let layout = try ImportLayout(file, plan, schema, unpacked: [])
        try writer.run("BEGIN")
        let lastKeys = record?.lastKeys ?? [:]
        for table in plan.tables.indices {
            let root = plan.tables[table].rootName
            let last = lastKeys[record?.formerNames[root] ?? root] ?? 0
            try writeRows(of: table, layout, offsets, after: last, writer)
        }
        for pair in plan.pairs { try writePairs(pair, offsets, writer) }
        try writer.run("COMMIT")
        writer.close()
    }

    // MARK: Keys

    /// Returns the number that is added to a key to make a row number, by root entity: as at the import from a file, so
    /// that keys are the same; otherwise so that they begin with 1.
    private func offsets(_ record: ImportRecord?) throws -> [String: Int64] {
        var offsets = record?.offsets ?? [:]
        for root in schema.model.entities where root.superentityName == nil && offsets[root.name] == nil {
            var first: Int64?
            for id in schema.entity(named: root.name)?.entityIDs ?? [] {
                try snapshot.scan(id) { object, _ in
                    first = min(first ?? .max, Int64(object.row))
                    return false
                }
            }
            offsets[root.name] = (first ?? 1) - 1
        }
        return offsets
    }

    private func key(_ id: ObjectID, _ offsets: [String: Int64]) -> Int64 {
        let name = schema.entity(id.entityID)?.name ?? ""
        let root = schema.model.hierarchy.chain(of: name).first?.name ?? name
        return Int64(id.row) - (offsets[root] ?? 0)
    }

    // MARK: Tables

    private mutating func writeTables(_ writer: SQLiteWriter, _ record: ImportRecord?) throws {
        try writer.run("PRAGMA page_size = 4096")
        try writer.run("BEGIN")
        let tables = try ExportTables(schema.model, wideDecimals: try wideDecimals())
        for statement in tables.statements { try writer.run(statement) }
        try writer.run(
            "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)")
        try writer.run("CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)")
        try writer.run("CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)")
        let entity = try writer.prepare("INSERT INTO Z_PRIMARYKEY VALUES (?, ?, ?, 0)")
        for next in tables.entities {
            try entity.run([.integer(Int64(next.number)), .text(next.name), .integer(Int64(next.parent))])
        }
        let identifier = record?.identifier ?? store.identifier.uuidString
        let facts = try writer.prepare("INSERT INTO Z_METADATA VALUES (1, ?, ?)")
        try facts.run([.text(identifier), .blob(ExportFacts.propertyList(schema.model, record))])
        let cache = ModelArchiver.cache(of: schema.model)
        report.notes += cache.notes
        try writer.prepare("INSERT INTO Z_MODELCACHE VALUES (?)").run([.blob(cache.bytes)])
        try writer.run("COMMIT")
    }

    /// The decimals with values that are no `Double`: a column of numbers would round them.
    private func wideDecimals() throws -> Set<String> {
        var wide: Set<String> = []
        for entity in schema.entities where !entity.isAbstract {
            let decimals = entity.properties.filter { property in
                property.attribute.map { $0.type == .decimal && !$0.isTransient } ?? false
            }
            guard !decimals.isEmpty else { continue }
            try snapshot.scan(entity.id) { id, row in
                let image = try row.converted(to: entity)
                for property in decimals {
                    let stored = try image.withReader(entity.layout) { reader throws(CorruptRecord) in
                        try reader.value(property.slot)
                    }
                    guard case .decimal(let value) = try store.decryptedKept(stored, of: property, in: id),
                        ExportedValue.isWide(value)
                    else { continue }
                    let owner = schema.model.hierarchy.declaration(of: property.name, in: entity.name)?.entityName
                    wide.insert("\(owner ?? entity.name).\(property.name)")
                }
                return true
            }
        }
        return wide
    }

    // MARK: Rows

    /// - Parameter lastKey: the last key that the file had given from which the store came; no key is given twice.
    private mutating func writeRows(
        of table: Int, _ layout: ImportLayout, _ offsets: [String: Int64], after lastKey: Int64, _ writer: SQLiteWriter
    ) throws {
        let (source, snapshot) = (layout.plan.tables[table], self.snapshot)
        let targets = source.targetColumns(in: layout.file)
        let columns = (["Z_PK", "Z_ENT", "Z_OPT"] + source.columns + targets.map(\.name)).map(SQLiteDatabase.quoted)
        let marks = Array(repeating: "?", count: columns.count).joined(separator: ", ")
        let insertion = try writer.prepare(
            "INSERT INTO \(SQLiteDatabase.quoted(source.name)) (\(columns.joined(separator: ", "))) VALUES (\(marks))")
        var last = lastKey
        for (number, entity) in layout.entities[table].sorted(by: { $0.key < $1.key }) {
            var losses: [String: Int] = [:]
            try snapshot.scan(entity.schema.id) { id, row in
                let key = self.key(id, offsets)
                var values = [SQLiteValue](repeating: .null, count: columns.count)
                values.replaceSubrange(0..<3, with: [.integer(key), .integer(number), .integer(1)])
                let image = try row.converted(to: entity.schema)
                for column in entity.columns {
                    try write(column, (id, image), entity, offsets, &values, &losses)
                }
                for (index, target) in targets.enumerated() {
                    guard case .integer = values[target.column + 1],
                        let property = entity.columns.first(where: { $0.column == target.column }),
                        case .objectID(let id) = try value(property.slot, image, entity, id)
                    else { continue }
                    let name = schema.entity(id.entityID)?.name
                    let number = layout.file.entities.first { $0.name == name }?.number
                    values[3 + source.columns.count + index] = number.map { .integer($0) } ?? .null
                }
                try insertion.run(values)
                last = max(last, key)
                report.rows += 1
                if report.rows % 1000 == 0 {
                    try store.trimMappedPages()
                    progress?(StoreProgress(phase: "rows", done: report.rows, total: 0))
                }
                return true
            }
            for (name, count) in losses.sorted(by: { $0.key < $1.key }) {
                report.notes.append(
                    "\(entity.schema.name).\(name): \(CountText.of(count, "value")) without a form in the file")
            }
        }
        let names = source.entityNames.keys.sorted().map(String.init).joined(separator: ", ")
        try writer.run("UPDATE Z_PRIMARYKEY SET Z_MAX = \(last) WHERE Z_ENT IN (\(names))")
    }

    /// The value of an object, decrypted; nil if its subject was erased.
    private func value(
        _ slot: Int, _ image: RowImage, _ entity: ImportLayout.Entity, _ id: ObjectID
    ) throws -> AttributeValue {
        let value = try image.withReader(entity.schema.layout) { reader throws(CorruptRecord) in
            try reader.value(slot)
        }
        return try store.decryptedKept(value, of: entity.schema.properties[slot], in: id)
    }

    /// Columns of a plan are counted from 2, behind the key and the entity; a row that is written has one more before.
    private func write(
        _ column: ImportLayout.Column, _ row: (id: ObjectID, image: RowImage), _ entity: ImportLayout.Entity,
        _ offsets: [String: Int64], _ values: inout [SQLiteValue], _ losses: inout [String: Int]
    ) throws {
        func read(_ slot: Int) throws -> AttributeValue { try value(slot, row.image, entity, row.id) }
        func put(_ value: AttributeValue, _ attribute: ColumnAttribute, _ place: Int, _ name: String) throws {
            let written = try ExportedValue.value(value, attribute) { try store.blob($0) }
            if case .null = written, value != .null { losses[name, default: 0] += 1 }
            values[place + 1] = written
        }
        switch column.kind {
        case .attribute(let attribute):
            try put(try read(column.slot), attribute, column.column, column.name)
        case .composite(let elements):
            let value = try read(column.slot)
            for element in elements {
                try put(element.value(in: value), element.attribute, element.column, "\(column.name).\(element.name)")
            }
        case .toOne(let link):
            guard case .objectID(let target) = try read(column.slot) else { return }
            values[column.column + 1] = .integer(key(target, offsets))
            if let order = link.order, let slot = link.positionSlot, case .integer(let position) = try read(slot) {
                values[order + 1] = .integer(position)
            }
        }
    }

    // MARK: Pairs

    private mutating func writePairs(
        _ pair: FilePlan.PairTable, _ offsets: [String: Int64], _ writer: SQLiteWriter
    ) throws {
        guard let entity = schema.entity(named: pair.entityName),
            let property = entity.property(named: pair.relationship.name), let link = schema.links.link(property.id)
        else { return }
        let orders = [pair.memberOrder, pair.ownerOrder].compactMap { $0 }.map(SQLiteDatabase.quoted)
        let (table, owner) = (SQLiteDatabase.quoted(pair.table), SQLiteDatabase.quoted(pair.owner))
        let isInRow = pair.member == "Z_PK"
        let statement: SQLiteInsertion
        if isInRow {
            let sets = ([owner] + orders).map { "\($0) = ?" }.joined(separator: ", ")
            statement = try writer.prepare("UPDATE \(table) SET \(sets) WHERE Z_PK = ?")
        } else {
            let columns = [owner] + orders + [SQLiteDatabase.quoted(pair.member)]
            let marks = columns.map { _ in "?" }.joined(separator: ", ")
            statement = try writer.prepare(
                "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(marks))")
        }
        let snapshot = self.snapshot
        var (seen, repeated): (Set<ObjectID>, Int) = ([], 0)
        for id in entity.entityIDs {
            try snapshot.scan(id) { object, _ in
                for member in try snapshot.members(of: property.id, owner: object) {
                    guard let key = link.pairKey(owner: object, member: member),
                        let positions = try snapshot.pair(key)
                    else { continue }
                    if isInRow, !seen.insert(member).inserted {
                        repeated += 1
                        continue
                    }
                    let isSource = link.isSource(object, of: key)
                    // A relationship that is its own inverse has each pair at both ends.
                    if property.relationship?.inverse == property.id, !isSource { continue }
                    var values: [SQLiteValue] = [.integer(self.key(object, offsets))]
                    if pair.memberOrder != nil {
                        values.append(.integer(isSource ? positions.inSource : positions.inTarget))
                    }
                    if pair.ownerOrder != nil {
                        values.append(.integer(isSource ? positions.inTarget : positions.inSource))
                    }
                    try statement.run(values + [.integer(self.key(member, offsets))])
                    report.pairs += 1
                }
                return true
            }
        }
        if repeated > 0 {
            report.notes.append(
                "\(pair.entityName).\(pair.relationship.name): \(repeated) links are left out, because in a file of "
                    + "Core Data a member of a to-many without inverse has one owner")
        }
    }
}
