import StrataModel
import StrataStore

/// The most frequent values of a property among the objects of a table, and ranges of its numbers or dates.
///
/// Parameters: `where`, `only`, as for the table.
struct FacetPage: Encodable {
    struct Part: Encodable, Equatable {
        let value: StudioCell
        let count: Int
        /// The condition by which a filter keeps only these objects; nil if the format language cannot write the value.
        let condition: String?
    }

    /// Values from `from` up to `to`, without `to` unless the range is closed.
    struct Range: Encodable, Equatable {
        let from: StudioCell
        let to: StudioCell
        /// Whether `to` belongs to the range, which is the last: its type has no round value after the objects'.
        let isClosed: Bool
        let count: Int
        let condition: String
    }

    let moment: StudioMoment
    let entity: String
    let property: String
    let parts: [Part]
    /// Whether there are more values.
    let isCut: Bool
    /// In their order, without gaps; empty if the values are few, or are neither numbers nor dates.
    let ranges: [Range]

    private static let most = 15
    /// A longer text, in bytes, is no condition that anybody reads.
    private static let longestCondition = 500

    init(_ name: String, _ property: String, _ reading: StudioReading) throws {
        moment = try StudioMoment(reading)
        let schema = try StudioProblem.of("entity") { try reading.moment.entity(named: name) }
        guard let known = try Self.found(property, schema, reading), known.isVisibleInRow else {
            let asked = ValueText.harmless(property)
            throw StudioProblem(404, "\(schema.name) has no value '\(asked)'.", field: "property")
        }
        entity = schema.name
        self.property = known.name
        var request = RowsRequest(
            objects: try StudioTable.request(schema, reading),
            columns: [OutputColumn(known.name), ColumnText.count], groupBy: [known.name])
        request.objects.sort = try SortText.parse("-count", isOfGroups: true)
        if !known.hasRanges { request.objects.limit = Self.most + 1 }
        let rows = try StudioProblem.of(request.objects.predicate == nil ? "property" : "where") {
            try reading.read { snapshot in try snapshot.rows(request).map { Array($0) } }
        }
        isCut = rows.count > Self.most
        ranges = isCut ? Self.ranges(known.name, rows.map { ($0[0], Self.number($0[1])) }, reading.links) : []
        parts = rows.prefix(Self.most).map { row in
            Part(
                value: StudioCell(row[0], reading.links), count: Self.number(row[1]),
                condition: Self.condition(known.name, row[0], reading))
        }
    }

    /// The property with this name in any model of the store.
    private static func found(
        _ name: String, _ schema: EntitySchema, _ reading: StudioReading
    ) throws -> PropertySchema? {
        do {
            return try reading.propertyNames.property(named: name, of: schema)
        } catch {
            throw StudioProblem(404, error.sentence, field: "property")
        }
    }

    private static func ranges(
        _ name: String, _ counts: [(value: AttributeValue, count: Int)], _ links: LinkNames
    ) -> [Range] {
        ValueRanges(counts).list.map { range in
            Range(
                from: StudioCell(range.from, links), to: StudioCell(range.to, links), isClosed: range.isClosed,
                count: range.count, condition: range.condition(of: name).description)
        }
    }

    private static func number(_ value: AttributeValue) -> Int {
        if case .integer(let number) = value { Int(number) } else { 0 }
    }

    private static func condition(_ name: String, _ value: AttributeValue, _ reading: StudioReading) -> String? {
        switch value {
        case .objectID(let id): "\(FetchExpression.keyPath(name)) == \(reading.names.name(of: id))"
        case .string(let text) where text.utf8.count > longestCondition: nil
        case .null, .boolean, .integer, .double, .float, .string, .date, .decimal:
            FetchPredicate.equal(name, value).description
        default: nil
        }
    }
}

extension PropertySchema {
    /// Whether its values are numbers or dates.
    fileprivate var hasRanges: Bool {
        switch attribute?.type {
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .date: true
        default: false
        }
    }
}
