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
                .unknownEntity, entity?.name ?? table.name,
                "has \(rows == 1 ? "1 row" : "\(rows) rows"), which are left out: the model lacks the entity", rows)
        }
        for entity in file.model.entities where entity.superentityName == nil {
            guard file.entities.contains(where: { $0.name == entity.name }),
                file.tables["Z" + entity.name.uppercased()] == nil
            else { continue }
            let last = file.lastKeys[entity.name] ?? 0
            add(.missingTable, entity.name, "has no table in the file; the last key that was given is \(last)", 1)
        }
    }

    private mutating func add(_ kind: CoreDataFault.Kind, _ entity: String, _ sentence: String, _ count: Int) {
        let fault = CoreDataFault(kind: kind, entityName: entity, key: nil, property: nil, sentence: sentence)
        faults.append((fault, count))
    }
}
