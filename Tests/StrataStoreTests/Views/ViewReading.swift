import StrataModel

@testable import StrataStore

/// Requests for some rows of a view beside all of its rows.
struct ViewReading {
    private let view: ViewDescription
    private let rows: [[AttributeValue]]

    init(_ view: ViewDescription, _ rows: [[AttributeValue]]) {
        self.view = view
        self.rows = rows
    }

    /// What is wrong with rows in declared orders, from both ends, and with rows of given keys.
    func problem(_ snapshot: Snapshot) throws -> String? {
        for order in view.orders {
            for isForward in [true, false] {
                let sort = order.columns.map { SortDescription($0.keyPath, isAscending: $0.isAscending == isForward) }
                let sorted = ordered(rows, by: sort)
                for (limit, offset) in [(3, 0), (2, 1), (1, rows.count), (0, 0)] {
                    let wanted = limit == 0 ? sorted[...] : sorted.dropFirst(offset).prefix(limit)
                    let request = ViewRequest(view.name, sortedBy: sort, limit: limit, offset: offset)
                    let found = try snapshot.rows(request).map(Array.init)
                    if found.map({ values($0, sort) }) != wanted.map({ values($0, sort) })
                        || !Set(found.map(ViewOracle.text)).isSubset(of: rows.map(ViewOracle.text))
                        || Set(found.map(ViewOracle.text)).count != found.count
                    {
                        return "\(view.name) by \(sort), limit \(limit), offset \(offset): \(found), not \(wanted)"
                    }
                }
            }
        }
        for order in view.orders where order.isRanked {
            for isForward in [true, false] {
                let sort = order.columns.map { SortDescription($0.keyPath, isAscending: $0.isAscending == isForward) }
                if let problem = try problem(ofRanksBy: sort, nil, snapshot) { return problem }
                guard let first = view.keys.first, sort.count > 1, first.name == sort[0].keyPath else { continue }
                for row in rows.prefix(2) {
                    let group = equality(0, row)
                    if let problem = try problem(ofRanksBy: Array(sort[1...]), group, snapshot) { return problem }
                }
            }
        }
        for row in rows.prefix(4) {
            for count in view.keys.indices {
                if let problem = try problem(ofKeys: count + 1, of: row, snapshot) { return problem }
            }
        }
        return nil
    }

    private func problem(ofKeys count: Int, of row: [AttributeValue], _ snapshot: Snapshot) throws -> String? {
        let keys = view.keys.prefix(count).enumerated().map { index, key in
            FetchPredicate.comparison(
                ComparisonPredicate(.keyPath(key.name), .equalTo, .constant(row[index])))
        }
        let wanted = rows.filter { other in (0..<count).allSatisfy { other[$0].isEqual(to: row[$0]) } }
        let found = try snapshot.rows(ViewRequest(view.name, where: .and(keys))).map(Array.init)
        if found.map(ViewOracle.text) != wanted.map(ViewOracle.text) {
            return "\(view.name) where \(keys): \(found), not \(wanted)"
        }
        // The first of them in an order behind a key.
        for order in view.orders {
            let sort = Array(
                order.columns.dropFirst().filter { column in !view.keys.contains { $0.name == column.keyPath } })
            if sort.isEmpty { continue }
            let first = try snapshot.rows(ViewRequest(view.name, where: .and(keys), sortedBy: sort, limit: 2))
            let best = ordered(wanted, by: sort).prefix(2)
            if first.map({ values(Array($0), sort) }) != best.map({ values($0, sort) }) {
                return "\(view.name) where \(keys) by \(sort): \(Array(first)), not \(best)"
            }
        }
        return nil
    }

    /// Compares ranks, and rows behind an offset, with all rows in this order.
    private func problem(
        ofRanksBy sort: [SortDescription], _ group: FetchPredicate?, _ snapshot: Snapshot
    ) throws -> String? {
        let request = ViewRequest(view.name, where: group, sortedBy: sort)
        var first = request
        first.limit = rows.count + 1
        let all = try snapshot.rows(first).map(Array.init)
        for (index, row) in all.enumerated() where index % 7 == rows.count % 7 {
            let keys = view.keys.indices.map { equality($0, row) }
            let own = group == nil ? keys : Array(keys.dropFirst())
            let better = all.prefix(index).filter { values($0, sort) != values(row, sort) }.count
            let rank = try snapshot.rank(of: .and(own), in: request)
            if rank != ViewRank(rank: better + 1, index: index, count: all.count) {
                return "\(view.name) by \(sort) where \(own): \(String(describing: rank)), not \(index) of \(all.count)"
            }
            let around = try snapshot.rows(around: .and(own), before: 2, after: 1, in: request)
            let wanted = all[max(0, index - 2)..<min(all.count, index + 2)]
            if around?.rows.map({ ViewOracle.text(Array($0)) }) != wanted.map(ViewOracle.text) {
                return "\(view.name) by \(sort) around \(own): \(String(describing: around)), not \(wanted)"
            }
        }
        return nil
    }

    private func equality(_ key: Int, _ row: [AttributeValue]) -> FetchPredicate {
        .comparison(ComparisonPredicate(.keyPath(view.keys[key].name), .equalTo, .constant(row[key])))
    }

    private func values(_ row: [AttributeValue], _ sort: [SortDescription]) -> [String] {
        sort.map { column in "\(row[view.columnNames.firstIndex(of: column.keyPath) ?? 0])" }
    }

    /// Nil is the smallest value.
    private func ordered(_ rows: [[AttributeValue]], by sort: [SortDescription]) -> [[AttributeValue]] {
        rows.sorted { left, right in
            for column in sort {
                let index = view.columnNames.firstIndex(of: column.keyPath) ?? 0
                let (first, second) = column.isAscending ? (left[index], right[index]) : (right[index], left[index])
                if first.isNull != second.isNull { return first.isNull }
                if let order = first.order(to: second), order != .same { return order == .ascending }
            }
            return false
        }
    }
}
