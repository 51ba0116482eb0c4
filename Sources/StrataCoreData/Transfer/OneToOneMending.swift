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

    /// A column of keys. Entities of one table may have properties of the same name in different columns.
    private struct End: Hashable {
        let table: Int
        let column: Int
    }

    private var outcomes: [End: [Int64: Outcome]] = [:]

    init() {}

    init(_ layout: ImportLayout) throws(StrataError) {
        let tables = layout.plan.tables
        var done: Set<[End]> = []
        for (index, table) in tables.enumerated() {
            for entity in table.properties.keys.sorted() {
                for property in table.properties[entity] ?? [] {
                    guard case .toOne(let relationship, let column, let other, _) = property.kind,
                        let inverse = relationship.inverseName,
                        let back = tables[other].properties[relationship.destinationEntityName]?
                            .first(where: { $0.name == inverse }),
                        case .toOne(let backward, let backColumn, _, _) = back.kind,
                        backward.inverseName == property.name
                    else { continue }
                    let ends = [End(table: index, column: column), End(table: other, column: backColumn)]
                    if done.insert(ends).inserted { try read(layout, ends[0], ends[1]) }
                }
            }
        }
    }

    private mutating func read(_ layout: ImportLayout, _ end: End, _ back: End) throws(StrataError) {
        let (one, other) = (layout.plan.tables[end.table], layout.plan.tables[back.table])
        let key = SQLiteDatabase.quoted(one.columns[end.column - 2])
        let backKey = SQLiteDatabase.quoted(other.columns[back.column - 2])
        // A key that leads to no object is no partner.
        let rows = try layout.file.database.prepare(
            "SELECT a.Z_PK, b.Z_PK, c.Z_PK FROM \(SQLiteDatabase.quoted(one.name)) a "
                + "JOIN \(SQLiteDatabase.quoted(other.name)) b ON b.Z_PK = a.\(key) "
                + "LEFT JOIN \(SQLiteDatabase.quoted(one.name)) c ON c.Z_PK = b.\(backKey) "
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
    func mended(_ key: Int64, of column: Int, table: Int) -> Outcome? {
        outcomes.isEmpty ? nil : outcomes[End(table: table, column: column)]?[key]
    }
}
