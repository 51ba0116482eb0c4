public import StrataModel
import StrataStore

/// A row of a declared view as a value. `@View` makes a struct one.
///
/// ```swift
/// @View struct StudioSales {
///     static let source = ViewSource(Film.self).where { $0.isReleased }.ordered(by: "gross", ascending: false)
///     @Key(\Film.studio) var studio: ObjectID?
///     @Count var films: Int
///     @Sum(\Film.gross) var gross: Decimal
/// }
/// let best = ViewRows(of: StudioSales.self).where { $0.films > 10 }.sorted(by: \.gross, ascending: false).prefix(20)
/// for row in try context.rows(best) { print(row.films, row.gross) }
/// ```
public protocol ViewRow: Sendable {
    /// The view, to be declared when a container is made.
    static var view: ViewDescription { get }
    /// Makes the value of the columns of a row.
    init(_columns: ViewColumns) throws
    /// The column of a property; nil for one that is no column.
    static func _columnName(_ path: PartialKeyPath<Self>) -> String?
}

/// The columns of a row of a view, to be read as Swift values.
public struct ViewColumns {
    let viewName: String
    let names: [String]
    let values: ArraySlice<AttributeValue>

    /// The value of a column.
    ///
    /// - Throws: `unknownKey` for a column that the view does not have; `wrongType` for a value of another type, or nil.
    public func value<Value: StorableValue>(_ column: String) throws -> Value {
        guard let value: Value = try value(column) else {
            throw StrataError(
                .wrongType, "The column \(column) of the view \(viewName) is nil and has no \(Value.self).",
                context: .init(key: column))
        }
        return value
    }

    /// The value of a column that may be nil.
    ///
    /// - Throws: `unknownKey` for a column that the view does not have; `wrongType` for a value of another type.
    public func value<Value: StorableValue>(_ column: String) throws -> Value? {
        guard let index = names.firstIndex(of: column) else {
            throw StrataError(
                .unknownKey,
                "The view \(viewName) has no column \(column)\(NearestName.ending(for: column, among: names))",
                context: .init(key: column))
        }
        let value = values[values.startIndex + index]
        if value.isNull { return nil }
        // An average or an empty sum may be a whole number.
        for candidate in [value] + value.wholeAsOthers {
            if let value = Value(attributeValue: candidate) { return value }
        }
        throw StrataError(
            .wrongType, "The column \(column) of the view \(viewName) has \(value), which is no \(Value.self).",
            context: .init(key: column))
    }
}

extension AttributeValue {
    fileprivate var wholeAsOthers: [AttributeValue] {
        guard case .integer(let number) = self else { return [] }
        return [.double(Double(number)), .decimal(.init(number))]
    }
}

/// A request for rows of a view as values.
public struct ViewRows<Row: ViewRow>: Sendable {
    /// The request that runs.
    public private(set) var request: ViewFetchRequest

    /// A request for all rows, in the order of their keys.
    public init(of type: Row.Type = Row.self) { request = ViewFetchRequest(Row.view.name) }

    /// The request for rows that meet a further condition on their columns.
    public func `where`(_ condition: (ViewRowExpression<Row>) -> ValueExpression<Bool>) -> ViewRows {
        with { $0 = $0.where(condition(ViewRowExpression()).predicate) }
    }

    /// The request with a further column to sort by.
    public func sorted<Value>(by column: KeyPath<Row, Value>, ascending: Bool = true) -> ViewRows {
        with { $0 = $0.sorted(by: ViewRowExpression<Row>.name(column), ascending: ascending) }
    }

    /// The request for so many rows at most.
    public func prefix(_ count: Int) -> ViewRows { with { $0 = $0.prefix(count) } }

    private func with(_ change: (inout ViewFetchRequest) -> Void) -> ViewRows {
        var copy = self
        change(&copy.request)
        return copy
    }
}

/// A row of a view in a condition: its properties are the columns.
@dynamicMemberLookup
public struct ViewRowExpression<Row: ViewRow> {
    static func name(_ path: PartialKeyPath<Row>) -> String {
        guard let name = Row._columnName(path) else {
            preconditionFailure("\(path) is no column of the view \(Row.view.name), so no request can use it.")
        }
        return name
    }

    /// A column.
    public subscript<Value>(dynamicMember path: KeyPath<Row, Value>) -> ValueExpression<Value> {
        ValueExpression(.keyPath(Self.name(path)), mayBeNil: false, encode: QueryConstant.of)
    }

    /// A column that may be nil.
    public subscript<Value>(dynamicMember path: KeyPath<Row, Value?>) -> ValueExpression<Value> {
        ValueExpression(.keyPath(Self.name(path)), mayBeNil: true, encode: QueryConstant.of)
    }
}

extension ManagedObjectContext {
    /// Fetches rows of a declared view as values.
    ///
    /// - Throws: as `fetchRows(_:)`; `wrongType` for a column whose value does not fit the property.
    public func rows<Row: ViewRow>(_ rows: ViewRows<Row>) throws -> [Row] {
        let found = try fetchRows(rows.request)
        return try found.map {
            try Row(_columns: ViewColumns(viewName: rows.request.viewName, names: found.names, values: $0))
        }
    }
}
