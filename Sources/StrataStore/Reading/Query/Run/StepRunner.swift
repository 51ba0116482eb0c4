import StrataModel

/// Runs the steps of a plan over a snapshot.
///
/// Belongs to one run on one thread.
struct StepRunner {
    let snapshot: Snapshot
    let evaluation: Evaluation
    let trace: QueryTrace?

    /// A source that yields more ids than this is compared with a scan.
    private static let unquestioned = 1000

    // MARK: Rows

    /// Calls `body` with each object that a step yields, sorted by id, and its row if `readsRows`, until it returns
    /// false.
    func forEach(
        _ step: PlanStep, readsRows: Bool, _ body: (ObjectID, RowReader?) throws -> Bool
    ) throws {
        guard let trace else { return try visit(step, readsRows: readsRows, body) }
        try trace.timed(step) {
            var rows = 0
            try visit(step, readsRows: readsRows) { id, row in
                rows += 1
                return try body(id, row)
            }
            // A scan counts its rows itself.
            if !step.isScan { trace[step].rows += rows }
        }
    }

    private func visit(
        _ step: PlanStep, readsRows: Bool, _ body: (ObjectID, RowReader?) throws -> Bool
    ) throws {
        switch step.kind {
        case .nothing: return
        case .scan: try scan(step, nil, body)
        case .filter(let input, let filter):
            if case .scan = input.kind { return try scan(input, filter.remaining, body) }
            guard let ids = try ids(of: input, isLimited: true) else {
                trace?[input].note = "too many objects, so all rows were read"
                return try scan(step, filter.all, body)
            }
            try snapshot.forEachRow(of: ids) { id, row in
                if let condition = filter.remaining, try !condition.holds(row, id, evaluation) { return true }
                return try body(id, row)
            }
        default:
            guard let ids = try ids(of: step, isLimited: false) else { return }
            if readsRows { return try snapshot.forEachRow(of: ids) { try body($0, $1) } }
            for id in ids where try !body(id, nil) { return }
        }
    }

    private func scan(
        _ step: PlanStep, _ condition: (any RowCondition)?, _ body: (ObjectID, RowReader?) throws -> Bool
    ) throws {
        var goesOn = true
        var rows = 0
        for entity in step.entities.schemas where goesOn {
            guard let condition else {
                try snapshot.forEachRow(of: entity) { id, row in
                    rows += 1
                    goesOn = try body(id, row)
                    return goesOn
                }
                continue
            }
            try snapshot.forEachRow(of: entity) { id, row in
                rows += 1
                guard try condition.holds(row, id, evaluation) else { return true }
                goesOn = try body(id, row)
                return goesOn
            }
        }
        if let trace, case .scan = step.kind { trace[step].rows = rows }
    }

    // MARK: Ids

    /// The ids that a step yields, sorted.
    func ids(of step: PlanStep) throws -> [ObjectID] { try ids(of: step, isLimited: false) ?? [] }

    /// - Parameter isLimited: whether to return nil if a scan of all rows would be faster than reading so many.
    private func ids(of step: PlanStep, isLimited: Bool) throws -> [ObjectID]? {
        guard let trace else { return try collect(step, isLimited) }
        return try trace.timed(step) {
            let ids = try collect(step, isLimited)
            trace[step].rows += ids?.count ?? 0
            return ids
        }
    }

    private func collect(_ step: PlanStep, _ isLimited: Bool) throws -> [ObjectID]? {
        switch step.kind {
        case .nothing: return []
        case .objects(let ids): return try ids.filter(snapshot.exists)
        case .index(let access): return try entries(of: access, step.entities, isLimited)
        case .links(let access): return try nearEnds(of: access, step.entities)
        case .text(let condition):
            let ids = try evaluation.textResult(condition).ids
            // A full text of a parent has other entities too.
            return condition.text.entities.allSatisfy { step.entities.contains(ObjectID(entity: $0, row: 1)) }
                ? ids : ids.filter(step.entities.contains)
        case .intersection(let steps): return try intersection(steps, isLimited)
        case .union(let steps):
            var all: [ObjectID] = []
            for step in steps {
                guard let ids = try ids(of: step, isLimited: isLimited) else { return nil }
                all += ids
                try snapshot.hold(ids.count * MemoryLayout<ObjectID>.stride)
            }
            all.sortAndDropRepeated()
            return all
        case .scan, .filter:
            var ids: [ObjectID] = []
            // The caller traces this step.
            try visit(step, readsRows: false) { id, _ in
                ids.append(id)
                return true
            }
            return ids
        }
    }

    private func entries(of access: IndexAccess, _ entities: EntitySet, _ isLimited: Bool) throws -> [ObjectID]? {
        if access.isCovered, snapshot.layers.isEmpty { return try baseEntries(of: access, entities, isLimited) }
        var ids: [ObjectID] = []
        var limit = isLimited ? Self.unquestioned : .max
        var isWithin = true
        try forEachEntry(of: access, entities) { id, _ in
            ids.append(id)
            guard ids.count > limit else { return true }
            limit = max(limit, try snapshot.roughCount(of: entities.schemas) / 6)
            isWithin = ids.count <= limit
            return isWithin
        }
        guard isWithin else { return nil }
        if !access.isSortedByID || !snapshot.layers.isEmpty { ids.sortIDs() }
        return ids
    }

    /// The ids of an index's ranges, where every entry of the base is a result.
    private func baseEntries(
        of access: IndexAccess, _ entities: EntitySet, _ isLimited: Bool
    ) throws -> [ObjectID]? {
        var ids: [ObjectID] = []
        func collect(atMost limit: Int) throws {
            ids.removeAll(keepingCapacity: true)
            for range in access.ranges where ids.count < limit {
                try snapshot.appendBaseEntries(
                    access.index, lower: range.lower, upper: range.upper, atMost: limit - ids.count, to: &ids)
            }
        }
        let unquestioned = isLimited ? Self.unquestioned + 1 : .max
        try collect(atMost: unquestioned)
        if isLimited, ids.count == unquestioned {
            let limit = try snapshot.roughCount(of: entities.schemas) / 6
            if ids.count <= limit { try collect(atMost: limit + 1) }
            if ids.count > limit { return nil }
        }
        if !access.isSortedByID { ids.sortIDs() }
        return ids
    }

    /// The ids of an index's ranges, sorted; nil if there are enough to make planning worth it.
    func fewIDs(of access: IndexAccess, _ entities: EntitySet) throws -> [ObjectID]? {
        var ids: [ObjectID] = []
        if access.isCovered, snapshot.layers.isEmpty {
            for range in access.ranges where ids.count <= Self.unquestioned {
                try snapshot.appendBaseEntries(
                    access.index, lower: range.lower, upper: range.upper, atMost: Self.unquestioned + 1 - ids.count,
                    to: &ids)
            }
        } else {
            try forEachEntry(of: access, entities) { id, _ in
                ids.append(id)
                return ids.count <= Self.unquestioned
            }
        }
        if ids.count > Self.unquestioned { return nil }
        if !access.isSortedByID || !snapshot.layers.isEmpty { ids.sortIDs() }
        return ids
    }

    /// Calls `body` with each entry of an index's ranges that is of the entities, in the direction of the access.
    func forEachEntry(
        of access: IndexAccess, _ entities: EntitySet, _ body: (ObjectID, UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        let ranges = access.isDescending ? access.ranges.reversed() : access.ranges
        for range in ranges {
            var goesOn = true
            try snapshot.scan(
                access.index, lower: range.lower, upper: range.upper, isDescending: access.isDescending
            ) { id, key in
                if access.isCovered || entities.contains(id) { goesOn = try body(id, key) }
                return goesOn
            }
            if !goesOn { return }
        }
    }

    private func nearEnds(of access: LinkAccess, _ entities: EntitySet) throws -> [ObjectID] {
        let owners: [ObjectID]
        // Objects with given ids may not exist; then nothing leads to them.
        if case .objects(let named) = access.owners.kind {
            owners = named
            trace?[access.owners].rows = named.count
        } else {
            owners = try ids(of: access.owners)
        }
        var ids: [ObjectID] = []
        switch access.way {
        case .links(let link):
            for owner in owners {
                try snapshot.members(of: link, owner: owner) { member in
                    if entities.contains(member) { ids.append(member) }
                    return true
                }
                try snapshot.meter.check(more: ids.count * MemoryLayout<ObjectID>.stride)
            }
        case .reference(let slot):
            try snapshot.forEachRow(of: owners) { _, row in
                let owner = row.reference(slot)
                if !owner.isNil, entities.contains(owner) { ids.append(owner) }
                return true
            }
        }
        ids.sortAndDropRepeated()
        return ids
    }

    private func intersection(_ steps: [PlanStep], _ isLimited: Bool) throws -> [ObjectID]? {
        guard let first = steps.first, var common = try ids(of: first, isLimited: isLimited) else { return nil }
        for step in steps.dropFirst() where !common.isEmpty {
            // The other steps only narrow the result, so none of them is limited.
            common.formIntersection(try ids(of: step))
        }
        return common
    }
}
