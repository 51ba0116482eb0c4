import LMDB
package import StrataModel

extension Snapshot {
    /// The rows of a declared view in this state.
    ///
    /// The groups that the tables have are corrected by the rows that the snapshot's layers cover: at a past moment
    /// those that changed since, with unsaved changes those too. Through an older model than the store's, all objects
    /// are grouped anew.
    ///
    /// - Throws: `unknownKey` for a view or column that the model does not have; `invalidRequest`; `corrupt`.
    /// - Complexity: O(groups + rows in layers).
    package func rows(_ request: ViewRequest) throws -> ResultRows {
        let view = try preparedView(request.viewName)
        guard request.limit >= 0, request.offset >= 0 else {
            throw StrataError(.invalidRequest, "Limit and offset cannot be negative.", context: context(of: view))
        }
        let order = try order(request.sort, view)
        var rows: [[AttributeValue]] = []
        try forEachGroup(of: view) { key, state in
            let row = try view.columns(key, state)
            if let predicate = request.predicate {
                let context = ViewRowContext(view: view.description, values: row)
                let evaluator = PredicateEvaluator(context, object: .one(.null))
                guard try evaluator.holds(predicate) else { return }
            }
            try hold(row.count * MemoryLayout<AttributeValue>.stride)
            rows.append(row)
        }
        if !order.isEmpty {
            let evaluation = Evaluation(self)
            let sorted = rows.indices.sorted { left, right in
                for key in order {
                    let order = key.compare(rows[left][key.column], rows[right][key.column], evaluation)
                    if order != 0 { return order < 0 }
                }
                return left < right
            }
            rows = sorted.map { rows[$0] }
        }
        var result = ResultRows(names: view.description.columnNames)
        let rest = rows.dropFirst(request.offset)
        for row in request.limit > 0 ? rest.prefix(request.limit) : rest { result.append(row) }
        return result
    }

    private func preparedView(_ name: String) throws -> PreparedView {
        let views = try IndexMap.of(schema).views
        if let view = views.view(named: name) { return view }
        let names = views.views.map(\.description.name)
        throw StrataError(
            .unknownKey, "The model has no view \(name)\(NearestName.ending(for: name, among: names))",
            context: .init(key: name))
    }

    private func context(of view: PreparedView) -> StrataError.Context {
        .init(entityName: view.description.entityName, key: view.description.name)
    }

    private func order(_ sort: [SortDescription], _ view: PreparedView) throws -> [CompiledRows.RowOrder] {
        let names = view.description.columnNames
        return try sort.map { key in
            guard let column = names.firstIndex(of: key.keyPath) else {
                let ending = NearestName.ending(for: key.keyPath, among: names)
                throw StrataError(
                    .unknownKey, "The view \(view.description.name) has no column \(key.keyPath)\(ending)",
                    context: context(of: view))
            }
            return CompiledRows.RowOrder(column: column, sort: key)
        }
    }

    // MARK: Groups

    /// Calls `body` with the whole key (without the view's number) and the state of each group, in key order.
    func forEachGroup(of view: PreparedView, _ body: ([UInt8], GroupState) throws -> Void) throws {
        var count = 0
        func visit(_ key: [UInt8], _ state: GroupState) throws {
            guard state.rowCount > 0 else { return }
            count += 1
            try body(key, state)
        }
        if let tables = tables.views, !histories.isPast {
            try forEachGroup(of: view, tables, visit)
        } else {
            try forEachGroup(of: view, madeAnew: try groupsAnew(of: view), visit)
        }
        // As in rows of values: without keys there is one group even if there are no objects.
        if count == 0, view.keys.isEmpty { try body([], GroupState(view)) }
    }

    private func forEachGroup(
        of view: PreparedView, _ tables: ViewTables, _ body: ([UInt8], GroupState) throws -> Void
    ) throws {
        guard let changes = try changesOfLayers(view) else {
            return try forEachStoredGroup(of: view, tables, body)
        }
        try changes.lay(over: tables, transaction)
        // The order of the tables is not quite that of the keys, because long ones are cut.
        var groups: [(key: [UInt8], state: GroupState)] = []
        var others = Set(changes.keys)
        try forEachStoredGroup(of: view, tables) { key, state in
            others.remove(key)
            groups.append((key, try changes.laid(over: state, key: key, view, tables, transaction) ?? state))
        }
        for key in others {
            guard let state = try changes.laid(over: nil, key: key, view, tables, transaction) else { continue }
            groups.append((key, state))
        }
        groups.sort { $0.key.lexicographicallyPrecedes($1.key) }
        for group in groups { try body(group.key, group.state) }
    }

    private func forEachStoredGroup(
        of view: PreparedView, _ tables: ViewTables, _ body: ([UInt8], GroupState) throws -> Void
    ) throws {
        try ViewKeys.withPrefix(of: view.id) { prefix in
            try transaction.withCursor(tables.groups) { cursor in
                var found = try cursor.seek(atOrAfter: prefix)
                while found, cursor.key.hasPrefix(prefix) {
                    try spend(rows: 1)
                    let (key, state) = try decode(cursor.key, cursor.value, view)
                    try body(key, state)
                    found = try cursor.next()
                }
            }
        }
    }

    private func decode(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ view: PreparedView
    ) throws -> (key: [UInt8], state: GroupState) {
        do throws(CorruptRecord) {
            return try GroupState.decode(key, value, view)
        } catch {
            throw StrataError.corrupt(error, "viewGroups", context(of: view))
        }
    }

    /// What the rows in the layers change of the view's groups; nil without layers.
    private func changesOfLayers(_ view: PreparedView) throws -> GroupChanges? {
        if layers.isEmpty { return nil }
        let changes = GroupChanges()
        try addDifference(of: view, 1, to: changes)
        return changes
    }

    /// Adds what the rows in the layers change of a view's groups.
    ///
    /// - Parameter sign: 1, or -1 for the reverse: from this state to that of the tables.
    func addDifference(of view: PreparedView, _ sign: Int64, to changes: GroupChanges) throws {
        let base = Snapshot(
            eventNumber: eventNumber, schema: schema, transaction: transaction, tables: tables, histories: histories,
            layers: [])
        let (before, after) = (Evaluation(base), Evaluation(self))
        for id in try concerned(view, base) {
            try spend(rows: 2)
            try base.row(id)?.withNewestReader(id, schema) { try view.add($0, id, -sign, before, to: changes) }
            try row(id)?.withNewestReader(id, schema) { try view.add($0, id, sign, after, to: changes) }
        }
    }

    /// The objects of a view whose groups the layers may change: those that the layers cover, and those that lead to a
    /// row that they cover, in one state or the other.
    private func concerned(_ view: PreparedView, _ base: Snapshot) throws -> Set<ObjectID> {
        var found: Set<ObjectID> = []
        for layer in layers {
            for entity in view.entities { found.formUnion(layer.touched(entity)) }
            guard view.crossesRelationships else { continue }
            for reading in view.readings where !reading.hops.isEmpty {
                for entity in reading.entities {
                    for id in layer.touched(entity) {
                        found.formUnion(try base.sources(of: id, through: reading.hops))
                        found.formUnion(try sources(of: id, through: reading.hops))
                    }
                }
            }
        }
        guard view.crossesRelationships else { return found }
        let entities = Set(view.entities)
        return found.filter { entities.contains($0.entityID) }
    }

    /// The view's groups of all objects, read one after the other.
    private func groupsAnew(of view: PreparedView) throws -> GroupChanges {
        let changes = GroupChanges()
        try group(view, into: changes)
        return changes
    }

    /// Adds all objects of this state to a view's groups.
    func group(_ view: PreparedView, into changes: GroupChanges) throws {
        let evaluation = Evaluation(self)
        for entity in view.entities {
            guard let entity = schema.entity(entity) else { continue }
            try forEachRow(of: entity) { id, row in
                try view.add(row, id, 1, evaluation, to: changes)
                return true
            }
        }
    }

    private func forEachGroup(
        of view: PreparedView, madeAnew changes: GroupChanges, _ body: ([UInt8], GroupState) throws -> Void
    ) throws {
        try changes.lay(over: nil, transaction)
        for key in changes.keys {
            if let state = try changes.laid(over: nil, key: key, view, nil, transaction) { try body(key, state) }
        }
    }
}
