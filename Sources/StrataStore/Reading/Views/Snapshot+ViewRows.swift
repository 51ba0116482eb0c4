import LMDB
package import StrataModel

extension Snapshot {
    /// The rows of a declared view in this state.
    ///
    /// The groups that the tables have are corrected by the rows that the snapshot's layers cover: at a past moment
    /// those that changed since, with unsaved changes those too. Groups of a view that catches up are corrected by what
    /// changed since their own state, too. Through an older model than the store's, and while such a view is built, all
    /// objects are grouped anew.
    ///
    /// - Throws: `unknownKey` for a view or column that the model does not have; `invalidRequest`; `corrupt`;
    ///   `viewFailed` for an object that a view that catches up cannot group.
    /// - Complexity: O(groups + rows in layers); O(log groups) for a condition that names all keys, and O(rows to be
    ///   skipped or returned) for the first rows in an order that the view declares.
    package func rows(_ request: ViewRequest) throws -> ResultRows { try countedRows(request).rows }

    /// The rows, and how many groups were read for them.
    func countedRows(_ request: ViewRequest) throws -> (rows: ResultRows, readCount: Int) {
        do {
            return try readRows(request)
        } catch let fault as ViewFault {
            throw StrataError(
                .viewFailed, "The view \(request.viewName) cannot group an object: \(fault.cause.message)",
                context: .init(objectID: fault.object, key: request.viewName), cause: fault.cause)
        }
    }

    /// Whether a request reads the first rows in an order of its view.
    func readsFirst(_ request: ViewRequest, _ access: ViewAccess, _ kept: KeptView) -> Bool {
        access.ordered != nil && request.limit > 0 && !access.isOneGroup && kept.tables != nil
    }

    private func readRows(_ request: ViewRequest) throws -> (rows: ResultRows, readCount: Int) {
        let view = try preparedView(request.viewName)
        guard request.limit >= 0, request.offset >= 0 else {
            throw StrataError(.invalidRequest, "Limit and offset cannot be negative.", context: view.context)
        }
        let order = try order(request.sort, view)
        let access = ViewAccess(request, view)
        let kept = try kept(view)
        let readsFirst = readsFirst(request, access, kept)
        var reading = ViewRowReading(request, access, view, self, readsFirst: readsFirst)
        if let ordered = access.ordered, let tables = kept.tables, readsFirst {
            try readFirst(ordered, tables, try changes(of: view, since: kept), &reading)
        } else if access.ordered == nil, access.isWithinRecords, layers.isEmpty, kept.state == nil,
            let tables = kept.tables, !view.keys.isEmpty
        {
            try forEachRecord(of: view, access, tables) { try reading.take(stored: $0, $1) }
            reading.sort(by: order)
        } else {
            var groups: [ViewGroup] = []
            try forEachGroup(of: view, access) { group in
                if try reading.take(group), access.ordered != nil { groups.append(group) }
            }
            if let ordered = access.ordered {
                try reading.sort(by: ordered, groups)
            } else {
                reading.sort(by: order)
            }
        }
        return (reading.result(), reading.readCount)
    }

    /// Reads rows in an order until there are enough.
    private func readFirst(
        _ ordered: ViewAccess.Ordered, _ tables: ViewTables, _ changes: GroupChanges?,
        _ reading: inout ViewRowReading
    ) throws {
        let view = reading.view
        var touched: [[UInt8]: ViewGroup] = [:]
        var waiting: [OrderEntry] = []
        if let changes {
            for group in try touchedGroups(of: view, ViewAccess(), tables, changes) {
                touched[group.stored] = group
                guard group.state.rowCount > 0 else { continue }
                let entry = try ordered.order.entry(view, group)
                if entry.columns.starts(with: ordered.prefix) { waiting.append(entry) }
            }
            waiting.sort { $0.precedes($1, isForward: ordered.isForward) }
        }
        var next = waiting[...]
        var isEnough = false
        try transaction.withCursor(tables.orders) { cursor in
            var start = ByteWriter(capacity: 64)
            ordered.order.begin(view, &start)
            let prefix = Array(start.bytes) + ordered.prefix
            try cursor.forEachEntry(after: prefix, isForward: ordered.isForward) { entry in
                try spend(rows: 1)
                while let first = next.first, first.precedes(entry, isForward: ordered.isForward) {
                    next.removeFirst()
                    if let group = touched[first.group] { try reading.take(group) }
                    if reading.hasEnough { break }
                }
                if !reading.hasEnough, touched[entry.group] == nil {
                    try entry.group.withUnsafeBytes { stored in
                        guard let record = try transaction.get(tables.groups, stored) else {
                            throw StrataError(
                                .corrupt, "An order of the view \(view.description.name) has a group that is missing.",
                                context: view.context)
                        }
                        try reading.take(stored: stored, record)
                    }
                }
                isEnough = reading.hasEnough
                return !isEnough
            }
        }
        for entry in next where !reading.hasEnough {
            if let group = touched[entry.group] { try reading.take(group) }
        }
    }

    /// The view of the model with a name.
    func preparedView(_ name: String) throws -> PreparedView {
        let views = try IndexMap.of(schema).views
        if let view = views.view(named: name) { return view }
        let names = views.views.map(\.description.name)
        throw StrataError(
            .unknownKey, "The model has no view \(name)\(NearestName.ending(for: name, among: names))",
            context: .init(key: name))
    }

    private func order(_ sort: [SortDescription], _ view: PreparedView) throws -> [CompiledRows.RowOrder] {
        let names = view.description.columnNames
        return try sort.map { key in
            guard let column = names.firstIndex(of: key.keyPath) else {
                let ending = NearestName.ending(for: key.keyPath, among: names)
                throw StrataError(
                    .unknownKey, "The view \(view.description.name) has no column \(key.keyPath)\(ending)",
                    context: view.context)
            }
            return CompiledRows.RowOrder(column: column, sort: key)
        }
    }
}

/// Collects the rows that meet a request's condition.
private struct ViewRowReading {
    let view: PreparedView
    private let request: ViewRequest
    /// What is left of the request's condition once groups are found by their keys.
    private let condition: FetchPredicate?
    private let evaluation: Evaluation
    private let snapshot: Snapshot
    private var rows: [[AttributeValue]] = []
    private(set) var readCount = 0

    init(
        _ request: ViewRequest, _ access: ViewAccess, _ view: PreparedView, _ snapshot: Snapshot, readsFirst: Bool
    ) {
        self.request = request
        // In an order of the view groups are not found by their keys.
        let isCovered = access.coversCondition && !readsFirst
        condition = isCovered ? nil : request.predicate
        self.view = view
        self.snapshot = snapshot
        evaluation = Evaluation(snapshot)
    }

    /// Whether there are all rows to be skipped and returned.
    var hasEnough: Bool {
        rows.count >= StoreRequest.needed(limit: request.limit, offset: request.offset) ?? .max
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
        var result = ResultRows(names: view.description.columnNames)
        let rest = rows.dropFirst(request.offset)
        for row in request.limit > 0 ? rest.prefix(request.limit) : rest { result.append(row) }
        return result
    }
}
