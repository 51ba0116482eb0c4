// Compares a file of Core Data with a store that was made from it.

import Foundation
import StrataModel
package import StrataStore

/// Compares each row and link of a file of Core Data with a store that was made from it.
package struct CoreDataVerification {
    private let layout: ImportLayout
    private let store: Store
    private let snapshot: Snapshot
    private let values: ValueComparison
    private var treatment: ImportTreatment
    private var result = CoreDataComparison()

    /// - Throws: `persistentStoreOpen` if the store was not made from a file of Core Data.
    package static func run(
        _ path: String, _ store: Store, options: CoreDataImportOptions, progress: ProgressHandler? = nil
    ) throws -> CoreDataComparison {
        guard let record = try ImportRecord(store.metadata()) else {
            throw StrataError(
                .persistentStoreOpen, "\(store.path) was not made from a file of Core Data.",
                context: .init(path: store.path))
        }
        let file = try Self.file(path, store, record, options)
        guard file.identifier == record.identifier else {
            throw StrataError(
                .persistentStoreOpen, "\(store.path) was made from another store of Core Data, \(record.identifier).",
                context: .init(path: store.path))
        }
        let plan = try NumberedTables.plan(of: file)
        let unpacked = record.transformables == .codable ? try TransformableUnpacking(file, plan).places : []
        return try store.read(at: try store.head()) { snapshot in
            let layout = try ImportLayout(file, plan, snapshot.schema, unpacked: unpacked)
            for (index, table) in plan.tables.enumerated() {
                layout.keys[index].offset = record.offsets[table.rootName] ?? 0
            }
            var run = CoreDataVerification(
                layout: layout, store: store, snapshot: snapshot,
                values: ValueComparison(file: file, store: store))
            run.noteUnread(try UnreadTables(file, plan))
            for fault in file.source.logFaults { run.noteLost(fault) }
            try StrayValues(file, plan).note { if $0.kind == .strayValue { run.noteLost($0, count: $1) } }
            try run.compareRows(progress)
            try run.compareMembers()
            try run.comparePairs()
            return run.result
        }
    }

    /// The file, with the model that was given, or the one that the store was made with if that was given then.
    private static func file(
        _ path: String, _ store: Store, _ record: ImportRecord, _ options: CoreDataImportOptions
    ) throws -> CoreDataFile {
        if let model = options.model {
            return try CoreDataFile(path, model: try GivenModel.content(of: model, version: options.modelVersion))
        }
        guard record.hasGivenModel else { return try CoreDataFile(path) }
        if let file = try exported(path), file.model.versionHash == store.schema.model.versionHash { return file }
        var content = ModelContent()
        content.entities = store.schema.model.entities
        return try CoreDataFile(path, model: content, names: record.formerNames)
    }

    /// The file with its own model, which an export has from the store; nil if that cannot be read.
    private static func exported(_ path: String) throws -> CoreDataFile? {
        do {
            return try CoreDataFile(path)
        } catch {
            guard error.code == .invalidModelFile else { throw error }
            return nil
        }
    }

    private init(layout: ImportLayout, store: Store, snapshot: Snapshot, values: ValueComparison) {
        self.layout = layout
        self.store = store
        self.snapshot = snapshot
        self.values = values
        treatment = ImportTreatment(layout)
    }

    // MARK: Rows

    /// Counts rows that belong to no entity as different, and a missing table as at least one missing row.
    private mutating func noteUnread(_ unread: UnreadTables) {
        for (fault, count) in unread.faults {
            result.rows.total += count
            result.differ(fault, count: count)
        }
    }

    private mutating func noteLost(_ fault: CoreDataFault, count: Int = 1) {
        result.isWhole = false
        result.differ(fault, count: count)
    }

    private mutating func compareRows(_ progress: ProgressHandler?) throws {
        let count = layout.keys.reduce(0) { $0 + $1.count }
        var seen: [EntityID: Int] = [:]
        for (index, table) in layout.plan.tables.enumerated() {
            let source = try TableRows(layout.file.database, table, after: .min)
            while try source.step() {
                let rows = source.row
                let key = rows.integer(0)
                guard let entity = layout.entity(rows.key(1), table: index),
                    let id = layout.keys[index].objectID(key)
                else {
                    result.rows.note(false)
                    result.differ(ImportTreatment.unknownEntity(table.rootName, rows))
                    continue
                }
                if try snapshot.exists(id) { seen[id.entityID, default: 0] += 1 }
                let isEqual = try compare(rows, id, entity, table: index, "\(entity.schema.name)/p\(key)")
                result.rows.note(isEqual)
                if result.rows.total % 1000 == 0 {
                    try store.trimMappedPages()
                    progress?(StoreProgress(phase: "comparing rows", done: result.rows.total, total: count))
                }
            }
        }
        for entity in snapshot.schema.entities where !entity.isAbstract {
            result.additional += try snapshot.count(of: entity.id) - (seen[entity.id] ?? 0)
        }
    }

    private mutating func compare(
        _ rows: SQLiteStatement, _ id: ObjectID, _ entity: ImportLayout.Entity, table: Int, _ name: String
    ) throws -> Bool {
        guard let row = try snapshot.row(id) else {
            result.differ("\(name) is not in the store")
            return false
        }
        let image = try row.converted(to: entity.schema)
        var isEqual = true
        for column in entity.columns {
            let value = try image.withReader(entity.schema.layout) { reader throws(CorruptRecord) in
                try reader.value(column.slot)
            }
            switch column.kind {
            case .attribute(let attribute):
                let isDerived = attribute.isDerived
                let same = try values.isEqual(value, rows, column.column, attribute)
                if isDerived { result.derived.note(same) } else { result.values.note(same) }
                if same { continue }
                if isDerived {
                    result.differ("\(name).\(column.name) is another value, which is derived")
                    continue
                }
                differ(rows, column.column, attribute, value, entity, column.name, name)
                isEqual = false
            case .composite(let elements):
                for element in elements {
                    let value = element.value(in: value)
                    let same = try values.isEqual(value, rows, element.column, element.attribute)
                    result.values.note(same)
                    guard !same else { continue }
                    differ(rows, element.column, element.attribute, value, entity, element.name, name)
                    isEqual = false
                }
            case .toOne(let link): try compare(rows, value, entity, column, link, table: table, name)
            }
        }
        return isEqual
    }

    /// Notes that a value differs, and why if an import makes it of what the file has.
    private mutating func differ(
        _ rows: SQLiteStatement, _ column: Int, _ attribute: ColumnAttribute, _ value: AttributeValue,
        _ entity: ImportLayout.Entity, _ property: String, _ name: String
    ) {
        if let fault = treatment.fault(rows, column, attribute, value, entity.schema.name, property) {
            result.differ(fault)
        } else {
            result.differ("\(name).\(property) is another value")
        }
    }

    private mutating func compare(
        _ rows: SQLiteStatement, _ value: AttributeValue, _ entity: ImportLayout.Entity,
        _ column: ImportLayout.Column, _ link: ImportLayout.LinkColumn, table: Int, _ name: String
    ) throws {
        var target: ObjectID?
        if case .objectID(let id) = value { target = id }
        var expected: ObjectID?
        if !rows.isNull(column.column) {
            expected = rows.key(column.column).flatMap { layout.keys[link.table].objectID($0) }
            if expected == nil { result.noteDanglingKeys(1) }
        }
        if expected == target {
            if target != nil { result.links.note(true) }
            return
        }
        let fault = try treatment.fault(rows, column, link, table: table, target, entity.schema.name)
        if expected == nil, fault?.kind == .oneSidedLink { return result.noteCompletedLink() }
        result.links.note(false)
        if let fault {
            result.differ(fault)
        } else {
            result.differ("\(name).\(column.name) leads elsewhere")
        }
    }

    // MARK: To-manys

    /// Members in the order of the file, for to-manys whose links are in the members' rows.
    private mutating func compareMembers() throws {
        var done: Set<String> = []
        for (index, table) in layout.plan.tables.enumerated() {
            for property in table.properties.values.joined() {
                guard case .toOne(let relationship, let column, let target, let order) = property.kind,
                    done.insert("\(index).\(column)").inserted, let inverse = relationship.inverseName,
                    let owner = snapshot.schema.entity(named: relationship.destinationEntityName),
                    let link = owner.property(named: inverse), link.relationship?.isToMany == true
                else { continue }
                let name = SQLiteDatabase.quoted(table.columns[column - 2])
                let places = order.map { SQLiteDatabase.quoted(table.columns[$0 - 2]) } ?? "Z_PK"
                let rows = try layout.file.database.prepare(
                    "SELECT \(name), Z_PK FROM \(SQLiteDatabase.quoted(table.name)) WHERE \(name) IS NOT NULL "
                        + "ORDER BY \(name), \(places), Z_PK")
                try compareLists(
                    rows, owners: target, members: index, link.id,
                    isOrdered: order != nil && link.relationship?.description.isOrdered == true)
            }
        }
    }

    private mutating func comparePairs() throws {
        for pair in layout.plan.pairs {
            guard let entity = snapshot.schema.entity(named: pair.entityName),
                let property = entity.property(named: pair.relationship.name)
            else { continue }
            let source = try pair.source(layout.file.database)
            if pair.member != "Z_PK" {
                let owner = SQLiteDatabase.quoted(pair.owner)
                let query = "SELECT count(*) FROM \(SQLiteDatabase.quoted(pair.table)) WHERE \(owner) IS NULL"
                result.noteDanglingKeys(Int(try layout.file.database.number(query) ?? 0))
            }
            func query(_ owner: String, _ member: String, _ order: String?) -> String {
                let (owner, member) = (SQLiteDatabase.quoted(owner), SQLiteDatabase.quoted(member))
                return "SELECT \(owner), \(member) FROM \(source) WHERE \(owner) IS NOT NULL "
                    + "ORDER BY \(owner), \(order.map(SQLiteDatabase.quoted) ?? member), \(member)"
            }
            if property.relationship?.inverse == property.id {
                // Each row is a pair at both of its ends.
                let (owner, member) = (SQLiteDatabase.quoted(pair.owner), SQLiteDatabase.quoted(pair.member))
                let table = SQLiteDatabase.quoted(pair.table)
                let valid = "\(owner) IS NOT NULL AND \(member) IS NOT NULL"
                let dangling = try compareLists(
                    try layout.file.database.prepare(
                        "SELECT \(owner), \(member) FROM \(table) WHERE \(valid) "
                            + "UNION SELECT \(member), \(owner) FROM \(table) WHERE \(valid) ORDER BY 1, 2"),
                    owners: pair.ownerTable, members: pair.memberTable, property.id, isOrdered: false)
                result.noteDanglingKeys((dangling + 1) / 2)
                continue
            }
            let dangling = try compareLists(
                try layout.file.database.prepare(query(pair.owner, pair.member, pair.memberOrder)),
                owners: pair.ownerTable, members: pair.memberTable, property.id, isOrdered: pair.memberOrder != nil)
            result.noteDanglingKeys(dangling)
            guard let back = property.relationship?.inverse else { continue }
            try compareLists(
                try layout.file.database.prepare(query(pair.member, pair.owner, pair.ownerOrder)),
                owners: pair.memberTable, members: pair.ownerTable, back, isOrdered: pair.ownerOrder != nil)
        }
    }

    /// - Parameter rows: the keys of owners and members, sorted by owner.
    /// - Returns: how many rows have a key that leads to no object.
    @discardableResult
    private mutating func compareLists(
        _ rows: SQLiteStatement, owners: Int, members: Int, _ link: PropertyID, isOrdered: Bool
    ) throws -> Int {
        let snapshot = self.snapshot
        var (owner, expected): (ObjectID?, [ObjectID]) = (nil, [])
        var (trimmed, dangling) = (result.links.total, 0)
        func finish(_ result: inout CoreDataComparison) throws {
            guard let owner, !expected.isEmpty else { return }
            let actual = try snapshot.members(of: link, owner: owner)
            let isEqual = isOrdered ? actual == expected : actual.sorted() == expected.sorted()
            result.links.total += expected.count
            let common = isOrdered ? 0 : Set(actual).intersection(expected).count
            result.links.equal += isEqual ? expected.count : min(common, expected.count - 1)
            if !isEqual { result.differ("\(snapshot.schema.name(of: owner)) has other members, or another order") }
        }
        while try rows.step() {
            guard let next = rows.key(0).flatMap({ layout.keys[owners].objectID($0) }),
                let member = rows.key(1).flatMap({ layout.keys[members].objectID($0) })
            else {
                dangling += 1
                continue
            }
            if next != owner {
                try finish(&result)
                if result.links.total - trimmed > 10_000 {
                    try store.trimMappedPages()
                    trimmed = result.links.total
                }
                (owner, expected) = (next, [])
            }
            expected.append(member)
        }
        try finish(&result)
        return dangling
    }
}
