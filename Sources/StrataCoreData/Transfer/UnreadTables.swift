import StrataModel

/// Rows of a file that no entity of the model has, and tables that the file should have and lacks.
struct UnreadTables {
    /// Each with the number of rows that are left out.
    private(set) var faults: [(fault: CoreDataFault, count: Int)] = []

    init(_ file: CoreDataFile, _ plan: FilePlan) throws(StrataError) {
        let read = Set(plan.tables.map(\.name))
        for (name, table) in file.tables.sorted(by: { $0.key < $1.key }) {
            guard name.hasPrefix("Z"), table.has("Z_PK"), table.has("Z_ENT"), !read.contains(table.name) else {
                continue
            }
            let rows = Int(try file.database.number("SELECT count(*) FROM \(SQLiteDatabase.quoted(table.name))") ?? 0)
            guard rows > 0 else { continue }
            let entity = file.entities.first { "Z" + $0.name.uppercased() == name }
            add(
                .unknownEntity, entity?.name ?? table.name, "has \(Self.count(rows)), and the model lacks the entity",
                rows == 1 ? FaultOutcome.leftOut : FaultOutcome.allLeftOut, rows)
        }
        for table in plan.tables {
            // Reading by key begins behind the smallest.
            let rows = Int(
                try file.database.number(
                    "SELECT count(*) FROM \(SQLiteDatabase.quoted(table.name)) WHERE Z_PK = -9223372036854775808") ?? 0)
            guard rows > 0 else { continue }
            add(
                .unknownEntity, table.rootName, "has \(Self.count(rows)) with the smallest key",
                rows == 1 ? FaultOutcome.leftOut : FaultOutcome.allLeftOut, rows)
        }
        for entity in file.model.entities where entity.superentityName == nil {
            let name = file.fileName(of: entity.name)
            guard file.entities.contains(where: { $0.name == name }), file.table(of: entity.name) == nil else {
                continue
            }
            let last = file.lastKeys[name] ?? 0
            let sentence = "has no table in the file; the last key that was given is \(last)"
            add(.missingTable, entity.name, sentence, "its objects are missing", 1)
        }
    }

    private static func count(_ rows: Int) -> String { rows == 1 ? "1 row" : "\(rows) rows" }

    private mutating func add(
        _ kind: CoreDataFault.Kind, _ entity: String, _ sentence: String, _ outcome: String, _ count: Int
    ) {
        let fault = CoreDataFault(
            kind: kind, entityName: entity, key: nil, property: nil, sentence: sentence, outcome: outcome)
        faults.append((fault, count))
    }
}
