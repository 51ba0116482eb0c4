import StrataModel
import StrataStore

/// A table of the objects of an entity, a page at a time.
///
/// Parameters: `where` (the format language), `sort` (`-rating,name`), `columns`, `offset`, `limit`, `only` (no
/// subentities), `explain`.
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
    let rows: [Row]
    let offset: Int
    let limit: Int
    /// The objects that meet `where`.
    let count: Int
    /// The objects of the entity.
    let total: Int
    /// How the objects are found, if `explain` asks for it.
    let plan: String?

    /// The columns of a table that names none.
    static let mostColumns = 10

    init(_ name: String, _ reading: StudioReading) throws {
        moment = try StudioMoment(reading)
        let schema = try StudioProblem.of("entity") { try reading.moment.entity(named: name) }
        entity = schema.name
        available = schema.properties.filter { $0.storage != .position && !$0.isTransient }.map {
            Self.column($0, reading)
        }
        offset = try reading.number("offset", 0...Int.max, default: 0)
        limit = try reading.number("limit", 1...500, default: 50)
        var objects = try Self.request(schema, reading)
        let all = StoreRequest(entityID: schema.id, includesSubentities: objects.includesSubentities)
        let matching = objects
        (objects.limit, objects.offset) = (limit, offset)
        objects.sort = try StudioProblem.of("sort") { try Self.sort(all, reading) }
        let chosen = try Self.columns(schema, reading)
        columns = chosen.map { column in
            schema.property(named: column.name).map { Self.column($0, reading) } ?? Column(name: column.name, type: nil)
        }
        let found = try Self.found(objects, matching, all, chosen, schema, reading)
        (count, total, plan) = (found.count, found.total, found.plan)
        rows = found.rows.map { object, cells in
            Row(
                object: reading.names.name(of: object), label: reading.links.label(of: object),
                cells: cells.prefix(chosen.count).map { StudioCell($0, reading.links) })
        }
    }

    /// The objects that `where` and `only` choose.
    static func request(_ schema: EntitySchema, _ reading: StudioReading) throws -> StoreRequest {
        StoreRequest(
            entityID: schema.id, includesSubentities: reading.query["only"] == nil,
            predicate: try StudioProblem.of("where") {
                try ConditionText.predicate(try reading.text("where"), in: reading.store)
            })
    }

    private struct Found {
        let rows: [(object: ObjectID, cells: [PredicateOperand])]
        let count: Int
        let total: Int
        let plan: String?
    }

    private static func found(
        _ objects: StoreRequest, _ matching: StoreRequest, _ all: StoreRequest, _ columns: [OutputColumn],
        _ schema: EntitySchema, _ reading: StudioReading
    ) throws -> Found {
        let stream = try StudioProblem.of("columns") {
            try RowStream(
                RowsRequest(objects: all, columns: columns), of: schema, at: reading.moment, in: reading.store)
        }
        let isFiltered = matching.predicate != nil
        return try reading.read { snapshot in
            let rows = try StudioProblem.of("where") {
                try stream.rows(of: try snapshot.fetch(objects), in: snapshot)
            }
            let total = try snapshot.count(all)
            return Found(
                rows: rows, count: try isFiltered ? snapshot.count(matching) : total, total: total,
                plan: try reading.query["explain"] == nil ? nil : snapshot.explain(objects).description)
        }
    }

    /// The order, which is checked apart from the filter, so that an error is shown in its place.
    private static func sort(_ all: StoreRequest, _ reading: StudioReading) throws -> [SortDescription] {
        var sorted = all
        sorted.sort = try SortText.parse(try reading.text("sort"))
        _ = try CompiledRows(RowsRequest(objects: sorted, columns: [ColumnText.object]), reading.moment.schema)
        return sorted.sort
    }

    private static func columns(_ schema: EntitySchema, _ reading: StudioReading) throws -> [OutputColumn] {
        guard let text = try reading.text("columns") else {
            return Array(ColumnText.usual(of: schema).dropFirst().prefix(mostColumns))
        }
        return try StudioProblem.of("columns") {
            let columns = try ColumnText.parse(text, of: schema)
            guard !RowsRequest(objects: StoreRequest(entityID: schema.id), columns: columns).isGrouped else {
                throw UsageError("A column shows a value of each object, not of a group.")
            }
            return columns
        }
    }

    private static func column(_ property: PropertySchema, _ reading: StudioReading) -> Column {
        let type =
            property.attribute?.type.name
            ?? property.relationship.map { relationship in
                (relationship.isToMany ? "to-many " : "to-one ") + reading.names.name(of: relationship.destination)
            }
        return Column(name: property.name, type: type)
    }
}
