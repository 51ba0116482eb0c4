import StrataModel
import StrataStore

/// A table of the objects of an entity, a page at a time.
///
/// Parameters: those of `StudioTable`, `offset`, `limit`, `explain`.
struct ObjectsPage: Encodable {
    struct Column: Encodable, Equatable {
        let name: String
        /// The type of the attribute, or what the relationship leads to; nil for an expression.
        let type: String?
    }

    struct Row: Encodable, Equatable {
        /// `Film/p5`.
        let object: String
        /// With the object's name for people.
        let label: String
        let cells: [StudioCell]
    }

    let moment: StudioMoment
    let entity: String
    /// Every property that a column can show.
    let available: [Column]
    let columns: [Column]
    /// Properties of the columns and the order that the model of the moment does not have.
    let absent: [String]
    /// The order in the names of the moment, as `sort` writes it.
    let sort: String
    let rows: [Row]
    let offset: Int
    let limit: Int
    /// The objects that meet `where`.
    let count: Int
    /// The objects of the entity.
    let total: Int
    /// The plan of the request, if `explain` asks for it.
    let plan: String?

    /// - Parameter mostCharacters: how long the text of all cells may be, in bytes.
    init(_ name: String, _ reading: StudioReading, mostCharacters: Int = Self.mostCharacters) throws {
        moment = try StudioMoment(reading)
        let table = try StudioTable(name, reading)
        entity = table.entity.name
        available = table.entity.properties.filter { $0.storage != .position && !$0.isTransient }.map {
            Self.column($0, reading)
        }
        columns = table.columns.map { column in
            table.entity.property(named: column.name).map { Self.column($0, reading) }
                ?? Column(name: column.name, type: nil)
        }
        absent = table.absent
        sort = table.sorted.sort.map { ($0.isAscending ? "" : "-") + $0.keyPath }.joined(separator: ",")
        offset = try reading.number("offset", 0...Int.max, default: 0)
        limit = try reading.number("limit", 1...500, default: 50)
        var part = table.sorted
        (part.limit, part.offset) = (limit, offset)
        let found = try Self.found(part, table, reading)
        (count, total, plan) = (found.count, found.total, found.plan)
        rows = try Self.rows(found.rows, reading, mostCharacters)
    }

    /// A page of many lists has hundreds of times the text of a usual one.
    static let mostCharacters = 16 << 20

    private static func rows(
        _ rows: [(object: ObjectID, cells: ArraySlice<PredicateOperand>)], _ reading: StudioReading,
        _ mostCharacters: Int
    ) throws -> [Row] {
        var length = 0
        return try rows.map { object, cells in
            try reading.checkCancellation()
            let row = Row(
                object: reading.names.name(of: object), label: reading.links.label(of: object),
                cells: cells.map { StudioCell($0, reading.links) })
            length += row.cells.reduce(0) { $0 + $1.length }
            guard length <= mostCharacters else {
                throw StudioProblem(
                    422, "The page would be too large. Choose fewer columns, or a smaller limit.", field: "columns")
            }
            return row
        }
    }

    private struct Found {
        let rows: [(object: ObjectID, cells: ArraySlice<PredicateOperand>)]
        let count: Int
        let total: Int
        let plan: String?
    }

    private static func found(_ part: StoreRequest, _ table: StudioTable, _ reading: StudioReading) throws -> Found {
        try reading.read { snapshot in
            let total = try snapshot.count(table.all)
            var rest = part
            // Otherwise the scan of an early moment looks for more objects among all later ones.
            if table.matching.predicate == nil { rest.limit = min(part.limit, total - part.offset) }
            let ids = rest.limit > 0 ? try table.ids(rest, in: snapshot) : []
            return Found(
                rows: try table.rows(of: ids, in: snapshot),
                count: try table.matching.predicate == nil ? total : snapshot.count(table.matching), total: total,
                plan: try reading.query["explain"] == nil ? nil : snapshot.explain(part).description)
        }
    }

    private static func column(_ property: PropertySchema, _ reading: StudioReading) -> Column {
        Column(name: property.name, type: NameCompletion(reading.moment.schema).type(of: property))
    }
}
