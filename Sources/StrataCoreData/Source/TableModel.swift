import StrataModel

/// A model made of the tables alone, for files from before the model was kept in them.
///
/// Names are in lower case, because the tables have them in capitals. All properties are optional, and those of
/// subentities belong to the root. Core Data writes the integers of a table in two sorted runs, attributes and then
/// to-ones. A column of the second run is a to-one if its name ends with that of an entity whose table has all its
/// keys but a few, which are faults then, or if no name fits and only one table has them all. In a table with a single
/// run, the column must have the name of an entity, or an index. Where another column has the entities of the targets,
/// its name has the number of the entity. A column such as `Z4CHAPTERS` has the links of a to-many of the entity 4 that
/// has no inverse.
struct TableModel {
    private let database: SQLiteDatabase
    private let tables: [String: FileTable]
    private let entities: [CoreDataFile.NumberedEntity]
    private var content = ModelContent()
    private var index: [Int64: Int] = [:]
    /// The names of each entity's properties.
    private var taken: [Int64: Set<String>] = [:]
    private let entitiesByNumber: [Int64: CoreDataFile.NumberedEntity]
    private let roots: [CoreDataFile.NumberedEntity]
    /// The keys that may still be looked up in search of targets whose names do not fit; the search of a table counts as
    /// a thousand.
    private var lookupsLeft: Int64 = 20_000_000
    /// The names of all indexes.
    private var indexes: Set<String> = []

    static func read(
        _ database: SQLiteDatabase, _ tables: [String: FileTable], _ entities: [CoreDataFile.NumberedEntity]
    ) throws(StrataError) -> ModelContent {
        var model = TableModel(database, tables, entities)
        try model.run()
        return model.content
    }

    private init(
        _ database: SQLiteDatabase, _ tables: [String: FileTable], _ entities: [CoreDataFile.NumberedEntity]
    ) {
        self.database = database
        self.tables = tables
        self.entities = entities
        let byNumber = Dictionary(entities.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        entitiesByNumber = byNumber
        roots = entities.filter { byNumber[$0.parent] == nil }
    }

    private mutating func run() throws(StrataError) {
        for entity in entities {
            index[entity.number] = content.entities.count
            let parent = entitiesByNumber[entity.parent]?.name
            content.entities.append(EntityDescription(name: entity.name, superentityName: parent))
        }
        let list = try database.prepare("SELECT name FROM sqlite_master WHERE type = 'index'")
        while try list.step() { indexes.insert(list.text(0).uppercased()) }
        for entity in roots {
            guard let table = tables["Z" + entity.name.uppercased()] else { continue }
            try addProperties(of: table, to: entity)
        }
        for name in tables.keys.sorted() { addPairs(of: name) }
        content.notes.append(
            "the model is made of the tables: names are in lower case, every property is optional, rules and inverses of to-ones "
                + "are unknown; give the model with --model to have them")
    }

    private mutating func add(_ property: PropertyDescription, to number: Int64) {
        guard let index = index[number] else { return }
        guard taken[number, default: []].insert(property.name).inserted else {
            let entity = content.entities[index]
            return content.notes.append("\(entity.name).\(property.name): two columns have this name; one is left out")
        }
        content.entities[index].properties.append(property)
    }

    // MARK: Columns

    private mutating func addProperties(
        of table: FileTable, to entity: CoreDataFile.NumberedEntity
    ) throws(StrataError) {
        let columns = table.columns.filter { column, _ in
            column.hasPrefix("Z") && !column.hasPrefix("Z_") && !(column.dropFirst().first?.isNumber ?? true)
        }
        let numbered = table.columns.compactMap { NumberedColumn($0.name) }
        let targets = Dictionary(
            numbered.compactMap { column in column.target.map { ($0, column.number) } },
            uniquingKeysWith: { first, _ in first })
        for column in numbered { addOneWay(column, table, to: entity) }
        let integers = columns.filter { $0.type == "INTEGER" }.map(\.name)
        let secondRun = zip(integers, integers.dropFirst()).first { $0 > $1 }?.1
        let links = Set(secondRun.map { first in integers.drop { $0 != first } } ?? [])
        let names = Set(entities.map { $0.name.uppercased() })
        for (column, type) in columns {
            let name = String(column.dropFirst())
            let isLink = links.contains(column) || targets[name] != nil || table.has("Z_FOK_\(name)")
            let mayBeLink =
                secondRun == nil && type == "INTEGER"
                && (names.contains(name)
                    || indexes.contains("\(table.name.uppercased())_\(column)_INDEX"))
            if isLink || mayBeLink,
                let target = try self.target(of: column, table, number: targets[name], isLink: isLink)
            {
                add(
                    .relationship(
                        RelationshipDescription(
                            name: name.lowercased(), destinationEntityName: target, hasNoInverse: true)),
                    to: entity.number)
                continue
            }
            let attribute = AttributeDescription(name: name.lowercased(), type: Self.type(of: type), isOptional: true)
            add(.attribute(attribute), to: entity.number)
            if isLink {
                content.notes.append(
                    "\(entity.name).\(attribute.name): it may be a to-one, but to which entity is unknown; its keys "
                        + "are kept as numbers")
            }
        }
    }

    private static func type(of declared: String) -> AttributeType {
        switch declared {
        case "INTEGER": .integer64
        case "FLOAT", "REAL", "DOUBLE": .double
        case "DECIMAL": .decimal
        case "TIMESTAMP": .date
        case "BLOB": .binaryData
        default: .string
        }
    }

    private mutating func addOneWay(
        _ column: NumberedColumn, _ table: FileTable, to entity: CoreDataFile.NumberedEntity
    ) {
        guard column.target == nil else { return }
        add(
            .relationship(
                RelationshipDescription(
                    name: column.name.lowercased(), destinationEntityName: entity.name, hasNoInverse: true,
                    isToMany: true, isOrdered: table.has("Z_FOK_\(column.number)\(column.name)"))),
            to: column.number)
    }

    /// The entity that a column of keys leads to; nil if none fits.
    ///
    /// - Parameter number: the target's entity according to another column.
    private mutating func target(
        of column: String, _ table: FileTable, number: Int64?, isLink: Bool
    ) throws(StrataError) -> String? {
        let name = String(column.dropFirst())
        if let entity = number.flatMap({ entitiesByNumber[$0] }),
            try hasKeys(of: column, table, in: root(of: entity).name)
        {
            return entity.name
        }
        let fitting = entities.filter { name.hasSuffix($0.name.uppercased()) }
            .sorted { $0.name.count > $1.name.count }
        for entity in fitting where try hasKeys(of: column, table, in: root(of: entity).name) { return entity.name }
        guard isLink, fitting.isEmpty, lookupsLeft > 0 else { return nil }
        let keys =
            try database.number(
                "SELECT count(\(SQLiteDatabase.quoted(column))) FROM \(SQLiteDatabase.quoted(table.name))") ?? 0
        var candidates: [String] = []
        for entity in roots {
            lookupsLeft -= keys + 1000
            // A column with two candidates, or one that takes too long, stays a number.
            guard lookupsLeft > 0, candidates.count < 2 else { return nil }
            if try hasKeys(of: column, table, in: entity.name, all: true) { candidates.append(entity.name) }
        }
        return candidates.count == 1 ? candidates[0] : nil
    }

    private func root(of entity: CoreDataFile.NumberedEntity) -> CoreDataFile.NumberedEntity {
        var (root, steps) = (entity, 0)
        while let parent = entitiesByNumber[root.parent], steps < entities.count {
            (root, steps) = (parent, steps + 1)
        }
        return root
    }

    /// Whether a table has the keys of a column; without `all`, one in twenty may lead nowhere.
    private func hasKeys(
        of column: String, _ table: FileTable, in entity: String, all: Bool = false
    ) throws(StrataError) -> Bool {
        guard let other = tables["Z" + entity.uppercased()], other.has("Z_PK") else { return false }
        let (from, to) = (SQLiteDatabase.quoted(table.name), SQLiteDatabase.quoted(other.name))
        let key = SQLiteDatabase.quoted(column)
        // A list of keys is found as fast without an index as with one.
        let lost = "a.\(key) IS NOT NULL AND (a.\(key) IN (SELECT Z_PK FROM \(to))) IS NOT 1"
        if all { return try database.number("SELECT 1 FROM \(from) a WHERE \(lost) LIMIT 1") == nil }
        let missing = try database.number("SELECT count(*) FROM \(from) a WHERE \(lost)") ?? 0
        guard missing > 0 else { return true }
        let total = try database.number("SELECT count(\(key)) FROM \(from)") ?? 0
        return missing * 20 <= total
    }

    // MARK: Many-to-many

    private mutating func addPairs(of name: String) {
        guard let table = tables[name], let own = JoinColumn(name), let owner = entity(own.number) else { return }
        let columns = table.columns.map(\.name).filter { !$0.hasPrefix("Z_FOK_") }.compactMap { JoinColumn($0) }
        guard columns.count == 2,
            let forward = columns.first(where: { $0.base == own.base && $0 != columns.first })
                ?? columns.first(where: { $0.name == own.name }) ?? columns.last,
            let back = columns.first(where: { $0 != forward }), let target = entity(forward.number)
        else { return }
        let (there, here) = (own.name.lowercased(), backName(back, besides: name).lowercased())
        func relationship(
            _ name: String, _ destination: String, _ inverse: String, _ column: JoinColumn
        ) -> PropertyDescription {
            .relationship(
                RelationshipDescription(
                    name: name, destinationEntityName: destination, inverseName: inverse, isToMany: true,
                    isOrdered: table.has("Z_FOK_\(column.number)\(column.name)")))
        }
        add(relationship(there, target.name, here, forward), to: owner.number)
        add(relationship(here, owner.name, there, back), to: target.number)
    }

    private func entity(_ number: Int64) -> CoreDataFile.NumberedEntity? { entitiesByNumber[number] }

    /// A column whose name another table has already ends with a number.
    private func backName(_ column: JoinColumn, besides table: String) -> String {
        let isTaken = tables.contains { name, other in
            name != table && other.has("Z_\(column.number)\(column.base)")
        }
        return column.base != column.name && isTaken ? column.base : column.name
    }
}

/// A name such as `Z_3ARTWORKS1`: the number of an entity and the name of a relationship.
struct JoinColumn: Equatable {
    let number: Int64
    let name: String

    /// nil if the name has another form.
    init?(_ text: String) {
        guard text.hasPrefix("Z_") else { return nil }
        let digits = text.dropFirst(2).prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits), text.count > digits.count + 2 else { return nil }
        self.number = number
        name = String(text.dropFirst(2 + digits.count))
    }

    /// The name without digits at its end.
    var base: String {
        String(name.reversed().drop { $0.isASCII && $0.isNumber }.reversed())
    }
}

/// A column of an entity's table whose name begins with the number of an entity, such as `Z7_COVER` or `Z4CHAPTERS`.
struct NumberedColumn {
    let number: Int64
    /// The part of the name behind the number.
    let name: String

    /// nil if the name has another form.
    init?(_ column: String) {
        guard column.hasPrefix("Z") else { return nil }
        let text = column.dropFirst(column.hasPrefix("Z_") ? 2 : 1)
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits), text.count > digits.count else { return nil }
        self.number = number
        name = String(text.dropFirst(digits.count))
    }

    /// The name of the to-one whose targets' entities the column has; nil for a column of keys.
    var target: String? { name.hasPrefix("_") ? String(name.dropFirst()) : nil }
}
