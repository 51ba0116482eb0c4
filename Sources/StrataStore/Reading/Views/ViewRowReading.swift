import LMDB
import StrataModel

/// Collects the rows that meet a request's condition.
struct ViewRowReading {
    let view: PreparedView
    let request: ViewRequest
    /// The rest of the request's condition once groups are found by their keys.
    private let condition: FetchPredicate?
    private let evaluation: Evaluation
    private let snapshot: Snapshot
    private var rows: [[AttributeValue]] = []
    private(set) var readCount = 0
    /// The number of rows before the offset that are not read at all.
    var skipped = 0

    init(
        _ request: ViewRequest, _ access: ViewAccess, _ view: PreparedView, _ snapshot: Snapshot, readsFirst: Bool
    ) {
        self.request = request
        // In an order of the view groups are not found by their keys.
        let isCovered = readsFirst ? access.ordered?.coversCondition == true : access.coversCondition
        condition = isCovered ? nil : request.predicate
        self.view = view
        self.snapshot = snapshot
        evaluation = Evaluation(snapshot)
    }

    /// Whether there are all rows to be skipped and returned.
    var hasEnough: Bool {
        rows.count >= StoreRequest.needed(limit: request.limit, offset: request.offset - skipped) ?? .max
    }

    /// - Returns: false if the group does not meet the condition.
    @discardableResult
    mutating func take(_ group: ViewGroup) throws -> Bool {
        try take(try view.columns(group.key, group.state, evaluation))
    }

    /// The same with the bytes of the group's record.
    mutating func take(stored: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer) throws {
        do {
            _ = try take(try view.columns(stored: stored, record, evaluation))
        } catch let error as CorruptRecord {
            throw StrataError.corrupt(error, "viewGroups", view.context)
        }
    }

    private mutating func take(_ row: [AttributeValue]) throws -> Bool {
        readCount += 1
        if let condition {
            let context = ViewRowContext(view: view.description, values: row)
            guard try PredicateEvaluator(context, object: .one(.null)).holds(condition) else { return false }
        }
        try snapshot.hold(row.count * MemoryLayout<AttributeValue>.stride)
        rows.append(row)
        return true
    }

    /// - Parameter groups: those of the rows.
    mutating func sort(by ordered: ViewAccess.Ordered, _ groups: [ViewGroup]) throws {
        let entries = try groups.map { try ordered.order.entry(view, $0) }
        rows = rows.indices
            .sorted { entries[$0].precedes(entries[$1], isForward: ordered.isForward) }.map { rows[$0] }
    }

    mutating func sort(by order: [CompiledRows.RowOrder]) {
        if order.isEmpty { return }
        rows = rows.indices.sorted { left, right in
            for key in order {
                let order = key.compare(rows[left][key.column], rows[right][key.column], evaluation)
                if order != 0 { return order < 0 }
            }
            return left < right
        }.map { rows[$0] }
    }

    func result() -> ResultRows {
        var result = ResultRows(names: view.columnNames)
        let rest = rows.dropFirst(request.offset - skipped)
        for row in request.limit > 0 ? rest.prefix(request.limit) : rest { result.append(row) }
        return result
    }
}
