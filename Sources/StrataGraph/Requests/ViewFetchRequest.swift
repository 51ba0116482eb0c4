public import StrataModel
import StrataStore

/// A request for rows of a view that the model declares.
///
/// ```swift
/// let best = ViewFetchRequest(
///     "StudioSales", where: try FetchPredicate(format: "films > 10"),
///     sortedBy: [SortDescription("gross", isAscending: false)], limit: 20)
/// for row in try context.fetchRows(best).dictionaries { print(row) }
/// ```
public struct ViewFetchRequest: Sendable {
    /// The name of the view in the model.
    public var viewName: String
    /// The condition that a row must meet; it uses columns by name. nil is met by all.
    public var predicate: FetchPredicate?
    /// The order of the rows, by names of columns; without one, rows are in the order of their keys.
    public var sortDescriptors: [SortDescription]
    /// The number of rows to return at most; 0 for no limit.
    public var fetchLimit: Int
    /// The number of rows to skip.
    public var fetchOffset: Int
    /// Whether the rows include the context's unsaved changes.
    public var includesPendingChanges = true
    /// The work and memory that the request may take; nil for the budget of the container's options.
    public var budget: RequestBudget?

    /// A request for a view by its name. It is checked when it runs.
    public init(
        _ viewName: String, where predicate: FetchPredicate? = nil, sortedBy sortDescriptors: [SortDescription] = [],
        limit: Int = 0, offset: Int = 0
    ) {
        self.viewName = viewName
        self.predicate = predicate
        self.sortDescriptors = sortDescriptors
        fetchLimit = limit
        fetchOffset = offset
    }

    var storeRequest: ViewRequest {
        ViewRequest(viewName, where: predicate, sortedBy: sortDescriptors, limit: fetchLimit, offset: fetchOffset)
    }

    // MARK: Building

    /// The request with a further condition on the columns.
    public func `where`(_ predicate: FetchPredicate) -> ViewFetchRequest {
        with { $0.predicate = $0.predicate.map { $0 && predicate } ?? predicate }
    }

    /// The request with a further column to sort by.
    public func sorted(by column: String, ascending: Bool = true) -> ViewFetchRequest {
        with { $0.sortDescriptors.append(SortDescription(column, isAscending: ascending)) }
    }

    /// The request for at most this number of rows.
    public func prefix(_ count: Int) -> ViewFetchRequest { with { $0.fetchLimit = count } }

    private func with(_ change: (inout ViewFetchRequest) -> Void) -> ViewFetchRequest {
        var copy = self
        change(&copy)
        return copy
    }
}

extension ManagedObjectContext {
    /// Fetches rows of a declared view, as of the context's state and with its unsaved changes.
    ///
    /// - Throws: `unknownKey` for a view or column that the model does not have; `invalidRequest`; `budgetExceeded`.
    /// - Complexity: O(groups of the view); O(log n) for a condition that says what all keys are; O(rows) for the first
    ///   rows in an order that the view declares. O(log n) more for each object that is unsaved or has changed since
    ///   the context's state.
    public func fetchRows(_ request: ViewFetchRequest) throws -> ResultRows {
        try reading(request) { try $0.rows(request.storeRequest) }
    }

    /// Runs a request for rows of a declared view and explains how: which rows of the view were read, and in which
    /// order.
    ///
    /// - Throws: as `fetchRows(_:)`.
    public func explain(_ request: ViewFetchRequest) throws -> QueryExplanation {
        try reading(request) { try $0.explain(request.storeRequest) }
    }

    /// Returns the rank of a row of a declared view among those of a request, as of the context's state and with its
    /// unsaved changes.
    ///
    /// ```swift
    /// let best = ViewFetchRequest("OwnerRatings").sorted(by: "mean", ascending: false)
    /// if let rank = try context.rank(of: FetchPredicate(format: "owner == %@", person), in: best) {
    ///     print("\(rank.rank) of \(rank.count)")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - row: says what the keys of the row are that the request's condition does not fix.
    ///   - request: in an order that the view ranks (`ViewSource.ranked(by:ascending:)`), possibly with a condition that
    ///     fixes the first columns of this order. Its limit and offset do not matter.
    /// - Returns: nil if there is no such row.
    /// - Throws: as `fetchRows(_:)`; `invalidRequest` if the view does not rank the order, or for other conditions.
    /// - Complexity: O(log n), and O(log n) for each object that is unsaved or has changed since the context's state.
    public func rank(of row: FetchPredicate, in request: ViewFetchRequest) throws -> ViewRank? {
        try reading(request) { try $0.rank(of: row, in: request.storeRequest) }
    }

    /// Fetches a row of a declared view with those before and behind it.
    ///
    /// - Parameters:
    ///   - row: as for `rank(of:in:)`.
    ///   - before: the most rows before it.
    ///   - after: the most rows behind it.
    ///   - request: as for `rank(of:in:)`.
    /// - Returns: the rows, with the rank of the one in question; nil if there is no such row.
    /// - Throws: as `rank(of:in:)`; `invalidRequest` for negative numbers of rows.
    /// - Complexity: O(rows), and as `rank(of:in:)`.
    public func fetchRows(
        around row: FetchPredicate, before: Int, after: Int, in request: ViewFetchRequest
    ) throws -> (rows: ResultRows, rank: ViewRank)? {
        try reading(request) {
            try $0.rows(around: row, before: before, after: after, in: request.storeRequest)
        }
    }

    private func reading<R>(_ request: ViewFetchRequest, _ body: (Snapshot) throws -> R) throws -> R {
        if automaticallyMergesChangesFromParent { try moveIfOthersSaved() }
        let layers = request.includesPendingChanges ? try pendingLayers() : []
        return try read(pending: layers, budget: request.budget ?? binding.requestBudget, body)
    }

    /// Fetches all rows of a declared view, in the order of their keys.
    ///
    /// - Throws: as `fetchRows(_:)`.
    public func rows(of viewName: String) throws -> ResultRows { try fetchRows(ViewFetchRequest(viewName)) }
}

extension ViewFetchRequest: CustomStringConvertible {
    /// The view, the condition, the order, limit and offset.
    public var description: String {
        RequestText.written(
            viewName, predicate, RequestText.order(sortDescriptors), RequestText.number("limit", fetchLimit),
            RequestText.number("offset", fetchOffset))
    }
}
