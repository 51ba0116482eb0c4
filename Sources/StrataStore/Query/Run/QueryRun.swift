import StrataModel

/// One run of a query over a view.
struct QueryRun {
    let query: CompiledQuery
    let view: View
    /// What the plan leaves to ask of each candidate.
    private let filter: (any RowTest)?
    private let evaluation: Evaluation

    init(_ query: CompiledQuery, _ view: View) {
        self.query = query
        self.view = view
        evaluation = Evaluation(view)
        filter = Self.test(query.plan.filter.map { query.conjuncts[$0].test })
    }

    private static func test(_ parts: [any RowTest]) -> (any RowTest)? {
        parts.count > 1 ? AndTest(parts) : parts.first
    }

    // MARK: Results

    func fetch() throws -> [ObjectID] {
        let found: [ObjectID] =
            switch query.plan.order {
            case .byID: try fetchByID()
            case .sort: try fetchSorted()
            case .index: try fetchInIndexOrder() ?? fetchSorted()
            }
        return query.offset == 0 ? found : Array(found.dropFirst(query.offset))
    }

    func count() throws -> Int {
        var count = 0
        let needed = query.needed ?? .max
        if query.conjuncts.isEmpty {
            for entity in query.entities { count += try view.count(of: entity.id) }
        } else if case .index(let access) = query.plan.source, filter == nil {
            try forEachEntry(of: access) { _, _ in
                count += 1
                return count < needed
            }
        } else {
            try forEachMatch(needsRow: false) { _, _ in
                count += 1
                return count < needed
            }
        }
        return max(0, min(count, needed) - query.offset)
    }

    private func fetchByID() throws -> [ObjectID] {
        var found: [ObjectID] = []
        let needed = query.needed ?? .max
        if needed == 0 { return [] }
        try forEachMatch(needsRow: false) { id, _ in
            found.append(id)
            return found.count < needed
        }
        return found
    }

    private func fetchSorted() throws -> [ObjectID] {
        var sorter = RowSorter(bound: query.needed)
        try forEachMatch(needsRow: true) { id, row in
            guard let row else { return true }
            try sorter.add(id) { writer in
                for column in query.order { try column.write(row, id, evaluation, into: &writer) }
            }
            return true
        }
        return sorter.finish()
    }

    // MARK: Candidates

    /// Calls `body` with every object that is found, by id, and its row if `needsRow`, until it returns false.
    private func forEachMatch(
        needsRow: Bool, _ body: (ObjectID, RowReader?) throws -> Bool
    ) throws {
        switch query.plan.source {
        case .nothing: return
        case .entities: try scan(query.conjuncts.map(\.test), body)
        case .objects(let ids): try visit(ids.filter(query.isCovered), needsRow: true, body)
        case .members(let link, let owners):
            var ids: Set<ObjectID> = []
            for owner in owners {
                try view.members(of: link, owner: owner) { member in
                    if query.isCovered(member) { ids.insert(member) }
                    return true
                }
            }
            try visit(ids.sorted(), needsRow: needsRow, body)
        case .index(let access):
            if let ids = try candidates(of: access, needsRow: needsRow || filter != nil) {
                try visit(ids, needsRow: needsRow, body)
            } else {
                try scan(query.conjuncts.map(\.test), body)
            }
        }
    }

    private func scan(_ tests: [any RowTest], _ body: (ObjectID, RowReader?) throws -> Bool) throws {
        let test = Self.test(tests)
        var goesOn = true
        for entity in query.entities where goesOn {
            try view.forEachRow(of: entity) { id, row in
                if let test, try !test.holds(row, id, evaluation) { return true }
                goesOn = try body(id, row)
                return goesOn
            }
        }
    }

    private func visit(
        _ ids: [ObjectID], needsRow: Bool, _ body: (ObjectID, RowReader?) throws -> Bool
    ) throws {
        for id in ids {
            let goesOn =
                if needsRow || filter != nil {
                    try evaluation.withRow(id) { row in
                        guard let row else { return true }
                        if let filter, try !filter.holds(row, id, evaluation) { return true }
                        return try body(id, row)
                    }
                } else {
                    try body(id, nil)
                }
            if !goesOn { return }
        }
    }

    // MARK: Indexes

    /// So many rows are sooner read in a scan of all than one by one.
    private func budget() throws -> Int { max(1000, try view.roughCount(of: query.entities) / 8) }

    /// The ids in an index's ranges, sorted; nil when there are so many that a scan is faster.
    private func candidates(of access: IndexAccess, needsRow: Bool) throws -> [ObjectID]? {
        var ids: [ObjectID] = []
        let budget = needsRow ? try budget() : .max
        if needsRow, query.plan.fraction >= 1 { return nil }
        try forEachEntry(of: access) { id, _ in
            ids.append(id)
            return ids.count <= budget
        }
        guard ids.count <= budget else { return nil }
        ids.sort()
        return ids
    }

    /// Calls `body` with every entry of an index's ranges that is of the query's entities, in the walk's order.
    private func forEachEntry(
        of access: IndexAccess, _ body: (ObjectID, UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        var goesOn = true
        func walk(_ range: KeyRange) throws {
            try view.scan(
                access.index, lower: range.lower, upper: range.upper, isDescending: access.isDescending
            ) { id, key in
                guard query.isCovered(id) else { return true }
                goesOn = try body(id, key)
                return goesOn
            }
        }
        if access.isDescending {
            for range in access.ranges.reversed() where goesOn { try walk(range) }
        } else {
            for range in access.ranges where goesOn { try walk(range) }
        }
    }

    /// Objects in the order of the index; nil when it cannot be kept, or only by reading too many single rows.
    private func fetchInIndexOrder() throws -> [ObjectID]? {
        guard case .index(let access) = query.plan.source else { return nil }
        let needed = query.needed ?? .max
        let budget = filter == nil ? .max : try budget()
        var found: [ObjectID] = []
        var ties = TiedEntries()
        var examined = 0
        var isUsable = needed > 0
        func take(_ ids: [ObjectID]) throws {
            examined += ids.count
            try visit(ids, needsRow: false) { id, _ in
                found.append(id)
                return found.count < needed
            }
        }
        try forEachEntry(of: access) { id, key in
            // Keys that were cut do not tell which of them comes first.
            isUsable = isUsable && key.count < IndexKeys.cutKeySize && examined < budget
            guard isUsable else { return false }
            if let complete = ties.add(id, key) { try take(complete) }
            return found.count < needed
        }
        guard isUsable else { return needed == 0 ? [] : nil }
        if found.count < needed { try take(ties.finish()) }
        return found
    }
}

/// Entries with the same key, which a walk backwards gives with the highest id first.
private struct TiedEntries {
    private var key: [UInt8] = []
    private var ids: [ObjectID] = []

    /// Takes in the next entry of a walk; returns the entries before it, by id, once their key has passed.
    mutating func add(_ id: ObjectID, _ entry: UnsafeRawBufferPointer) -> [ObjectID]? {
        let bare = UnsafeRawBufferPointer(rebasing: entry.dropLast(8))
        if !ids.isEmpty, key.isEqual(to: bare) {
            ids.append(id)
            return nil
        }
        let complete = finish()
        key.removeAll(keepingCapacity: true)
        key.append(contentsOf: bare)
        ids = [id]
        return complete.isEmpty ? nil : complete
    }

    func finish() -> [ObjectID] { ids.count > 1 ? ids.sorted() : ids }
}
