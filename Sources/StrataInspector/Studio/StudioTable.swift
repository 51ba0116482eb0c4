import StrataModel
import StrataStore

/// The table that the parameters of a request describe: which objects, in which order, with which columns.
///
/// Parameters: `where` (the format language, in which `Film/p5` is an object), `sort` (`-rating,name`), `columns`, `only`
/// (no subentities). Names of another model than that of the moment mean the same properties.
struct StudioTable {
    let entity: EntitySchema
    let columns: [OutputColumn]
    /// Parts of the columns and of the order that the model of the moment does not have.
    let absent: [String]
    /// Every object of the entity.
    let all: StoreRequest
    /// The objects that meet the filter.
    let matching: StoreRequest
    /// The same in their order.
    let sorted: StoreRequest
    private let stream: RowStream

    /// The columns of a table that names none.
    private static let usualColumns = 10
    /// What a request may ask for: each is computed for each row.
    static let mostColumns = 200
    /// The keys of an order, each of which may be compared for each pair of rows.
    static let mostKeys = 32

    init(_ name: String, _ reading: StudioReading) throws {
        entity = try StudioProblem.of("entity") { try reading.moment.entity(named: name) }
        matching = try Self.request(entity, reading)
        all = StoreRequest(entityID: entity.id, includesSubentities: matching.includesSubentities)
        var absent: [String] = []
        var sorted = matching
        sorted.sort = try Self.sort(entity, all, reading, &absent)
        self.sorted = sorted
        columns = try Self.columns(entity, reading, &absent)
        self.absent = absent
        stream = try StudioProblem.of("columns") { [all, columns, entity] in
            try RowStream(
                RowsRequest(objects: all, columns: columns), of: entity, at: reading.moment, in: reading.store)
        }
    }

    /// The objects that `where` and `only` choose.
    static func request(_ schema: EntitySchema, _ reading: StudioReading) throws -> StoreRequest {
        StoreRequest(
            entityID: schema.id, includesSubentities: reading.query["only"] == nil,
            predicate: try StudioProblem.of("where") { try filter(schema, reading) })
    }

    private static func filter(_ schema: EntitySchema, _ reading: StudioReading) throws -> FetchPredicate? {
        guard let text = try reading.text("where") else { return nil }
        do {
            let (format, objects) = try ObjectComparison.taken(from: text, in: reading.store)
            let written = try FetchPredicate(format: format, argumentArray: objects)
            return try ObjectComparison.checked(
                reading.propertyNames.predicate(written, of: schema), schema, reading.moment.schema)
        } catch {
            var problem = StudioProblem(error)
            problem.suggestion = WordSearch.condition(for: text, of: schema, reading.moment.schema)
            throw problem
        }
    }

    /// The objects of the table, or a part of them; an error is that of the order if the filter alone has none.
    func ids(_ part: StoreRequest, in snapshot: Snapshot) throws -> [ObjectID] {
        do {
            return try snapshot.fetch(part)
        } catch {
            var field = "where"
            if let error = error as? StrataError, error.code != .budgetExceeded, !part.sort.isEmpty {
                _ = try StudioProblem.of(field) { try snapshot.count(matching) }
                field = "sort"
            }
            return try StudioProblem.of(field) { throw error }
        }
    }

    /// The cells of some objects, each with its object.
    func rows(
        of ids: [ObjectID], in snapshot: Snapshot
    ) throws -> [(object: ObjectID, cells: ArraySlice<PredicateOperand>)] {
        try StudioProblem.of("columns") {
            try stream.rows(of: ids, in: snapshot).map { ($0.object, $0.cells.prefix(columns.count)) }
        }
    }

    /// The order, which is checked apart from the filter, so that an error is shown in its place.
    private static func sort(
        _ entity: EntitySchema, _ all: StoreRequest, _ reading: StudioReading, _ absent: inout [String]
    ) throws -> [SortDescription] {
        try StudioProblem.of("sort") {
            var sorted = all
            let keys = try SortText.parse(try reading.text("sort"))
            guard keys.count <= mostKeys else {
                throw UsageError("The order has \(keys.count) keys; it may have \(mostKeys) at most.")
            }
            sorted.sort = try present(keys, &absent) { written in
                try reading.propertyNames.order([written], of: entity)[0]
            }
            _ = try CompiledRows(RowsRequest(objects: sorted, columns: [ColumnText.object]), reading.moment.schema)
            return sorted.sort
        }
    }

    private static func columns(
        _ schema: EntitySchema, _ reading: StudioReading, _ absent: inout [String]
    ) throws -> [OutputColumn] {
        guard let text = try reading.text("columns") else {
            return Array(ColumnText.usual(of: schema).dropFirst().prefix(usualColumns))
        }
        return try StudioProblem.of("columns") {
            let written = try ColumnText.parse(text, of: schema)
            guard written.count <= mostColumns else {
                throw UsageError("These are \(written.count) columns; there may be \(mostColumns) at most.")
            }
            let columns = try present(written, &absent) {
                try reading.propertyNames.column($0, of: schema)
            }
            guard !RowsRequest(objects: StoreRequest(entityID: schema.id), columns: columns).isGrouped else {
                throw UsageError("A column shows a value of each object, not of a group.")
            }
            return columns
        }
    }

    /// The parts of a list in the names of the moment, without those that its model does not have.
    private static func present<Part>(
        _ parts: [Part], _ absent: inout [String], _ named: (Part) throws -> Part
    ) throws -> [Part] {
        try parts.compactMap { part in
            do {
                return try named(part)
            } catch let error as AbsentProperty {
                if !absent.contains(error.name) { absent.append(error.name) }
                return nil
            }
        }
    }
}
