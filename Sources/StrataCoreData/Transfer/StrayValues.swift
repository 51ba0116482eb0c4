import StrataModel

/// Values in columns of other entities than the row's, and links that give their target another entity than it has.
struct StrayValues {
    private let file: CoreDataFile
    private let plan: FilePlan

    init(_ file: CoreDataFile, _ plan: FilePlan) {
        self.file = file
        self.plan = plan
    }

    func note(_ add: (CoreDataFault) -> Void) throws(StrataError) {
        for table in plan.tables {
            if !table.isOfOneEntity(in: file.model) { try noteStray(table, add) }
            for (name, column) in table.targetColumns(in: file) { try noteTargets(table, name, column, add) }
        }
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
            "(\(SQLiteDatabase.quoted(table.columns[column - 2])) IS NOT NULL AND Z_ENT IN "
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
