import StrataModel

/// The uniqueness constraints that the data of a file breaks.
struct BrokenConstraints {
    private(set) var faults: [CoreDataFault] = []
    private var broken: [String: [[String]]] = [:]

    init(_ file: CoreDataFile, _ plan: FilePlan) throws(StrataError) {
        for entity in file.model.entities {
            for names in entity.uniquenessConstraints {
                guard let query = Self.query(names, entity.name, file.model, plan) else { continue }
                let rows = try file.database.prepare(query)
                var isBroken = false
                while try file.database.reading(
                    valuesTo: ColumnReader.mostBytesInRow, { () throws(StrataError) in try rows.step() })
                {
                    isBroken = true
                    faults.append(
                        CoreDataFault(
                            kind: .notUnique, entityName: entity.name, key: rows.integer(1),
                            property: names.joined(separator: ", "),
                            sentence: "is not unique: \(rows.integer(0)) objects agree",
                            outcome: "the constraint is left out"))
                }
                if isBroken { broken[entity.name, default: []].append(names) }
            }
        }
    }

    /// The groups of objects that agree are listed up to this number.
    private static let mostGroups = 1000

    /// nil if a property has no column.
    private static func query(
        _ names: [String], _ entity: String, _ model: ManagedObjectModel, _ plan: FilePlan
    ) -> String? {
        for table in plan.tables {
            guard let properties = table.properties[entity] else { continue }
            let columns = names.compactMap { name -> String? in
                switch properties.first(where: { $0.name == name })?.kind {
                case .attribute(_, let column)?, .toOne(_, let column, _, _)?:
                    SQLiteDatabase.quoted(table.columns[column - 2])
                case .composite?, nil: nil
                }
            }
            guard columns.count == names.count, !columns.isEmpty else { return nil }
            let numbers = table.entityNames.filter { model.hierarchy.isKind($0.value, of: entity) }.keys.sorted()
            let list = columns.joined(separator: ", ")
            // The rows of a table's only entity are of it whatever their number says.
            let ofEntity =
                table.isOfOneEntity(in: model)
                ? "" : "Z_ENT IN (\(numbers.map(String.init).joined(separator: ", "))) AND "
            return "SELECT count(*), min(Z_PK) FROM \(SQLiteDatabase.quoted(table.name)) WHERE \(ofEntity)"
                + columns.map { "typeof(\($0)) <> 'null'" }.joined(separator: " AND ")
                + " GROUP BY \(list) HAVING count(*) > 1 LIMIT \(mostGroups)"
        }
        return nil
    }

    /// The model without the constraints that are broken.
    func model(without model: ManagedObjectModel) throws(StrataError) -> ManagedObjectModel {
        guard !broken.isEmpty else { return model }
        return try model.replacing { entity in
            entity.uniquenessConstraints.removeAll { broken[entity.name]?.contains($0) ?? false }
        }
    }
}
