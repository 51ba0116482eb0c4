import StrataModel

/// Values in columns of other entities than the row's or of no property, links of no relationship, and links that give
/// their target another entity than it has.
struct StrayValues {
    private let file: CoreDataFile
    private let plan: FilePlan

    init(_ file: CoreDataFile, _ plan: FilePlan) {
        self.file = file
        self.plan = plan
    }

    /// - Parameter add: takes a fault, and the number of values or links that it stands for.
    func note(_ add: (CoreDataFault, Int) -> Void) throws(StrataError) {
        for table in plan.tables {
            if !table.isOfOneEntity(in: file.model) { try noteStray(table) { add($0, 1) } }
            for (name, column) in table.targetColumns(in: file) { try noteTargets(table, name, column) { add($0, 1) } }
            try noteUnread(table, add)
        }
        try noteUnreadPairs(add)
    }

    /// Counts the values in columns that no property of the model has, in rows of entities that it has.
    private func noteUnread(_ table: FilePlan.RootTable, _ add: (CoreDataFault, Int) -> Void) throws(StrataError) {
        let read = Set(table.columns + plan.pairs.filter { $0.table == table.name }.map(\.owner))
        let columns = (file.tables[table.name.uppercased()]?.columns ?? []).map(\.name).filter { column in
            guard column.hasPrefix("Z"), !read.contains(column) else { return false }
            guard let numbered = NumberedColumn(column) else { return !column.hasPrefix("Z_") }
            return numbered.target == nil
        }
        guard !columns.isEmpty else { return }
        let numbers = table.entityNames.keys.sorted().map(String.init).joined(separator: ", ")
        let condition = table.isOfOneEntity(in: file.model) ? "" : " WHERE Z_ENT IN (\(numbers))"
        let counts = try file.database.prepare(
            "SELECT \(columns.map { "sum(typeof(\(SQLiteDatabase.quoted($0))) <> 'null')" }.joined(separator: ", ")) "
                + "FROM \(SQLiteDatabase.quoted(table.name))\(condition)")
        guard try counts.step() else { return }
        for (index, column) in columns.enumerated() where counts.integer(index) > 0 {
            let count = Int(counts.integer(index))
            let values = count == 1 ? "1 value" : "\(count) values"
            add(unread(table.rootName, "\(values) in \(column), a column of no property of the model", count), count)
        }
    }

    /// Counts the links in tables of pairs that no relationship of the model has.
    private func noteUnreadPairs(_ add: (CoreDataFault, Int) -> Void) throws(StrataError) {
        let read = Set(plan.pairs.map(\.table))
        for (name, table) in file.tables.sorted(by: { $0.key < $1.key }) where !read.contains(table.name) {
            guard let join = JoinColumn(name) else { continue }
            let count = Int(try file.database.number("SELECT count(*) FROM \(SQLiteDatabase.quoted(table.name))") ?? 0)
            guard count > 0 else { continue }
            let owner = file.entities.first { $0.number == join.number }?.name ?? table.name
            let links = count == 1 ? "1 link" : "\(count) links"
            add(unread(owner, "\(links) in \(table.name), a table of no relationship of the model", count), count)
        }
    }

    private func unread(_ entity: String, _ what: String, _ count: Int) -> CoreDataFault {
        CoreDataFault(
            kind: .strayValue, entityName: entity, key: nil, property: nil, sentence: "has \(what)",
            outcome: count == 1 ? FaultOutcome.leftOut : FaultOutcome.allLeftOut)
    }

    private func noteStray(_ table: FilePlan.RootTable, _ add: (CoreDataFault) -> Void) throws(StrataError) {
        let numbers = table.entityNames.keys.sorted()
        var owners: [Int: Set<Int64>] = [:]
        for number in numbers {
            for property in table.properties[table.entityNames[number] ?? ""] ?? [] {
                for column in property.columns { owners[column, default: []].insert(number) }
            }
        }
        let columns = owners.filter { $0.value.count < numbers.count }.keys.sorted()
        guard !columns.isEmpty else { return }
        func list(_ numbers: some Sequence<Int64>) -> String { numbers.map(String.init).joined(separator: ", ") }
        let conditions = columns.map { column in
            "(typeof(\(SQLiteDatabase.quoted(table.columns[column - 2]))) <> 'null' AND Z_ENT IN "
                + "(\(list(numbers.filter { owners[column]?.contains($0) == false }))))"
        }
        let rows = try file.database.prepare(
            "SELECT Z_PK, Z_ENT, \(conditions.joined(separator: ", ")) FROM \(SQLiteDatabase.quoted(table.name)) "
                + "WHERE \(conditions.joined(separator: " OR "))")
        while try rows.step() {
            for (index, column) in columns.enumerated() where rows.integer(index + 2) == 1 {
                add(
                    CoreDataFault(
                        kind: .strayValue, entityName: table.entityNames[rows.integer(1)] ?? table.rootName,
                        key: rows.integer(0), property: nil,
                        sentence: "has a value in \(table.columns[column - 2]), a column of another entity",
                        outcome: FaultOutcome.leftOut))
            }
        }
    }

    private func noteTargets(
        _ table: FilePlan.RootTable, _ name: String, _ column: Int, _ add: (CoreDataFault) -> Void
    ) throws(StrataError) {
        var found: (name: String, table: Int)?
        for property in table.properties.values.joined() {
            if case .toOne(_, column, let target, _) = property.kind { found = (property.name, target) }
        }
        guard let found else { return }
        let (key, number) = (SQLiteDatabase.quoted(table.columns[column - 2]), SQLiteDatabase.quoted(name))
        let rows = try file.database.prepare(
            "SELECT a.Z_PK, a.Z_ENT, a.\(number), b.Z_ENT FROM \(SQLiteDatabase.quoted(table.name)) a "
                + "JOIN \(SQLiteDatabase.quoted(plan.tables[found.table].name)) b ON b.Z_PK = a.\(key) "
                + "WHERE a.\(number) <> b.Z_ENT")
        while try rows.step() {
            add(
                CoreDataFault(
                    kind: .wrongEntity, entityName: table.entityNames[rows.integer(1)] ?? table.rootName,
                    key: rows.integer(0), property: found.name,
                    sentence: "gives its target the entity number \(rows.text(2)), and the target has \(rows.text(3))",
                    outcome: "the target's is taken"))
        }
    }
}

extension FilePlan.Property {
    /// The columns of its values.
    fileprivate var columns: [Int] {
        switch kind {
        case .attribute(_, let column): [column]
        case .composite(_, let elements): elements.flatMap(\.columns)
        case .toOne(_, let column, _, _): [column]
        }
    }
}
