import StrataModel

/// One run of a query over a view.
struct QueryRun {
    let query: CompiledQuery
    let view: View
    private let test: any RowTest
    private let evaluation: Evaluation

    init(_ query: CompiledQuery, _ view: View) {
        self.query = query
        self.view = view
        test = AndTest(query.conjuncts.map(\.test))
        evaluation = Evaluation(view)
    }

    func fetch() throws -> [ObjectID] {
        let found = query.order.isEmpty ? try fetchByID() : try fetchSorted()
        return Array(found.dropFirst(query.offset))
    }

    func count() throws -> Int {
        var count = 0
        if query.conjuncts.isEmpty {
            for entity in query.entities { count += try view.count(of: entity.id) }
        } else {
            let needed = query.needed ?? .max
            try forEachMatch { _, _ in
                count += 1
                return count < needed
            }
        }
        return max(0, min(count, query.needed ?? .max) - query.offset)
    }

    private func fetchByID() throws -> [ObjectID] {
        var found: [ObjectID] = []
        let needed = query.needed ?? .max
        try forEachMatch { id, _ in
            found.append(id)
            return found.count < needed
        }
        return found
    }

    private func fetchSorted() throws -> [ObjectID] {
        var sorter = RowSorter(bound: query.needed)
        try forEachMatch { id, row in
            try sorter.add(id) { writer in
                for column in query.order { try column.write(row, id, evaluation, into: &writer) }
            }
            return true
        }
        return sorter.finish()
    }

    private func forEachMatch(_ body: (ObjectID, RowReader) throws -> Bool) throws {
        var goesOn = true
        for entity in query.entities where goesOn {
            try view.forEachRow(of: entity) { id, row in
                guard try test.holds(row, id, evaluation) else { return true }
                goesOn = try body(id, row)
                return goesOn
            }
        }
    }
}
