import StrataModel

/// Chooses the plan of a query by estimated costs.
///
/// Objects are found by a scan, or from a source (an index, links, given ids, unions and intersections of these) that
/// covers some of the conditions; the others are checked on the rows. Estimates come from `PlanEstimator`. If one is
/// far too low, the run changes over to a scan (`StepRunner`).
struct Planner {
    let schema: Schema
    let estimator: PlanEstimator
    /// A disturbance of the costs, for tests.
    private var disturbance: PlanDisturbance?
    private let scanFactor: Double

    /// The use that the caller makes of the results.
    struct Purpose {
        var order: [SortColumn] = []
        /// The number of results that are needed; nil for all.
        var needed: Int?
        /// Whether the caller reads the rows.
        var readsRows = false
        /// Whether the caller uses estimates, also of a plan that was chosen without them.
        var wantsEstimates = true
    }

    /// A step that yields all objects that meet the conditions in `covers`, and perhaps others.
    struct Source {
        var step: PlanStep
        /// The conditions that need no further check.
        var covers: ConditionSet
    }

    init(_ snapshot: Snapshot, _ access: CompiledQuery.Access) {
        schema = snapshot.schema
        estimator = PlanEstimator(snapshot)
        if case .disturbed(let seed) = access { disturbance = PlanDisturbance(seed: seed) }
        scanFactor = access == .avoidingScans ? 1e9 : 1
    }

    // MARK: Plans

    mutating func plan(
        _ conditions: [CompiledCondition], of entity: EntitySchema, _ entities: EntitySet, for purpose: Purpose
    ) throws -> QueryPlan {
        var context = PlanInput(conditions, entity, entities, total: 1)
        if let plan = try uniquePlan(context, purpose) { return plan }
        if let plan = try coveringPlan(context, purpose) { return plan }
        let total = try estimator.rows(of: entities)
        context.total = total
        context.evaluations = try conditions.map { try evaluating($0, context) }
        let sources = try sources(context)
        let parts = conditions.indices.map { part(of: $0, sources, context) }
        var best = candidate(scan(context), parts, context, purpose)
        if let combined = combined(sources, parts, context, purpose) { consider(combined, &best) }
        for source in sources { consider(candidate(source, parts, context, purpose), &best) }
        if !purpose.order.isEmpty {
            var ordered: QueryPlan?
            for plan in try orderedPlans(parts, context, purpose) {
                let cost = plan.cost * (disturbance?.factor() ?? 1)
                if cost < best.cost {
                    best.cost = cost
                    ordered = QueryPlan(root: plan.root, order: plan.order, cost: cost)
                }
            }
            if let ordered { return ordered }
        }
        return plan(best, context, purpose)
    }

    /// A source with its cost, before the plan is made.
    private struct Candidate {
        let source: Source
        /// The estimated number of rows that meet all conditions.
        let matches: Double
        var cost: Double
    }

    /// The input of a plan that stays the same while one list of conditions is planned.
    struct PlanInput {
        let conditions: [CompiledCondition]
        /// The conditions in the form that an index can answer.
        let columns: [ColumnCondition?]
        let entity: EntitySchema
        let entities: EntitySet
        /// The cost of checking each condition on a row.
        var evaluations: [Double]
        /// The number of rows of the entities.
        var total: Double

        init(_ conditions: [CompiledCondition], _ entity: EntitySchema, _ entities: EntitySet, total: Double) {
            self.conditions = conditions
            columns = conditions.map(\.column)
            evaluations = conditions.map { PlanCost.evaluating($0.row) }
            self.entity = entity
            self.entities = entities
            self.total = total
        }
    }

    /// The cost of checking a condition on a row. One on the members of a to-many reads half of them on average.
    private func evaluating(_ condition: CompiledCondition, _ context: PlanInput) throws -> Double {
        let known = PlanCost.evaluating(condition.row)
        guard case .join(let join)? = condition.access, case .toMany = join.hop, context.total > 0,
            case .reference? = join.way
        else { return known }
        let members = try estimator.rows(of: EntitySet(join.far.concreteEntityIDs, schema)) / context.total
        let each = join.conditions.reduce(PlanCost.link + PlanCost.row) { $0 + PlanCost.evaluating($1.row) }
        return max(known, members / 2 * each)
    }

    private mutating func consider(_ candidate: Candidate, _ best: inout Candidate) {
        let cost = candidate.cost * (disturbance?.factor() ?? 1)
        if cost < best.cost { best = Candidate(source: candidate.source, matches: candidate.matches, cost: cost) }
    }

    /// The plan by a unique index. It finds at most one object, so it is best whatever the statistics.
    private func uniquePlan(_ context: PlanInput, _ purpose: Purpose) throws -> QueryPlan? {
        guard disturbance == nil, context.columns.contains(where: { $0 != nil }) else { return nil }
        for index in context.entity.indexes where index.isUnique {
            let prepared = try IndexMap.of(schema).index(index.id)
            var match = IndexMatch(index, prepared.codec, context.columns)
            guard match.isWhole, match.close(), match.ranges.count == 1 else { continue }
            // If no condition is left to check, later requests of this shape need no planning.
            if index.partialPredicate == nil, !purpose.readsRows, context.conditions.count < 64,
                let plan = Self.coveringPlan(
                    prepared, context.columns, context.entities, order: purpose.order, estimate: { _ in 1 })
            {
                return plan
            }
            let access = IndexAccess(prepared, match, context.entities)
            let step = PlanStep(.index(access), context.entities, rows: 1, cost: PlanCost.seek)
            let source = Source(step: step, covers: match.needsRecheck ? ConditionSet() : match.used)
            let found = candidate(source, context.conditions.map { _ in 1 }, context, purpose)
            return plan(found, context, purpose)
        }
        return nil
    }

    /// The plan by one range of one index that covers all conditions and the order. It reads no row, so it is best
    /// whatever the statistics.
    private func coveringPlan(_ context: PlanInput, _ purpose: Purpose) throws -> QueryPlan? {
        guard disturbance == nil, !purpose.readsRows, !context.conditions.isEmpty, context.conditions.count < 64 else {
            return nil
        }
        for index in context.entity.indexes where index.partialPredicate == nil {
            let first = index.elements[0].slot
            guard context.columns.contains(where: { $0?.slot == first }) else { continue }
            let prepared = try IndexMap.of(schema).index(index.id)
            guard
                let plan = try Self.coveringPlan(
                    prepared, context.columns, context.entities, order: purpose.order,
                    estimate: purpose.wantsEstimates
                        ? { match in
                            var context = context
                            context.total = try estimator.rows(of: context.entities)
                            return try rows(in: match, of: index, context)
                        } : nil)
            else { continue }
            return plan
        }
        return nil
    }

    /// The plan by an index that is not partial, if one range of it covers all conditions and the order.
    ///
    /// - Parameter estimate: computes the number of entries in the range, if the caller needs it.
    static func coveringPlan(
        _ prepared: IndexMap.PreparedIndex, _ columns: [ColumnCondition?], _ entities: EntitySet,
        order: [SortColumn], estimate: ((IndexMatch) throws -> Double)? = nil
    ) rethrows -> QueryPlan? {
        var match = IndexMatch(prepared.index, prepared.codec, columns)
        guard match.used.containsAll(columns.count), match.close(), !match.needsRecheck,
            match.ranges.count == 1
        else { return nil }
        let ordering = order.isEmpty ? nil : match.ordering(for: order)
        // If entries with the same beginning must be sorted first, another index may be better.
        guard order.isEmpty || ordering != nil && ordering?.elements == nil else { return nil }
        let access = IndexAccess(prepared, match, entities, ordering)
        let rows = try estimate?(match) ?? 0
        let cost = PlanCost.seek + rows * (PlanCost.indexEntry + (access.isSortedByID ? 0 : PlanCost.sortedID))
        let step = PlanStep(.index(access), entities, rows: rows, cost: cost)
        return QueryPlan(root: step, order: order.isEmpty ? .byID : .index, cost: cost, isSettled: true)
    }

    private func scan(_ context: PlanInput) -> Source {
        let cost = (context.total + 1) * PlanCost.scannedRow * scanFactor
        return Source(
            step: PlanStep(.scan, context.entities, rows: context.total, cost: cost), covers: ConditionSet())
    }

    /// The cost of a source with the remaining checks and the sorting.
    private func candidate(
        _ source: Source, _ parts: [Double], _ context: PlanInput, _ purpose: Purpose
    ) -> Candidate {
        let step = source.step
        var matches = step.rows, each = 0.0
        var hasRest = false
        for position in context.conditions.indices where !source.covers.contains(position) {
            matches *= parts[position]
            each += context.evaluations[position]
            hasRest = true
        }
        var cost = step.cost
        if hasRest || purpose.readsRows || !purpose.order.isEmpty, !step.isNothing {
            let isScan = step.isScan
            if !isScan { each += PlanCost.row }
            // Without an order, reading ends when there are enough results.
            var examined = step.rows
            if let needed = purpose.needed, purpose.order.isEmpty, matches > 0 {
                examined = min(examined, Double(needed) * step.rows / matches)
            }
            let reading = step.cost * (isScan && step.rows > 0 ? examined / step.rows : 1)
            cost = reading + examined * each
        }
        return Candidate(source: source, matches: matches, cost: cost + sorting(matches, purpose))
    }

    /// The plan for a source, with a step above it that reads rows if there are conditions to check or the caller needs
    /// them.
    private func plan(_ candidate: Candidate, _ context: PlanInput, _ purpose: Purpose) -> QueryPlan {
        let step = candidate.source.step
        let order: QueryPlan.Order = purpose.order.isEmpty ? .byID : .sort
        let rest = context.conditions.indices.filter { !candidate.source.covers.contains($0) }
        guard !rest.isEmpty || purpose.readsRows || !purpose.order.isEmpty, !step.isNothing else {
            return QueryPlan(root: step, order: order, cost: candidate.cost)
        }
        let filter = RowFilter(rest.map { context.conditions[$0] }, of: context.conditions)
        let root = PlanStep(
            .filter(step, filter), context.entities, rows: candidate.matches,
            cost: max(0, candidate.cost - sorting(candidate.matches, purpose)))
        return QueryPlan(root: root, order: order, cost: candidate.cost)
    }

    private func sorting(_ rows: Double, _ purpose: Purpose) -> Double {
        guard !purpose.order.isEmpty else { return 0 }
        let isAcross = purpose.order.contains { $0.column == nil }
        return rows * (PlanCost.sortedRow + (isAcross ? PlanCost.row : 0))
    }

    // MARK: Several sources

    /// Sources that each cover more conditions, as long as reading another costs less than the rows that it saves.
    private func combined(
        _ sources: [Source], _ parts: [Double], _ context: PlanInput, _ purpose: Purpose
    ) -> Candidate? {
        guard sources.count > 1 else { return nil }
        let sorted = sources.sorted { $0.step.rows < $1.step.rows }
        var current = candidate(sorted[0], parts, context, purpose)
        var steps = [sorted[0].step]
        for source in sorted.dropFirst() where !source.covers.isSubset(of: current.source.covers) {
            let rows = context.total > 0 ? current.source.step.rows * source.step.rows / context.total : 0
            var covers = current.source.covers
            covers.formUnion(source.covers)
            let cost = steps.reduce(source.step.cost) { $0 + $1.cost }
            let step = PlanStep(.intersection(steps + [source.step]), context.entities, rows: rows, cost: cost)
            let next = candidate(Source(step: step, covers: covers), parts, context, purpose)
            guard next.cost < current.cost else { continue }
            current = next
            steps.append(source.step)
        }
        return steps.count > 1 ? current : nil
    }

    /// The estimated part of all rows that meet a condition.
    private func part(of position: Int, _ sources: [Source], _ context: PlanInput) -> Double {
        var part = Self.guess(context.conditions[position])
        guard context.total > 0 else { return part }
        var own = ConditionSet()
        own.insert(position)
        for source in sources where source.covers == own && position < 64 {
            part = min(part, source.step.rows / context.total)
        }
        return max(part, 1e-9)
    }

    private static func guess(_ condition: CompiledCondition) -> Double {
        switch condition.access {
        case .column(let column)?:
            switch column.kind {
            case .values(let values): min(0.5, PlanEstimator.Guess.equal * Double(values.count))
            case .otherThan, .notNil: 0.9
            case .prefix: PlanEstimator.Guess.prefix
            case .range(let lower, let upper):
                lower == nil || upper == nil ? PlanEstimator.Guess.halfOpen : PlanEstimator.Guess.closed
            }
        case .objects?, .members?: 0.01
        case .text?: PlanEstimator.Guess.prefix
        case .join?, .any?, nil: PlanEstimator.Guess.other
        }
    }

    // MARK: Order from an index

    private mutating func orderedPlans(
        _ parts: [Double], _ context: PlanInput, _ purpose: Purpose
    ) throws -> [QueryPlan] {
        var plans: [QueryPlan] = []
        for index in context.entity.indexes {
            guard let found = try ordered(index, context, purpose) else { continue }
            let rest = context.conditions.indices.filter { !found.covers.contains($0) }
            let matches = rest.reduce(found.step.rows) { $0 * parts[$1] }
            let readsRows = !rest.isEmpty || purpose.readsRows
            var examined = found.step.rows
            if let needed = purpose.needed {
                examined = min(examined, matches > 0 ? Double(needed) * found.step.rows / matches : examined)
                examined = min(found.step.rows, examined + (try tied(in: found.step, index)))
            }
            let each =
                PlanCost.indexEntry
                + (readsRows
                    ? PlanCost.row + rest.reduce(0) { $0 + PlanCost.evaluating(context.conditions[$1].row) } : 0)
            let cost = PlanCost.seek + examined * each
            let filter = RowFilter(rest.map { context.conditions[$0] }, of: context.conditions)
            let root =
                readsRows
                ? PlanStep(.filter(found.step, filter), context.entities, rows: matches, cost: cost) : found.step
            plans.append(QueryPlan(root: root, order: .index, cost: cost))
        }
        return plans
    }

    /// The number of entries that must be read together if the index has more elements than the order.
    private func tied(in step: PlanStep, _ index: IndexSchema) throws -> Double {
        guard case .index(let access) = step.kind, let elements = access.orderElements else { return 0 }
        guard elements > 0, let sizes = try estimator.statistics(of: index)?.groupSizes, elements <= sizes.count else {
            return elements > 0 ? step.rows * PlanEstimator.Guess.equal : step.rows
        }
        return sizes[elements - 1]
    }

    private func ordered(
        _ index: IndexSchema, _ context: PlanInput, _ purpose: Purpose
    ) throws -> Source? {
        let prepared = try IndexMap.of(schema).index(index.id)
        guard let covered = implied(prepared, context.conditions) else { return nil }
        var match = IndexMatch(index, prepared.codec, context.columns)
        guard match.close(), let ordering = match.ordering(for: purpose.order) else { return nil }
        return try source(prepared, match, covered, context, ordering)
    }
}
