import StrataModel

/// Chooses how a query is run, by what each way is thought to cost.
///
/// Rows can be found by a scan, or from a source (an index, links, named objects, unions and intersections of these)
/// that settles some of the conditions; what is left is asked of the rows. Estimates come from `PlanEstimator`; when
/// one turns out far too low, the run goes over to a scan (`StepRun`).
struct Planner {
    let schema: Schema
    let estimator: PlanEstimator
    /// Only for tests.
    private var disturbance: PlanDisturbance?
    private let scanFactor: Double

    /// What the caller does with what is found.
    struct Purpose {
        var order: [SortColumn] = []
        /// How many in order are enough; nil for all.
        var needed: Int?
        /// Whether it reads the rows.
        var readsRows = false
        /// Whether anybody looks at estimates of a plan that is best without them.
        var wantsEstimates = true
    }

    /// Steps that yield every object which meets the conditions in `covers`, and perhaps some that do not.
    struct Source {
        var step: PlanStep
        /// Conditions that it settles.
        var covers: ConditionSet
    }

    init(_ view: View, _ access: CompiledQuery.Access) {
        schema = view.schema
        estimator = PlanEstimator(view)
        if case .disturbed(let seed) = access { disturbance = PlanDisturbance(seed: seed) }
        scanFactor = access == .avoidingScans ? 1e9 : 1
    }

    // MARK: Plans

    mutating func plan(
        _ conditions: [CompiledCondition], of entity: EntitySchema, _ entities: EntitySet, for purpose: Purpose
    ) throws -> QueryPlan {
        var context = Context(conditions, entity, entities, total: 1)
        if let plan = try uniquePlan(context, purpose) { return plan }
        if let plan = try coveringPlan(context, purpose) { return plan }
        let total = try estimator.rows(of: entities)
        context.total = total
        let sources = try sources(context)
        let parts = conditions.indices.map { part(of: $0, sources, context) }
        let matches = parts.reduce(total, *)
        var best = scan(context, purpose, matches)
        for source in [combined(sources, parts, context, purpose)] + sources.map(Optional.some) {
            guard let source else { continue }
            consider(finish(source, parts, context, purpose), &best)
        }
        if !purpose.order.isEmpty {
            for plan in try orderedPlans(parts, context, purpose) { consider(plan, &best) }
        }
        return best
    }

    /// What stays the same while one list of conditions is planned.
    struct Context {
        let conditions: [CompiledCondition]
        /// What they ask of properties of the row.
        let columns: [ColumnCondition?]
        let entity: EntitySchema
        let entities: EntitySet
        /// Rows of the entities.
        var total: Double

        init(_ conditions: [CompiledCondition], _ entity: EntitySchema, _ entities: EntitySet, total: Double) {
            self.conditions = conditions
            columns = conditions.map(\.column)
            self.entity = entity
            self.entities = entities
            self.total = total
        }
    }

    private mutating func consider(_ plan: QueryPlan, _ best: inout QueryPlan) {
        let cost = plan.cost * (disturbance?.factor() ?? 1)
        if cost < best.cost { best = QueryPlan(root: plan.root, order: plan.order, cost: cost) }
    }

    /// A unique key names at most one object: nothing is better, and nothing need be known to see it.
    private func uniquePlan(_ context: Context, _ purpose: Purpose) throws -> QueryPlan? {
        guard disturbance == nil, context.columns.contains(where: { $0 != nil }) else { return nil }
        for index in context.entity.indexes where index.isUnique {
            let prepared = try IndexPlan.of(schema).index(index.id)
            var match = IndexMatch(index, prepared.codec, context.columns)
            guard match.isWhole, match.close(), match.ranges.count == 1 else { continue }
            let access = IndexAccess(prepared, match, context.entities)
            let step = PlanStep(.index(access), context.entities, rows: 1, cost: PlanCost.seek)
            let source = Source(step: step, covers: match.needsRecheck ? ConditionSet() : match.used)
            return finish(source, context.conditions.map { _ in 1 }, context, purpose)
        }
        return nil
    }

    /// One range of one index that settles everything, order included, without a row read: no other plan reads less,
    /// however many entries there are.
    private func coveringPlan(_ context: Context, _ purpose: Purpose) throws -> QueryPlan? {
        guard disturbance == nil, !purpose.readsRows, !context.conditions.isEmpty, context.conditions.count < 64 else {
            return nil
        }
        for index in context.entity.indexes where index.partialPredicate == nil {
            let first = index.elements[0].slot
            guard context.columns.contains(where: { $0?.slot == first }) else { continue }
            let prepared = try IndexPlan.of(schema).index(index.id)
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

    /// The plan by one index that is not partial, when one range of it settles all of the conditions and the order.
    ///
    /// - Parameter estimate: the number of entries in the range, for those who look at it.
    static func coveringPlan(
        _ prepared: IndexPlan.PreparedIndex, _ columns: [ColumnCondition?], _ entities: EntitySet,
        order: [SortColumn], estimate: ((IndexMatch) throws -> Double)? = nil
    ) rethrows -> QueryPlan? {
        var match = IndexMatch(prepared.index, prepared.codec, columns)
        guard columns.indices.allSatisfy(match.used.contains), match.close(), !match.needsRecheck,
            match.ranges.count == 1
        else { return nil }
        let direction = match.direction(for: order)
        guard order.isEmpty || direction != nil else { return nil }
        let access = IndexAccess(
            prepared, match, entities, isDescending: direction == .backwards)
        let rows = try estimate?(match) ?? 0
        let cost = PlanCost.seek + rows * (PlanCost.indexEntry + (access.isSortedByID ? 0 : PlanCost.sortedID))
        let step = PlanStep(.index(access), entities, rows: rows, cost: cost)
        return QueryPlan(root: step, order: order.isEmpty ? .byID : .index, cost: cost, isSettled: true)
    }

    private func scan(_ context: Context, _ purpose: Purpose, _ matches: Double) -> QueryPlan {
        let step = PlanStep(
            .scan, context.entities, rows: context.total, cost: (context.total + 1) * PlanCost.scannedRow * scanFactor)
        let filtered = filtered(step, context.conditions, context, purpose, matches)
        return QueryPlan(
            root: filtered, order: purpose.order.isEmpty ? .byID : .sort,
            cost: filtered.cost + sorting(matches, purpose))
    }

    /// The plan that a source makes with what it leaves to ask.
    private func finish(
        _ source: Source, _ parts: [Double], _ context: Context, _ purpose: Purpose
    ) -> QueryPlan {
        let rest = context.conditions.indices.filter { !source.covers.contains($0) }
        let matches = rest.reduce(source.step.rows) { $0 * parts[$1] }
        let step = filtered(source.step, rest.map { context.conditions[$0] }, context, purpose, matches)
        return QueryPlan(
            root: step, order: purpose.order.isEmpty ? .byID : .sort, cost: step.cost + sorting(matches, purpose))
    }

    private func sorting(_ rows: Double, _ purpose: Purpose) -> Double {
        guard !purpose.order.isEmpty else { return 0 }
        let isAcross = purpose.order.contains { $0.column == nil }
        return rows * (PlanCost.sortedRow + (isAcross ? PlanCost.row : 0))
    }

    /// A step that reads the rows of another, where there is something to ask them or somebody wants them.
    private func filtered(
        _ step: PlanStep, _ rest: [CompiledCondition], _ context: Context, _ purpose: Purpose, _ matches: Double
    ) -> PlanStep {
        if case .nothing = step.kind { return step }
        if rest.isEmpty, !purpose.readsRows, purpose.order.isEmpty { return step }
        let isScan = if case .scan = step.kind { true } else { false }
        let each = (isScan ? 0 : PlanCost.row) + rest.reduce(0) { $0 + PlanCost.evaluating($1.row) }
        // Without an order to bring about, enough is enough.
        var examined = step.rows
        if let needed = purpose.needed, purpose.order.isEmpty, matches > 0 {
            examined = min(examined, Double(needed) * step.rows / matches)
        }
        let reading = step.cost * (isScan && step.rows > 0 ? examined / step.rows : 1)
        return PlanStep(
            .filter(step, RowFilter(rest, of: context.conditions)), context.entities, rows: matches,
            cost: reading + examined * each)
    }

    // MARK: Several sources

    /// Sources of which each settles something more, while reading another costs less than the rows it spares.
    private func combined(
        _ sources: [Source], _ parts: [Double], _ context: Context, _ purpose: Purpose
    ) -> Source? {
        let sorted = sources.sorted { $0.step.rows < $1.step.rows }
        guard sorted.count > 1, var current = sorted.first else { return nil }
        var steps = [current.step]
        for source in sorted.dropFirst() where !source.covers.isSubset(of: current.covers) {
            let rows = context.total > 0 ? current.step.rows * source.step.rows / context.total : 0
            var covers = current.covers
            covers.formUnion(source.covers)
            let cost = steps.reduce(source.step.cost) { $0 + $1.cost }
            let step = PlanStep(.intersection(steps + [source.step]), context.entities, rows: rows, cost: cost)
            let next = Source(step: step, covers: covers)
            guard finish(next, parts, context, purpose).cost < finish(current, parts, context, purpose).cost else {
                continue
            }
            current = next
            steps.append(source.step)
        }
        return steps.count > 1 ? current : nil
    }

    /// The part of all rows that is thought to meet a condition.
    private func part(of place: Int, _ sources: [Source], _ context: Context) -> Double {
        var part = Self.guess(context.conditions[place])
        guard context.total > 0 else { return part }
        var own = ConditionSet()
        own.insert(place)
        for source in sources where source.covers == own && place < 64 {
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
        case .join?, .any?, nil: PlanEstimator.Guess.other
        }
    }

    // MARK: Order from an index

    private mutating func orderedPlans(
        _ parts: [Double], _ context: Context, _ purpose: Purpose
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

    private func ordered(
        _ index: IndexSchema, _ context: Context, _ purpose: Purpose
    ) throws -> Source? {
        let prepared = try IndexPlan.of(schema).index(index.id)
        guard let covered = implied(prepared, context.conditions) else { return nil }
        var match = IndexMatch(index, prepared.codec, context.columns)
        guard match.close(), let direction = match.direction(for: purpose.order) else { return nil }
        return try source(
            prepared, match, covered, context, isDescending: direction == .backwards)
    }
}
