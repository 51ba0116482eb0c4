import StrataModel

/// Temporary tables in place of those whose keys are no row numbers.
///
/// Core Data's keys are the numbers of rows. A table that was rebuilt by hand may have texts, real numbers, bytes or nil
/// as keys, or no row numbers (`WITHOUT ROWID`). SQLite finds a temporary table before one of the file with the same
/// name, so everything that reads rows and links meets whole numbers: `Z_PK` is the row's number, and a link has the
/// number of its target, found by comparing the columns of the file as SQLite compares them.
///
/// A key that says a whole number, such as the text `12`, is that number. The other rows get the numbers that follow, in
/// the order of the file. A link that leads to no row has the bytes of its key.
struct NumberedTables {
    private let file: CoreDataFile
    private let plan: FilePlan
    private let database: SQLiteDatabase
    /// Indexes of the plan's tables that got numbers.
    private var numbered: Set<Int> = []
    private var notes: [String] = []

    /// The plan of a file, in which every table can be read by row numbers.
    static func plan(of file: CoreDataFile) throws(StrataError) -> FilePlan {
        var plan = FilePlan(file)
        var tables = NumberedTables(file, plan)
        // The copies have the values of rows, which may be larger than those that are read at once.
        try file.database.reading(valuesTo: ColumnReader.mostBytesInRow) { () throws(StrataError) in
            try tables.run()
        }
        plan.notes += tables.notes
        return plan
    }

    private init(_ file: CoreDataFile, _ plan: FilePlan) {
        self.file = file
        self.plan = plan
        database = file.database
    }

    private mutating func run() throws(StrataError) {
        for index in plan.tables.indices where try !hasRowNumbersAsKeys(plan.tables[index].name) {
            try number(index)
        }
        var links: [Link] = []
        for link in allLinks() {
            // SQLite's comparison of an unusual key is looked up, and that of a text in a link as well.
            let isUnusual = try numbered.contains(link.target) ? true : hasTexts(link)
            if isUnusual { links.append(link) }
        }
        for name in Set(links.map(\.table) + plan.pairs.map(\.table)).sorted() {
            let isNeeded = links.contains { $0.table == name } || !hasRowNumbers(name)
            if isNeeded, !database.isTemporary(name) { try copy(name) }
        }
        for link in links { try resolve(link) }
    }

    private func columns(of table: String) -> [(name: String, type: String)] {
        file.tables[table.uppercased()]?.columns ?? []
    }

    private static func quoted(_ name: String) -> String { SQLiteDatabase.quoted(name) }

    // MARK: Keys

    /// Whether the keys are the numbers of rows: a primary key of a single column of integers, which has no index.
    private func hasRowNumbersAsKeys(_ table: String) throws(StrataError) -> Bool {
        let name = Self.quoted(table)
        let columns = try database.prepare("PRAGMA main.table_info(\(name))")
        var keys: [(name: String, type: String)] = []
        while try columns.step() {
            guard columns.integer(5) > 0 else { continue }
            keys.append((columns.text(1).uppercased(), columns.text(2).uppercased()))
        }
        guard keys.count == 1, keys[0] == ("Z_PK", "INTEGER") else { return false }
        let indexes = try database.prepare("PRAGMA main.index_list(\(name))")
        while try indexes.step() {
            if indexes.text(3) == "pk" { return false }
        }
        return true
    }

    /// The column of a copy that has the key of the file.
    private static let keyColumn = quoted("strata key")

    /// The whole number that a key says; nil for others.
    private static let number = """
        CASE typeof(Z_PK) WHEN 'integer' THEN Z_PK \
        WHEN 'real' THEN CASE WHEN Z_PK = CAST(Z_PK AS INTEGER) THEN CAST(Z_PK AS INTEGER) END \
        WHEN 'text' THEN CASE WHEN CAST(CAST(Z_PK AS INTEGER) AS TEXT) = Z_PK THEN CAST(Z_PK AS INTEGER) END END
        """

    /// The widest range of numbers that are kept, and how far from 0 they may be.
    private static let widest: Int64 = 1 << 26
    private static let furthest: Int64 = 1 << 40

    private mutating func number(_ index: Int) throws(StrataError) {
        let table = plan.tables[index]
        let (source, copy) = ("main.\(Self.quoted(table.name))", "temp.\(Self.quoted(table.name))")
        try refuseRepeatedKeys(source, table)
        let columns = columns(of: table.name).map(\.name)
        let others = columns.filter { $0 != "Z_PK" }.map(Self.quoted)
        try database.run(
            "CREATE TEMP TABLE \(Self.quoted(table.name)) "
                + "(\((["Z_PK INTEGER PRIMARY KEY", Self.keyColumn] + others).joined(separator: ", ")))")
        database.noteTemporary(table.name)
        numbered.insert(index)
        let insertion = "INTO \(copy) (\((["Z_PK", Self.keyColumn] + others).joined(separator: ", ")))"
        let values = columns.filter { $0 != "Z_PK" }.map(Self.value).joined(separator: ", ")
        let list = values.isEmpty ? "" : ", \(values)"
        let order = hasRowNumbers(table.name) ? " ORDER BY rowid" : ""
        guard try keepsNumbers(source) else {
            try database.run("INSERT \(insertion) SELECT NULL, Z_PK\(list) FROM \(source)\(order)")
            return try note(table, source)
        }
        // Whole numbers come before what only says one, so that they keep theirs.
        for condition in ["typeof(Z_PK) = 'integer'", "typeof(Z_PK) <> 'integer' AND (\(Self.number)) IS NOT NULL"] {
            try database.run(
                "INSERT OR IGNORE \(insertion) SELECT \(Self.number), Z_PK\(list) FROM \(source) "
                    + "WHERE \(condition)\(order)")
        }
        try database.run(
            "INSERT \(insertion) SELECT NULL, Z_PK\(list) FROM \(source) AS f WHERE (\(Self.number)) IS NULL "
                + "OR NOT EXISTS (SELECT 1 FROM \(copy) c WHERE c.Z_PK = (\(Self.number(of: "f"))) "
                + "AND c.\(Self.keyColumn) = f.Z_PK AND typeof(c.\(Self.keyColumn)) = typeof(f.Z_PK))\(order)")
        try note(table, source)
    }

    private static func number(of table: String) -> String {
        number.replacing("Z_PK", with: "\(table).Z_PK")
    }

    /// A number of Core Data's own is read from a text, as Core Data would.
    private static func value(_ column: String) -> String {
        let name = quoted(column)
        guard column == "Z_ENT" || column == "Z_OPT" || column.hasPrefix("Z_FOK_") else { return name }
        return "CASE WHEN typeof(\(name)) = 'text' AND CAST(CAST(\(name) AS INTEGER) AS TEXT) = \(name) "
            + "THEN CAST(\(name) AS INTEGER) ELSE \(name) END"
    }

    private func refuseRepeatedKeys(_ source: String, _ table: FilePlan.RootTable) throws(StrataError) {
        let keys = try database.prepare(
            "SELECT Z_PK FROM \(source) WHERE Z_PK IS NOT NULL GROUP BY Z_PK HAVING count(*) > 1 LIMIT 1")
        guard try keys.step() else { return }
        throw KeyTable.repeated(String(keys.text(0).prefix(100)), table, database.path)
    }

    /// Whether the numbers that keys say lie near each other; row numbers are given for all between.
    private func keepsNumbers(_ source: String) throws(StrataError) -> Bool {
        let bounds = try database.prepare("SELECT min(n), max(n) FROM (SELECT \(Self.number) AS n FROM \(source))")
        guard try bounds.step(), !bounds.isNull(0) else { return false }
        let (first, last) = (bounds.integer(0), bounds.integer(1))
        return first > -Self.furthest && last < Self.furthest && last - first < Self.widest
    }

    private mutating func note(_ table: FilePlan.RootTable, _ source: String) throws(StrataError) {
        let others = try database.number("SELECT count(*) FROM \(source) WHERE typeof(Z_PK) <> 'integer'") ?? 0
        guard others > 0 else { return }
        let changed =
            try database.number(
                "SELECT count(*) FROM temp.\(Self.quoted(table.name)) c WHERE "
                    + "CAST(c.Z_PK AS NUMERIC) IS NOT CAST(c.\(Self.keyColumn) AS NUMERIC) "
                    + "OR typeof(c.\(Self.keyColumn)) IN ('blob', 'null')") ?? 0
        let keys = others == 1 ? "1 key is no whole number" : "\(others) keys are no whole numbers"
        let rows = changed == 1 ? "1 row" : "\(changed) rows"
        let given = changed == 0 ? "" : "; \(rows) got a number in place of the key"
        notes.append("\(table.rootName): \(keys), and links were found by comparing them\(given)")
    }

    // MARK: Tables without row numbers

    private func hasRowNumbers(_ table: String) -> Bool {
        database.accepts("SELECT rowid FROM main.\(Self.quoted(table))")
    }

    /// A table of the file with the same rows, in which links can be changed.
    private func copy(_ table: String) throws(StrataError) {
        let isOfRows = plan.tables.contains { $0.name == table }
        let columns = columns(of: table).map(\.name)
        let declared = columns.map { $0 == "Z_PK" && isOfRows ? "Z_PK INTEGER PRIMARY KEY" : Self.quoted($0) }
        try database.run("CREATE TEMP TABLE \(Self.quoted(table)) (\(declared.joined(separator: ", ")))")
        database.noteTemporary(table)
        let list = columns.map(Self.quoted).joined(separator: ", ")
        try database.run(
            "INSERT INTO temp.\(Self.quoted(table)) (\(list)) SELECT \(list) FROM main.\(Self.quoted(table))")
    }

    // MARK: Links

    /// A column of keys.
    private struct Link: Hashable {
        let table: String
        let column: String
        /// The index of the target's table.
        let target: Int
    }

    private func allLinks() -> [Link] {
        var links: Set<Link> = []
        for table in plan.tables {
            for property in table.properties.values.joined() {
                guard case .toOne(_, let column, let target, _) = property.kind else { continue }
                links.insert(Link(table: table.name, column: table.columns[column - 2], target: target))
            }
        }
        for pair in plan.pairs {
            links.insert(Link(table: pair.table, column: pair.owner, target: pair.ownerTable))
            guard pair.member != "Z_PK" else { continue }
            links.insert(Link(table: pair.table, column: pair.member, target: pair.memberTable))
        }
        return links.sorted { ($0.table, $0.column, $0.target) < ($1.table, $1.column, $1.target) }
    }

    /// Whether keys of row numbers are in texts. SQLite keeps no text of a number in a column of integers.
    private func hasTexts(_ link: Link) throws(StrataError) -> Bool {
        let affinity = Affinity(columns(of: link.table).first { $0.name == link.column }?.type ?? "")
        guard affinity == .text || affinity == .none else { return false }
        let (table, column) = (Self.quoted(link.table), Self.quoted(link.column))
        return try database.number("SELECT 1 FROM main.\(table) WHERE typeof(\(column)) = 'text' LIMIT 1") != nil
    }

    /// The type that SQLite gives to values of a column before it compares them, by its declared type.
    private enum Affinity {
        case number, text, none

        /// See <https://www.sqlite.org/datatype3.html#determination_of_column_affinity>.
        init(_ declared: String) {
            func has(_ words: String...) -> Bool { words.contains(where: declared.contains) }
            if has("INT") {
                self = .number
            } else if has("CHAR", "CLOB", "TEXT") {
                self = .text
            } else {
                self = declared.isEmpty || has("BLOB") ? .none : .number
            }
        }

        /// The type that both sides of a comparison get.
        static func compared(_ one: Affinity, _ other: Affinity) -> Affinity {
            if one == .number || other == .number { return .number }
            return one == .text || other == .text ? .text : .none
        }

        var declaration: String {
            switch self {
            case .number: "NUMERIC"
            case .text: "TEXT"
            case .none: ""
            }
        }
    }

    private func resolve(_ link: Link) throws(StrataError) {
        let target = plan.tables[link.target]
        let column = "\(Self.quoted(link.table)).\(Self.quoted(link.column))"
        var number = "SELECT t.Z_PK FROM \(Self.quoted(target.name)) t WHERE t.Z_PK = \(column)"
        if numbered.contains(link.target) {
            func affinity(_ table: String, _ name: String) -> Affinity {
                Affinity(columns(of: table).first { $0.name == name }?.type ?? "")
            }
            let compared = Affinity.compared(affinity(link.table, link.column), affinity(target.name, "Z_PK"))
            number = "SELECT k.number FROM \(try keys(of: target.name, compared)) k WHERE k.key = \(column)"
        }
        try database.run(
            "UPDATE temp.\(Self.quoted(link.table)) SET \(Self.quoted(link.column)) = "
                + "coalesce((\(number)), CAST(CAST(\(column) AS TEXT) AS BLOB)) "
                + "WHERE \(Self.quoted(link.column)) IS NOT NULL")
    }

    /// The table that has the number of each key, for comparisons of a type; made when it is first asked for.
    private func keys(of table: String, _ affinity: Affinity) throws(StrataError) -> String {
        let name = "strata keys of \(table) \(affinity)"
        let keys = "temp.\(Self.quoted(name))"
        guard !database.isTemporary(name) else { return keys }
        database.noteTemporary(name)
        try database.run(
            "CREATE TEMP TABLE \(Self.quoted(name)) (key \(affinity.declaration) PRIMARY KEY NOT NULL, number INTEGER) "
                + "WITHOUT ROWID")
        // Texts such as '1' and '01' are the same number: the link leads to the first.
        try database.run(
            "INSERT OR IGNORE INTO \(keys) SELECT \(Self.keyColumn), Z_PK FROM temp.\(Self.quoted(table)) "
                + "WHERE \(Self.keyColumn) IS NOT NULL ORDER BY Z_PK")
        return keys
    }
}
