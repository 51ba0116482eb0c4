import LMDB
package import StrataModel

extension Snapshot {
    /// Returns the rank of a row among those of a request, in an order that its view ranks.
    ///
    /// - Parameter row: a condition that determines, with that of the request, all keys of the row.
    /// - Returns: nil if there is no such row, or if it does not meet the request.
    /// - Throws: as `rows(_:)`; `invalidRequest` if the view does not rank the order of the request, or if the conditions
    ///   say more or less than keys.
    /// - Complexity: O(log n), and O(groups that the tables have otherwise) in another state than theirs.
    package func rank(of row: FetchPredicate, in request: ViewRequest) throws -> ViewRank? {
        try namingFaults(request) { try place(of: row, in: request) }
    }

    /// The rows around one, in an order that its view ranks.
    ///
    /// - Parameters:
    ///   - row: as for `rank(of:in:)`.
    ///   - before: the most rows before it.
    ///   - after: the most rows behind it.
    /// - Returns: the rows with the one in question, and its rank; nil if there is no such row.
    /// - Throws: as `rank(of:in:)`.
    /// - Complexity: O(rows + log n), and O(groups that the tables have otherwise) in another state than theirs.
    package func rows(
        around row: FetchPredicate, before: Int, after: Int, in request: ViewRequest
    ) throws -> (rows: ResultRows, rank: ViewRank)? {
        guard before >= 0, after >= 0 else {
            throw StrataError(.invalidRequest, "The numbers of rows before and after a row cannot be negative.")
        }
        guard let rank = try rank(of: row, in: request) else { return nil }
        var request = request
        request.offset = max(0, rank.index - before)
        request.limit = rank.index - request.offset + after + 1
        return (try rows(request), rank)
    }

    private func place(of row: FetchPredicate, in request: ViewRequest) throws -> ViewRank? {
        let view = try preparedView(request.viewName)
        guard let ordered = ViewAccess(request, view).ordered, ordered.order.isRanked, ordered.coversCondition else {
            throw StrataError(
                .invalidRequest,
                "The view \(request.viewName) does not rank the order of the request within its condition. Declare it: "
                    + "ranked(by:), or ViewOrder with isRanked.", context: view.context)
        }
        var whole = request
        whole.predicate = request.predicate.map { $0 && row } ?? row
        let access = ViewAccess(whole, view)
        guard access.isOneGroup, access.coversCondition else {
            throw StrataError(
                .invalidRequest,
                "A row to be ranked is found by its keys; say what each of \(view.description.keys.map(\.name)) is, and no "
                    + "more.", context: view.context)
        }
        var found: ViewGroup?
        try forEachGroup(of: view, access) { found = $0 }
        guard let found else { return nil }
        let kept = try kept(view)
        let rows = try OrderedRows(ordered, view, kept.tables, kept, self)
        let entry = try ordered.order.entry(view, found)
        guard entry.columns.starts(with: ordered.prefix) else { return nil }
        return ViewRank(
            rank: try rows.betterCount(than: entry) + 1, index: try rows.index(of: entry), count: try rows.count())
    }
}
