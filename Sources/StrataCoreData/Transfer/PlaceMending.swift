import StrataModel

/// The places in ordered lists that are missing, shared or impossible, and the repair of the lists that have one.
///
/// The members of such a list stand by their places and then by their keys, in the order of SQLite. All get new
/// positions, so that members of several entities are in this order too.
struct PlaceMending {
    /// The position of a member, and the fault of its place.
    struct Mended {
        let position: Int64
        let fault: Fault?
    }

    enum Fault {
        case missing
        case shared
        case impossible

        var sentence: String {
            switch self {
            case .missing: "has no place in its list"
            case .shared: "has the place of another member in its list"
            case .impossible: "has a place in its list that none can have"
            }
        }

        var outcome: String {
            switch self {
            case .missing: "it is put before those that have one, by its key"
            case .shared: "the two stand by their keys"
            case .impossible: "it is put at an end, by its key"
            }
        }
    }

    private struct List: Hashable {
        let table: Int
        let column: Int
    }

    private var lists: [List: [Int64: Mended]] = [:]

    /// The places that Core Data could have given.
    private static let places: ClosedRange<Int64> = -(1 << 40)...1 << 52

    init() {}

    /// The lists of to-manys whose members have the place in their rows.
    init(_ layout: ImportLayout) throws(StrataError) {
        for (index, table) in layout.plan.tables.enumerated() {
            var done: Set<Int> = []
            for column in layout.entities[index].values.flatMap(\.columns) {
                guard case .toOne(let link) = column.kind, link.positionSlot != nil, let order = link.order,
                    done.insert(column.column).inserted
                else { continue }
                let found = try Self.mended(
                    layout.file.database, table.name, owner: table.columns[column.column - 2],
                    place: table.columns[order - 2], member: "Z_PK", row: "Z_PK")
                if !found.isEmpty { lists[List(table: index, column: column.column)] = found }
            }
        }
    }

    /// nil if the row's place is sound, and all others of its list are.
    func mended(_ key: Int64, of column: Int, table: Int) -> Mended? {
        lists.isEmpty ? nil : lists[List(table: table, column: column)]?[key]
    }

    /// - Parameters:
    ///   - member: the column of the members' keys.
    ///   - row: the identity of a member's row.
    static func mended(
        _ database: SQLiteDatabase, _ table: String, owner: String, place: String, member: String, row: String
    ) throws(StrataError) -> [Int64: Mended] {
        let (table, owner, place) = (
            SQLiteDatabase.quoted(table), SQLiteDatabase.quoted(owner), SQLiteDatabase.quoted(place)
        )
        let (member, row) = (SQLiteDatabase.quoted(member), row == "rowid" ? row : SQLiteDatabase.quoted(row))
        let rows = try database.prepare(
            "SELECT \(owner), \(place), \(row) FROM \(table) WHERE \(owner) IN (SELECT \(owner) FROM \(table) "
                + "WHERE \(owner) IS NOT NULL GROUP BY \(owner), \(place) HAVING count(*) > 1 "
                + "OR typeof(\(place)) <> 'integer' OR \(place) < \(places.lowerBound) "
                + "OR \(place) > \(places.upperBound)) ORDER BY \(owner), \(place), \(member), \(row)")
        var found: [Int64: Mended] = [:]
        var last: (owner: Int64, place: Int64?)?
        var position: Int64 = 0
        while try rows.step() {
            let number = rows.kind(1) == .integer ? rows.integer(1) : nil
            if last?.owner != rows.integer(0) { position = 0 }
            position += 1 << 11
            let fault: Fault? =
                if rows.isNull(1) {
                    .missing
                } else if let number, places.contains(number) {
                    last?.owner == rows.integer(0) && last?.place == number ? .shared : nil
                } else {
                    .impossible
                }
            found[rows.integer(2)] = Mended(position: position, fault: fault)
            last = (rows.integer(0), number)
        }
        return found
    }
}
