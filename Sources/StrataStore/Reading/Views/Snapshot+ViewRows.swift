import LMDB
package import StrataModel

extension Snapshot {
    /// The rows of a declared view in this state.
    ///
    /// The groups that the tables have are corrected by the rows that the snapshot's layers cover: at a past moment
    /// those that changed since, with unsaved changes those too. Groups of a view that catches up are corrected by what
    /// changed since their own state, too. Through an older model than the store's, and while such a view is built, all
    /// objects are grouped again.
    ///
    /// - Throws: `unknownKey` for a view or column that the model does not have; `invalidRequest`; `corrupt`;
    ///   `viewFailed` for an object that a view that catches up cannot group.
    /// - Complexity: O(groups + rows in layers); O(log groups) for a condition that names all keys, and O(rows to be
    ///   skipped or returned) for the first rows in an order that the view declares.
    package func rows(_ request: ViewRequest) throws -> ResultRows { try countedRows(request).rows }

    /// The rows, and how many groups were read for them.
    func countedRows(_ request: ViewRequest) throws -> (rows: ResultRows, readCount: Int) {
        try namingFaults(request) { try readRows(request) }
    }

    /// Says which object it was if a view that catches up or is being built cannot group it.
    func namingFaults<R>(_ request: ViewRequest, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let fault as ViewFault {
            let view = try preparedView(request.viewName)
            if view.isInline, try ViewProgress.read(view.id, transaction, tables) == nil { throw fault.cause }
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
        if let condition = request.predicate { try check(condition, view) }
        let access = ViewAccess(request, view)
        let kept = try kept(view)
        let readsFirst = readsFirst(request, access, kept)
        var reading = ViewRowReading(request, access, view, self, readsFirst: readsFirst)
        if let ordered = access.ordered, let tables = kept.tables, readsFirst {
            try readFirst(ordered, tables, kept, &reading)
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

    /// The view of the model with a name.
    func preparedView(_ name: String) throws -> PreparedView {
        let views = try IndexMap.of(schema).views
        if let view = views.view(named: name) { return view }
        let names = views.views.map(\.description.name)
        throw StrataError(
            .unknownKey, "The model has no view \(name)\(NearestName.ending(for: name, among: names))",
            context: .init(key: name))
    }

    /// Refuses names that are no columns, and values that can never equal a column's.
    private func check(_ condition: FetchPredicate, _ view: PreparedView) throws {
        let names = view.columnNames
        for path in condition.keyPaths.sorted() where !names.contains(path) {
            // The evaluation reports other faults of it.
            _ = try ViewRowContext(view: view.description, values: []).operand(atPath: path)
        }
        guard let entity = schema.entity(named: view.description.entityName) else { return }
        var check = PredicateCheck(entity, schema)
        check.columns = view.columnTypes
        try check.check(condition)
    }

    private func order(_ sort: [SortDescription], _ view: PreparedView) throws -> [CompiledRows.RowOrder] {
        let names = view.columnNames
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

extension PreparedView {
    /// The types of the columns, the keys first.
    static func types(of keys: [Value], _ aggregates: [Aggregate]) -> [ExpressionType] {
        func type(_ value: Value?) -> ExpressionType {
            guard let value else { return .value(.object) }
            guard let type = value.type else { return .value(.object) }
            return .value(ComparedType(AttributeDescription(name: "", type: type)))
        }
        return keys.map { type($0) }
            + aggregates.map { aggregate in
                switch aggregate.function {
                case .count, .countDistinct: .value(.integer)
                case .sum, .average: .number
                case .min, .max: type(aggregate.value)
                case .first, .last: aggregate.isList ? .unknown : type(aggregate.shown)
                case .projection: .unknown
                }
            }
    }
}
