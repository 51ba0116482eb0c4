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
                guard try rows.step() else { continue }
                broken[entity.name, default: []].append(names)
                faults.append(
                    CoreDataFault(
                        kind: .notUnique, entityName: entity.name, key: nil, property: names.joined(separator: ", "),
                        sentence: "is not unique: \(rows.integer(0)) objects agree; the constraint is left out"))
            }
        }
    }

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
            return "SELECT count(*) FROM \(SQLiteDatabase.quoted(table.name)) WHERE Z_ENT IN "
                + "(\(numbers.map(String.init).joined(separator: ", "))) AND "
                + columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
                + " GROUP BY \(list) HAVING count(*) > 1 LIMIT 1"
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
