import StrataModel
import StrataStore

/// The rows of a query, one by one. A cell is a value, or a list where a column leads to many.
///
/// Where each object makes a row, rows are read in slices, so that no read transaction stays open while a pager waits, and
/// memory holds only ids.
struct RowStream {
    private let store: Store
    private let moment: StoreMoment
    /// The request without the columns that are lists.
    private let request: RowsRequest
    private let lists: [ListReader]
    /// Whether each column is a list.
    private let isList: [Bool]
    private static let slice = 1000

    /// - Throws: `StrataError` for a column that the entity cannot answer.
    init(_ request: RowsRequest, of entity: EntitySchema, at moment: StoreMoment, in store: Store) throws {
        self.store = store
        self.moment = moment
        let readers = try request.columns.map { column in
            // A group has no lists, and equal rows are compared value by value.
            request.isGrouped || request.isDistinct
                ? nil : try ListReader(column.expression, entity, moment.schema)
        }
        lists = readers.compactMap(\.self)
        isList = readers.map { $0 != nil }
        var single = request
        single.columns = zip(request.columns, isList).filter { !$0.1 }.map(\.0)
        if single.columns.isEmpty { single.columns = [ColumnText.object] }
        // Reports a wrong request even if nothing is found.
        _ = try CompiledRows(single, moment.schema)
        self.request = single
    }

    /// - Parameter progress: called with the number of objects that were written.
    func forEach(_ progress: ProgressHandler? = nil, _ body: ([PredicateOperand]) throws -> Void) throws {
        let total = try WatchedQuery.size(request.objects, store, moment)
        if request.isGrouped || request.isDistinct {
            let rows = try WatchedQuery.run(store, moment, total: total) { try $0.rows(request) }
            for row in rows { try body(row.map(PredicateOperand.one)) }
            return
        }
        guard try CompiledRows(request, moment.schema).makesRowOfEachObject else {
            // The rows are sorted by what they hold.
            var whole = request
            whole.columns.insert(ColumnText.object, at: 0)
            let rows = try WatchedQuery.run(store, moment, total: total) { snapshot in
                try cells(Array(try snapshot.rows(whole)), snapshot)
            }
            for row in rows { try body(row) }
            return
        }
        let ids = try WatchedQuery.run(store, moment, total: total) { try $0.fetch(request.objects) }
        for start in stride(from: 0, to: ids.count, by: Self.slice) {
            progress?(StoreProgress(phase: "objects", done: start, total: ids.count))
            let slice = Array(ids[start..<min(start + Self.slice, ids.count)])
            let part = try moment.read(store) { try cells(try rows(of: slice, $0), $0) }
            for row in part { try body(row) }
        }
    }

    /// The rows of some objects, each with its object. The request makes a row of each object.
    func rows(of ids: [ObjectID], in snapshot: Snapshot) throws -> [(object: ObjectID, cells: [PredicateOperand])] {
        Array(zip(ids, try cells(try rows(of: ids, snapshot), snapshot))).map { ($0, $1) }
    }

    /// The rows of some objects in the order of `ids`; each row begins with its object's id.
    private func rows(of ids: [ObjectID], _ snapshot: Snapshot) throws -> [ArraySlice<AttributeValue>] {
        var part = request
        part.objects = StoreRequest(
            entityID: request.objects.entityID, includesSubentities: request.objects.includesSubentities,
            predicate: .isIn("SELF", ids.map { .objectID($0) }))
        part.columns.insert(ColumnText.object, at: 0)
        let rows = try snapshot.rows(part)
        var indexes: [AttributeValue: Int] = [:]
        for (index, row) in rows.enumerated() { if let id = row.first { indexes[id] = index } }
        return ids.compactMap { id in indexes[.objectID(id)].map { rows[$0] } }
    }

    /// Adds the lists to rows that begin with their object's id.
    private func cells(_ rows: [ArraySlice<AttributeValue>], _ snapshot: Snapshot) throws -> [[PredicateOperand]] {
        if lists.isEmpty { return rows.map { $0.dropFirst().map(PredicateOperand.one) } }
        let ids = rows.map { row in if case .objectID(let id)? = row.first { id } else { ObjectID(rawValue: 0) } }
        return zip(rows, try snapshot.lists(lists, of: ids)).map { row, lists in
            var values = row.dropFirst().makeIterator()
            var members = lists.makeIterator()
            return isList.map { $0 ? .many(members.next() ?? []) : .one(values.next() ?? .null) }
        }
    }
}
