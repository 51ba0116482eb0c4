public import StrataModel
import StrataStore

/// A request for rows of a view as values. `ManagedObjectContext.rows(of:)` begins one.
///
/// Each method returns the request with one condition or column more. `prefix` and `all` run it. Use it in the
/// isolation of its context.
public struct ViewRows<Row: ViewRow> {
    let context: ManagedObjectContext
    /// The request that runs.
    public private(set) var request: ViewFetchRequest

    /// The direction of an order.
    public enum Direction: Sendable {
        /// The smallest first.
        case ascending
        /// The largest first.
        case descending
    }

    init(_ context: ManagedObjectContext) {
        self.context = context
        request = ViewFetchRequest(Row.view.name)
    }

    // MARK: Building

    /// The request for rows that meet a further condition on their columns.
    public func `where`(_ condition: (ViewRowExpression<Row>) -> ValueExpression<Bool>) -> ViewRows {
        with { $0 = $0.where(condition(ViewRowExpression()).predicate) }
    }

    /// The request with a further column to sort by.
    public func sorted<Value>(by column: KeyPath<Row, Value>, _ direction: Direction = .ascending) -> ViewRows {
        with { $0 = $0.sorted(by: ViewRowExpression<Row>.name(column), ascending: direction == .ascending) }
    }

    /// The request without its first rows.
    public func dropFirst(_ count: Int) -> ViewRows { with { $0.fetchOffset += count } }

    func with(_ change: (inout ViewFetchRequest) -> Void) -> ViewRows {
        var copy = self
        change(&copy.request)
        return copy
    }

    // MARK: Running

    /// All rows.
    ///
    /// - Throws: as `ManagedObjectContext.fetchRows(_:)`; `wrongType` for a value that does not fit its property.
    public func all() throws -> [Row] { try context.fetchRows(request).values() }

    /// Returns at most this many rows; 0 for none.
    ///
    /// - Throws: as `all()`.
    /// - Complexity: O(rows) in an order that the view declares.
    public func prefix(_ count: Int) throws -> [Row] {
        // A request takes 0 for no limit.
        count == 0 ? [] : try with { $0.fetchLimit = count }.all()
    }

    /// The first row; nil if there is none.
    ///
    /// - Throws: as `all()`.
    public func first() throws -> Row? { try prefix(1).first }

    /// The rank of a row in the order of the request, which its view ranks.
    ///
    /// - Parameter row: says what the keys of the row are that the request does not fix.
    /// - Returns: nil if there is no such row.
    /// - Throws: as `ManagedObjectContext.rank(of:in:)`.
    /// - Complexity: as `ManagedObjectContext.rank(of:in:)`.
    public func rank(of row: (ViewRowExpression<Row>) -> ValueExpression<Bool>) throws -> ViewRank? {
        try context.rank(of: row(ViewRowExpression()).predicate, in: request)
    }

    /// A row with those before and behind it, in an order that its view ranks.
    ///
    /// - Parameters:
    ///   - row: as for `rank(of:)`.
    ///   - before: the most rows before it.
    ///   - after: the most rows behind it.
    /// - Returns: none if there is no such row.
    /// - Throws: as `rank(of:)` and `all()`.
    /// - Complexity: O(rows), and as `rank(of:)`.
    public func rows(
        around row: (ViewRowExpression<Row>) -> ValueExpression<Bool>, before: Int, after: Int
    ) throws -> [Row] {
        let predicate = row(ViewRowExpression()).predicate
        return try context.fetchRows(around: predicate, before: before, after: after, in: request)?.rows.values() ?? []
    }

    /// Runs the request and explains how.
    ///
    /// - Parameter limit: the most rows; 0 for all.
    /// - Throws: as `ManagedObjectContext.fetchRows(_:)`.
    public func explain(limit: Int = 0) throws -> QueryExplanation {
        try context.explain(with { $0.fetchLimit = limit }.request)
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

extension ResultRows {
    /// The rows of a view as values.
    ///
    /// - Throws: `unknownKey` for a property that is no column of these rows; `wrongType` for a value that does not
    ///   fit its property.
    public func values<Row: ViewRow>(of type: Row.Type = Row.self) throws -> [Row] {
        try map { try Row(_columns: ViewColumns(viewName: Row.view.name, names: names, values: $0)) }
    }
}

extension ManagedObjectContext {
    /// Begins a request for rows of a declared view, as of the context's state and with its unsaved changes.
    public func rows<Row: ViewRow>(of type: Row.Type) -> ViewRows<Row> { ViewRows(self) }
}
