import StrataModel

/// Chooses how a query is run.
///
/// Without statistics it goes by the kind of condition: a unique key is better than an equality, that better than a
/// range. The run corrects it: an index that turns out to give too many rows is left for a scan (`QueryRun`).
struct Planner {
    let entity: EntitySchema
    let schema: Schema
    let conjuncts: [CompiledTest]
    let order: [SortColumn]
    let isLimited: Bool

    /// Every row is read.
    var scan: QueryPlan {
        QueryPlan(
            source: .entities, filter: Array(conjuncts.indices), order: order.isEmpty ? .byID : .sort, fraction: 1)
    }

    func plan() -> QueryPlan {
        var best = (plan: scan, cost: cost(of: scan))
        func consider(_ plan: QueryPlan) {
            let cost = cost(of: plan)
            if cost < best.cost { best = (plan, cost) }
        }
        for (place, conjunct) in conjuncts.enumerated() {
            if let plan = plan(byObjectsOf: conjunct, place) { consider(plan) }
            if let plan = plan(byLinksOf: conjunct, place) { consider(plan) }
        }
        for index in entity.indexes {
            if let plan = plan(by: index) { consider(plan) }
        }
        return best.plan
    }

    // MARK: Cost

    /// In reads of a row in a scan of all rows, as a part of all rows. A row found by its id costs about ten, an index
    /// entry a third, sorting as much as reading again.
    private func cost(of plan: QueryPlan) -> Double {
        let isScan = if case .entities = plan.source { true } else { false }
        let needsRows = !plan.filter.isEmpty || plan.order == .sort
        // In the index's order a limit ends the work early.
        let examined = plan.order == .index && isLimited ? plan.fraction * 0.02 : plan.fraction
        let reading = isScan ? 1 : examined * (needsRows ? 10 : 0.3)
        return reading + (plan.order == .sort ? plan.fraction : 0)
    }

    // MARK: Ids and links

    private func remaining(_ used: Int) -> [Int] { conjuncts.indices.filter { $0 != used } }

    private func plan(byObjectsOf conjunct: CompiledTest, _ place: Int) -> QueryPlan? {
        guard let objects = conjunct.objects else { return nil }
        let ids = Set(objects.filter { !$0.isNil }).sorted()
        // That the object exists is told by its row.
        return QueryPlan(
            source: ids.isEmpty ? .nothing : .objects(ids), filter: remaining(place),
            order: order.isEmpty ? .byID : .sort, fraction: 1e-6 * Double(ids.count))
    }

    private func plan(byLinksOf conjunct: CompiledTest, _ place: Int) -> QueryPlan? {
        let links = LinkPlan.of(schema)
        let found: (link: PropertyID, owners: [ObjectID])?
        if let members = conjunct.members, let relationship = entity.property(members.relationship)?.relationship,
            case .pair = relationship.truth
        {
            found = (relationship.inverse ?? members.relationship.hiddenInverse, members.anyOf)
        } else if let condition = conjunct.condition, condition.elementPath.isEmpty,
            case .values(let values) = condition.kind, !values.contains(.null),
            entity.properties[condition.slot].relationship != nil,
            let link = links.link(ofToOne: condition.slot, in: entity)
        {
            found = (link, values.compactMap(\.object))
        } else {
            found = nil
        }
        guard let found, links.source(of: found.link) != nil else { return nil }
        let owners = Set(found.owners.filter { !$0.isNil }).sorted()
        return QueryPlan(
            source: owners.isEmpty ? .nothing : .members(link: found.link, owners: owners), filter: remaining(place),
            order: order.isEmpty ? .byID : .sort, fraction: 0.001 * Double(owners.count))
    }

    // MARK: Indexes

    private func plan(by index: IndexSchema) -> QueryPlan? {
        guard let prepared = try? IndexPlan.of(schema).index(index.id), let covered = implied(index) else { return nil }
        var match = IndexMatch(index, prepared.codec, conjuncts, isOrderWanted: !order.isEmpty)
        guard match.close() else { return nil }
        let direction = match.direction(for: order)
        let orderSource: QueryPlan.Order = order.isEmpty ? .byID : direction == nil ? .sort : .index
        guard !match.used.isEmpty || direction != nil || index.partialPredicate != nil else { return nil }
        let done = match.needsRecheck ? covered : covered.union(match.used)
        guard let ranges = match.ranges, !ranges.isEmpty else {
            return QueryPlan(source: .nothing, filter: [], order: orderSource, fraction: 0)
        }
        let access = IndexAccess(index: index, ranges: ranges, isDescending: direction == .backwards)
        return QueryPlan(
            source: .index(access), filter: conjuncts.indices.filter { !done.contains($0) }, order: orderSource,
            fraction: match.fraction * (index.partialPredicate == nil ? 1 : 0.5))
    }

    /// The conjuncts that a row's being in a partial index settles; nil when the index may lack rows that are asked
    /// for.
    private func implied(_ index: IndexSchema) -> Set<Int>? {
        guard let predicate = index.partialPredicate else { return [] }
        guard let declaring = schema.entity(index.entityID),
            let parts = try? PredicateCompiler(entity: declaring, schema: schema).conjuncts(of: predicate)
        else { return nil }
        var covered: Set<Int> = []
        for part in parts {
            if let same = conjuncts.firstIndex(where: { $0.predicate == part.predicate }) {
                covered.insert(same)
            } else if !conjuncts.contains(where: { $0.impliesValue(of: part) }) {
                return nil
            }
        }
        return covered
    }
}

extension CompiledTest {
    /// Whether `part` asks only that a property is not nil, and this test finds no object where it is.
    fileprivate func impliesValue(of part: CompiledTest) -> Bool {
        guard let own = condition, let other = part.condition, case .notNil = other.kind, own.slot == other.slot,
            own.elementPath == other.elementPath
        else { return false }
        if case .values(let values) = own.kind { return !values.contains(.null) }
        return true
    }
}

extension LinkPlan {
    /// The number under which the links of a to-one stand at its other end; nil for a one-to-one.
    func link(ofToOne slot: Int, in entity: EntitySchema) -> PropertyID? {
        // An abstract entity has no rows; its to-ones have the same slots in those below it.
        let concrete = entity.concreteEntityIDs.first ?? entity.id
        return rowLinks(of: concrete).first { $0.slot == slot }?.link
    }
}
