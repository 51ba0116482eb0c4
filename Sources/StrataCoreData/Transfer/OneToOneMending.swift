import StrataModel

/// The one-to-ones of a file whose two ends disagree, and the repair of each.
///
/// The end that leads to an object without a partner is kept, and that object gets it back. Of several that lead to the
/// same object the first is kept. An end that leads to an object with another partner is cleared.
struct OneToOneMending {
    enum Outcome {
        case cleared
        /// The key of the partner.
        case completed(Int64)
    }

    /// What is wrong with an end that is cleared, as a phrase.
    static let leadsElsewhere = "leads to an object whose link leads elsewhere"

    /// What is wrong with an end that is completed, as a phrase.
    static func missing(_ partner: Int64) -> String { "leads to no object, and the key \(partner) leads to it" }

    private struct End: Hashable {
        let table: Int
        let property: String
    }

    private var outcomes: [End: [Int64: Outcome]] = [:]

    init() {}

    init(_ layout: ImportLayout) throws(StrataError) {
        var done: Set<String> = []
        for (index, table) in layout.plan.tables.enumerated() {
            for property in table.properties.values.joined() {
                guard case .toOne(let relationship, let column, let other, _) = property.kind,
                    let inverse = relationship.inverseName, done.insert("\(table.name).\(property.name)").inserted
                else { continue }
                let back = layout.plan.tables[other].properties.values.joined().first { property in
                    guard property.name == inverse, case .toOne(let back, _, _, _) = property.kind else { return false }
                    return back.inverseName == relationship.name
                }
                guard let back, case .toOne(_, let backColumn, _, _) = back.kind else { continue }
                try read(
                    layout, End(table: index, property: property.name), table.columns[column - 2],
                    End(table: other, property: back.name), layout.plan.tables[other].columns[backColumn - 2])
            }
        }
    }

    private mutating func read(
        _ layout: ImportLayout, _ end: End, _ column: String, _ back: End, _ backColumn: String
    ) throws(StrataError) {
        let (one, other) = (layout.plan.tables[end.table].name, layout.plan.tables[back.table].name)
        let (key, backKey) = (SQLiteDatabase.quoted(column), SQLiteDatabase.quoted(backColumn))
        let rows = try layout.file.database.prepare(
            "SELECT a.Z_PK, b.Z_PK, b.\(backKey) FROM \(SQLiteDatabase.quoted(one)) a "
                + "JOIN \(SQLiteDatabase.quoted(other)) b ON b.Z_PK = a.\(key) "
                + "WHERE b.\(backKey) IS NOT a.Z_PK ORDER BY a.Z_PK")
        while try rows.step() {
            let (from, to) = (rows.integer(0), rows.integer(1))
            if rows.isNull(2), outcomes[back]?[to] == nil {
                outcomes[back, default: [:]][to] = .completed(from)
            } else {
                outcomes[end, default: [:]][from] = .cleared
            }
        }
    }

    /// nil if the column of the row is right.
    func mended(_ key: Int64, of property: String, table: Int) -> Outcome? {
        outcomes.isEmpty ? nil : outcomes[End(table: table, property: property)]?[key]
    }
}
