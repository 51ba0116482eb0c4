import StrataModel

/// The rows of a root entity's table. Values that are too long to be read at once are read when they are asked for, in
/// pieces if that is enough.
final class TableRows {
    private let database: SQLiteDatabase
    private let table: FilePlan.RootTable
    private let rows: SQLiteStatement
    private var last = Int64.min
    /// The current row: the key, the number of the entity, and the columns of the plan.
    private(set) var row: SQLiteStatement

    /// - Parameter key: the key behind which rows are read in order; nil to find single rows.
    init(_ database: SQLiteDatabase, _ table: FilePlan.RootTable, after key: Int64?) throws(StrataError) {
        self.database = database
        self.table = table
        rows = try database.prepare(key == nil ? table.rowQuery : table.query)
        row = rows
        guard let key else { return }
        rows.restart(key)
        last = key
    }

    /// Goes to the next row.
    ///
    /// - Returns: false at the end.
    func step() throws(StrataError) -> Bool {
        switch try rows.advance() {
        case .row: row = rows
        case .end: return false
        case .largeRow:
            let next = try database.prepare(
                "SELECT Z_PK FROM \(SQLiteDatabase.quoted(table.name)) WHERE Z_PK > ?1 ORDER BY Z_PK LIMIT 1")
            next.restart(last)
            guard try next.step() else { return false }
            row = try largeRow(next.integer(0))
            rows.restart(next.integer(0))
        }
        last = row.integer(0)
        return true
    }

    /// Goes to the row with a key.
    ///
    /// - Returns: false if there is none.
    func find(_ key: Int64) throws(StrataError) -> Bool {
        rows.restart(key)
        switch try rows.advance() {
        case .row: row = rows
        case .end: return false
        case .largeRow: row = try largeRow(key)
        }
        return true
    }

    /// A row with long values, which are opened and not read.
    private func largeRow(_ key: Int64) throws(StrataError) -> SQLiteStatement {
        let columns = ["Z_ENT"] + table.columns
        let from = "FROM \(SQLiteDatabase.quoted(table.name)) WHERE Z_PK = ?1"
        // Some versions of SQLite measure the whole row.
        return try database.reading(valuesTo: .max) { () throws(StrataError) in
            let kinds = try database.prepare(
                "SELECT \(columns.map { "typeof(\(SQLiteDatabase.quoted($0)))" }.joined(separator: ", ")) \(from)")
            kinds.restart(key)
            guard try kinds.step() else { throw database.error(11) }
            var large: [Int: LargeValue] = [:]
            for (index, column) in columns.enumerated() {
                let kind = kinds.text(index)
                guard kind == "text" || kind == "blob" else { continue }
                let value = try LargeValue(
                    database, table: table.name, column: column, row: key, kind == "text" ? .text : .blob)
                if value.count > SQLiteDatabase.mostBytesAtOnce { large[index + 1] = value }
            }
            count(large)
            let list = columns.enumerated().map { index, column in
                large[index + 1] == nil ? SQLiteDatabase.quoted(column) : "NULL"
            }
            let row = try database.prepare("SELECT Z_PK, \(list.joined(separator: ", ")) \(from)")
            row.restart(key)
            guard try row.step() else { throw database.error(11) }
            row.large = large
            return row
        }
    }

    /// Adds up the values that a row of a store has in it, in the order of the columns.
    private func count(_ large: [Int: LargeValue]) {
        let outside = table.properties.values.joined().compactMap { property -> Int? in
            guard case .attribute(let attribute, let column) = property.kind,
                attribute.allowsExternalBinaryDataStorage
            else { return nil }
            return column
        }
        var sum = 0
        for column in large.keys.sorted() where !outside.contains(column) {
            guard let value = large[column], value.count <= ColumnReader.mostBytesInRow else { continue }
            value.countBefore = sum
            sum += value.count
        }
    }
}
