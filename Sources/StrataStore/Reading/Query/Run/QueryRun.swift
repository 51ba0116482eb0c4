import StrataModel

/// One run of a query over a snapshot.
struct QueryRun {
    let plan: QueryPlan
    let order: [SortColumn]
    let offset: Int
    /// The number of rows that are needed; nil for all.
    let needed: Int?
    let runner: StepRunner
    /// The text queries whose ranks give the order, and whether the lowest come first.
    private var relevance: (conditions: [TextCondition], isAscending: Bool)?

    init(_ query: CompiledQuery, _ plan: QueryPlan, _ snapshot: Snapshot, _ trace: QueryTrace? = nil) {
        self.plan = plan
        order = query.order
        offset = query.offset
        needed = query.needed
        runner = StepRunner(snapshot: snapshot, evaluation: Evaluation(snapshot), trace: trace)
        runner.evaluation.ahead = MembersAhead()
        guard plan.order == .relevance else { return }
        runner.evaluation.ranksText = true
        relevance = (query.texts, query.shape.relevance?.isAscending ?? false)
    }

    init(_ request: StoreRequest, _ order: [SortColumn], _ plan: QueryPlan, _ snapshot: Snapshot) {
        self.plan = plan
        self.order = order
        offset = request.offset
        needed = request.needed
        runner = StepRunner(snapshot: snapshot, evaluation: Evaluation(snapshot), trace: nil)
    }

    // MARK: Results

    func fetch() throws -> [ObjectID] {
        let found: [ObjectID] =
            switch plan.order {
            case .byID: try fetchByID()
            case .sort: try fetchSorted()
            case .index: try fetchInIndexOrder() ?? fetchSorted()
            case .relevance: try fetchByRelevance()
            }
        return offset == 0 ? found : Array(found.dropFirst(offset))
    }

    func count() throws -> Int {
        let needed = needed ?? .max
        if needed == 0 { return 0 }
        var count = 0
        switch plan.root.kind {
        case .scan:
            for entity in plan.root.entities.schemas { count += try runner.snapshot.count(of: entity.id) }
            runner.trace?[plan.root].rows = count
        case .index(let access):
            count = try entries(of: access, plan.root, atMost: needed)
        default:
            try runner.forEach(plan.root, readsRows: false) { _, _ in
                count += 1
                return count < needed
            }
        }
        return max(0, min(count, needed) - offset)
    }

    /// The number of entries in an index's ranges, without collecting their ids.
    private func entries(of access: IndexAccess, _ step: PlanStep, atMost needed: Int) throws -> Int {
        func walk() throws -> Int {
            var count = 0
            if access.isCovered {
                for range in access.ranges where count < needed {
                    count += try runner.snapshot.countEntries(
                        access.index, lower: range.lower, upper: range.upper, atMost: needed - count)
                }
                return count
            }
            try runner.forEachEntry(of: access, step.entities) { _, _ in
                count += 1
                return count < needed
            }
            return count
        }
        guard let trace = runner.trace else { return try walk() }
        return try trace.timed(step) {
            let count = try walk()
            trace[step].rows = count
            return count
        }
    }

    private func fetchByID() throws -> [ObjectID] {
        let needed = needed ?? .max
        if needed == 0 { return [] }
        var found: [ObjectID] = []
        switch plan.root.kind {
        // If ids come in the right order, reading ends when there are enough.
        case .index(let access) where access.isSortedByID && needed < .max && runner.trace == nil:
            try runner.forEachEntry(of: access, plan.root.entities) { id, _ in
                found.append(id)
                return found.count < needed
            }
        case .filter, .scan:
            try runner.forEach(plan.root, readsRows: false) { id, _ in
                found.append(id)
                return found.count < needed
            }
        default:
            found = try runner.ids(of: plan.root)
            if found.count > needed { found.removeSubrange(needed...) }
        }
        return found
    }

    private func fetchSorted() throws -> [ObjectID] {
        var sorter = RowSorter(bound: needed)
        try runner.forEach(plan.root, readsRows: true) { id, row in
            guard let row else { return true }
            try runner.snapshot.spend(values: order.count)
            try sorter.add(id) { writer in
                for column in order { try column.write(row, id, runner.evaluation, into: &writer) }
            }
            try runner.snapshot.meter.check(more: sorter.size)
            return true
        }
        return try sorter.finish { try runner.snapshot.meter.checkCancellation() }
    }

    /// The objects by the sum of the ranks that text queries give them, best first, then by id.
    private func fetchByRelevance() throws -> [ObjectID] {
        guard let relevance, needed != 0 else { return [] }
        let results = try relevance.conditions.map { try runner.evaluation.textResult($0) }
        var best = BestRanks(needed: needed, isAscending: relevance.isAscending)
        if case .text = plan.root.kind, results.count == 1, runner.trace == nil,
            results[0].ids.count == (try runner.ids(of: plan.root).count)
        {
            for (id, rank) in zip(results[0].ids, results[0].ranks) { best.add(id, rank) }
            return best.finish()
        }
        try runner.forEach(plan.root, readsRows: false) { id, _ in
            best.add(id, results.reduce(0) { $0 + $1.rank(of: id) })
            return true
        }
        return best.finish()
    }

    // MARK: Order of an index

    /// The objects in the order of the index; nil if keys were cut, or too many rows would have to be read singly.
    private func fetchInIndexOrder() throws -> [ObjectID]? {
        guard let (step, access, filter) = plan.ordered else { return nil }
        guard let trace = runner.trace else { return try walk(step, access, filter) }
        return try trace.timed(plan.root) {
            let found = try walk(step, access, filter)
            trace[plan.root].rows = found?.count ?? 0
            if found == nil { trace[step].note = "gave up its order" }
            return found
        }
    }

    private func walk(_ step: PlanStep, _ access: IndexAccess, _ filter: RowFilter?) throws -> [ObjectID]? {
        let needed = needed ?? .max
        let condition = filter?.remaining
        var budget = condition == nil ? Int.max : 1000
        var found: [ObjectID] = []
        var ties = TiedEntries(
            codec: try IndexMap.of(runner.snapshot.schema).index(access.index.id).codec, elements: access.orderElements)
        var examined = 0
        var isUsable = needed > 0
        func take(_ ids: [ObjectID]) throws {
            examined += ids.count
            guard let condition else { return found += ids.prefix(needed - found.count) }
            try runner.snapshot.forEachRow(of: ids) { id, row in
                if try condition.holds(row, id, runner.evaluation) { found.append(id) }
                return found.count < needed
            }
        }
        try runner.forEachEntry(of: access, step.entities) { id, key in
            if examined > budget, condition != nil {
                budget = max(budget, try runner.snapshot.roughCount(of: step.entities.schemas) / 6)
            }
            if condition == nil, !access.isDescending, access.orderElements == nil {
                // Entries with equal keys are sorted by id already.
                isUsable = key.count < IndexKeys.cutKeySize
                if isUsable { found.append(id) }
                examined += 1
                return isUsable && found.count < needed
            }
            // Keys that were cut do not define an order.
            isUsable = isUsable && key.count < IndexKeys.cutKeySize && examined <= budget
            guard isUsable else { return false }
            if try ties.add(id, key, take) { return found.count < needed }
            return true
        }
        if needed == 0 { return [] }
        guard isUsable else { return nil }
        if found.count < needed { try ties.finish(take) }
        runner.trace?[step].rows = examined
        return found
    }
}

/// Sorts entries by id that are equal in the order: those with the same key, which reading backwards gives with the
/// highest id first, or those that agree in the first elements.
private struct TiedEntries {
    private let codec: IndexKeyCodec
    /// The number of elements that must agree; nil for all.
    private let elements: Int?
    private var key: [UInt8] = []
    private var ids: [ObjectID] = []

    init(codec: IndexKeyCodec, elements: Int?) {
        self.codec = codec
        self.elements = elements
    }

    /// Adds the next entry. If its key differs, passes the entries before it to `take`, sorted by id.
    ///
    /// - Returns: whether it passed any.
    mutating func add(
        _ id: ObjectID, _ entry: UnsafeRawBufferPointer, _ take: ([ObjectID]) throws -> Void
    ) rethrows -> Bool {
        var bare = UnsafeRawBufferPointer(rebasing: entry.dropLast(8))
        if !ids.isEmpty, elements == nil ? key.isEqual(to: bare) : key.withUnsafeBytes(bare.hasPrefix) {
            ids.append(id)
            return false
        }
        if let elements {
            let length = elements == 0 ? 0 : codec.prefixLengths(of: Array(bare.dropFirst(4)))[elements - 1]
            bare = UnsafeRawBufferPointer(rebasing: bare.prefix(4 + length))
        }
        let isFirst = ids.isEmpty
        try finish(take)
        key.removeAll(keepingCapacity: true)
        key.append(contentsOf: bare)
        ids.append(id)
        return !isFirst
    }

    mutating func finish(_ take: ([ObjectID]) throws -> Void) rethrows {
        if ids.isEmpty { return }
        if ids.count > 1 { ids.sort() }
        try take(ids)
        ids.removeAll(keepingCapacity: true)
    }
}
