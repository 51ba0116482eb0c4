import StrataModel

// The sources that a plan can choose from: indexes, links, unions and given ids.

extension Planner {
    /// All ways except a scan to find the objects that meet some of the conditions.
    mutating func sources(_ context: PlanInput) throws -> [Source] {
        var sources: [Source] = []
        for (position, condition) in context.conditions.enumerated() {
            guard let access = condition.access else { continue }
            var covers = ConditionSet()
            covers.insert(position)
            switch access {
            case .objects(let ids):
                sources.append(Source(step: objects(ids, context.entities), covers: covers))
            case .members(let relationship, let members):
                if let step = try self.members(of: relationship, members, context) {
                    sources.append(Source(step: step, covers: covers))
                }
            case .column(let column):
                if let step = try toOne(column, context) { sources.append(Source(step: step, covers: covers)) }
            case .join(let join):
                if let step = try self.join(join, context) {
                    sources.append(Source(step: step, covers: join.isExact ? covers : ConditionSet()))
                }
            case .text(let condition):
                sources.append(Source(step: try text(condition, context), covers: covers))
            case .any(let lists):
                if let found = try union(lists, context) {
                    sources.append(Source(step: found.step, covers: found.isExact ? covers : ConditionSet()))
                }
            }
        }
        for index in context.entity.indexes {
            if let source = try source(index, context) { sources.append(source) }
        }
        return sources
    }

    /// The step for objects with given ids, as far as they are of the entities.
    private func objects(_ named: [ObjectID], _ entities: EntitySet) -> PlanStep {
        let ids = Set(named.filter { !$0.isNil && entities.contains($0) }).sorted()
        let count = Double(ids.count)
        return PlanStep(ids.isEmpty ? .nothing : .objects(ids), entities, rows: count, cost: count * PlanCost.row)
    }

    /// The step for the objects that a text query finds.
    private func text(_ condition: TextCondition, _ context: PlanInput) throws -> PlanStep {
        let query = condition.query
        if query.isEmpty { return PlanStep(.nothing, context.entities, rows: 0, cost: 0) }
        let rows = Double(try estimator.snapshot.roughCount(of: query, condition.text))
        let readsPositions =
            query.phrases.contains { $0.words.count > 1 || $0.isInitial }
            || condition.columns.contains { $0 != nil }
        let each = PlanCost.textEntry + (readsPositions ? PlanCost.textPosition : 0)
        let step = PlanStep.Kind.text(condition)
        return PlanStep(
            step, context.entities, rows: rows, cost: Double(query.words.count) * PlanCost.seek + rows * each)
    }

    // MARK: Indexes

    private func source(_ index: IndexSchema, _ context: PlanInput) throws -> Source? {
        let first = index.elements[0].slot
        guard index.partialPredicate != nil || context.columns.contains(where: { $0?.slot == first }) else {
            return nil
        }
        let prepared = try IndexMap.of(schema).index(index.id)
        guard let covered = implied(prepared, context.conditions) else { return nil }
        var match = IndexMatch(index, prepared.codec, context.columns)
        guard !match.used.isEmpty || index.partialPredicate != nil, match.close() else { return nil }
        return try source(prepared, match, covered, context)
    }

    func source(
        _ prepared: IndexMap.PreparedIndex, _ match: IndexMatch, _ implied: ConditionSet, _ context: PlanInput,
        _ ordering: IndexMatch.Ordering? = nil
    ) throws -> Source {
        var covers = implied
        if !match.needsRecheck { covers.formUnion(match.used) }
        guard !match.ranges.isEmpty else {
            return Source(step: PlanStep(.nothing, context.entities, rows: 0, cost: 0), covers: covers)
        }
        let rows = try rows(in: match, of: prepared.index, context)
        let access = IndexAccess(prepared, match, context.entities, ordering)
        let cost =
            Double(match.ranges.count) * PlanCost.seek + rows * PlanCost.indexEntry
            + (access.isSortedByID ? 0 : rows * PlanCost.sortedID)
        return Source(step: PlanStep(.index(access), context.entities, rows: rows, cost: cost), covers: covers)
    }

    /// The estimated number of entries in the ranges.
    func rows(in match: IndexMatch, of index: IndexSchema, _ context: PlanInput) throws -> Double {
        let bound = match.boundElements
        if index.isUnique, match.isWhole { return min(context.total, Double(match.ranges.count)) }
        let known = try estimator.statistics(of: index)
        let entries = known?.entries ?? context.total * (index.partialPredicate == nil ? 1 : 0.5)
        let looked = match.ranges.prefix(16)
        var rows = 0.0
        for range in looked {
            if let part = known?.part(in: range) {
                rows += entries * part
            } else {
                // Fewer than three keys of the sample are in the range.
                let most = known.map { entries * 2.5 / Double(max(3, $0.sample.count)) } ?? entries
                let group = known.flatMap { bound <= $0.groupSizes.count && bound > 0 ? $0.groupSizes[bound - 1] : nil }
                let equal = bound == 0 ? entries : max(1, group ?? entries * PlanEstimator.Guess.equal)
                rows += min(most, equal * match.rangeGuess)
            }
        }
        return min(entries, rows * Double(match.ranges.count) / Double(max(1, looked.count)))
    }

    /// The conditions that every row in a partial index meets; nil if the index may lack rows that the query needs.
    func implied(_ prepared: IndexMap.PreparedIndex, _ conditions: [CompiledCondition]) -> ConditionSet? {
        var covered = ConditionSet()
        for part in prepared.conditions {
            if let same = conditions.firstIndex(where: { $0.predicate == part.predicate }) {
                covered.insert(same)
            } else if !conditions.contains(where: { $0.impliesValue(of: part) }) {
                return nil
            }
        }
        return covered
    }

    // MARK: Links

    /// The owners of members with given ids.
    private func members(
        of relationship: PropertyID, _ members: [ObjectID], _ context: PlanInput
    ) throws -> PlanStep? {
        guard let property = context.entity.property(relationship), let far = property.relationship?.destination,
            let farEntity = schema.entity(far)
        else { return nil }
        let owners = objects(members, EntitySet(farEntity.concreteEntityIDs, schema))
        return try links(.toMany(relationship), from: owners, farEntity, context)
    }

    /// The objects whose to-one has a target with a given id: the members of its inverse.
    private func toOne(_ column: ColumnCondition, _ context: PlanInput) throws -> PlanStep? {
        guard column.elementPath.isEmpty, case .values(let values) = column.kind, !values.contains(.null),
            let relationship = context.entity.properties[column.slot].relationship,
            let far = schema.entity(relationship.destination)
        else { return nil }
        let owners = objects(values.compactMap(\.object), EntitySet(far.concreteEntityIDs, schema))
        return try links(.toOne(slot: column.slot), from: owners, far, context)
    }

    /// Objects whose far end meets conditions: the far ends are found, and their links lead back.
    private mutating func join(_ join: ConditionJoin, _ context: PlanInput) throws -> PlanStep? {
        let far = EntitySet(join.far.concreteEntityIDs, schema)
        // Nothing is planned at the far end if no links lead back.
        guard let way = join.way else { return nil }
        let found = try plan(join.conditions, of: join.far, far, for: Purpose())
        return try links(join.hop, way, from: found.root, join.far, context)
    }

    private func links(
        _ hop: ResolvedPath.Hop, _ way: LinkAccess.Way? = nil, from owners: PlanStep, _ far: EntitySchema,
        _ context: PlanInput
    ) throws -> PlanStep? {
        guard let way = way ?? schema.links.way(of: hop, from: context.entity, schema) else { return nil }
        if case .nothing = owners.kind { return PlanStep(.nothing, context.entities, rows: 0, cost: 0) }
        let rows: Double, cost: Double
        switch way {
        case .links(let link):
            rows = owners.rows * (try estimator.members(of: link, near: context.entities, far: far))
            cost = owners.cost + owners.rows * PlanCost.seek + rows * (PlanCost.link + PlanCost.sortedID)
        case .reference:
            rows = owners.rows
            cost = owners.cost + rows * (PlanCost.row + PlanCost.sortedID)
        }
        let name: String
        switch hop {
        case .toOne(let slot): name = context.entity.properties[slot].name
        case .toMany(let relationship): name = context.entity.property(relationship)?.name ?? ""
        }
        return PlanStep(
            .links(LinkAccess(owners: owners, way: way, name: name)), context.entities,
            rows: min(context.total, rows), cost: cost)
    }

    // MARK: Alternatives

    /// The union of the objects of several lists; nil if one of them can only be found by a scan.
    private mutating func union(
        _ lists: [[CompiledCondition]], _ context: PlanInput
    ) throws -> (step: PlanStep, isExact: Bool)? {
        var steps: [PlanStep] = []
        var isExact = true
        for list in lists {
            let inner = PlanInput(list, context.entity, context.entities, total: context.total)
            let sources = try sources(inner)
            let usable = sources.min { weight($0, list) < weight($1, list) }
            guard let source = usable else { return nil }
            if case .nothing = source.step.kind { continue }
            steps.append(source.step)
            if list.indices.contains(where: { !source.covers.contains($0) }) { isExact = false }
        }
        guard let first = steps.first else {
            return (PlanStep(.nothing, context.entities, rows: 0, cost: 0), true)
        }
        if steps.count == 1 { return (first, isExact) }
        let rows = min(context.total, steps.reduce(0) { $0 + $1.rows })
        let cost = steps.reduce(0) { $0 + $1.cost } + rows * PlanCost.sortedID
        return (PlanStep(.union(steps), context.entities, rows: rows, cost: cost), isExact)
    }

    private func weight(_ source: Source, _ list: [CompiledCondition]) -> Double {
        let isExact = list.indices.allSatisfy(source.covers.contains)
        return source.step.cost + (isExact ? 0 : source.step.rows * PlanCost.row)
    }
}

extension CompiledCondition {
    /// Whether `part` requires a property not to be nil, and this condition implies that.
    fileprivate func impliesValue(of part: CompiledCondition) -> Bool {
        guard let own = column, let other = part.column, case .notNil = other.kind, own.slot == other.slot,
            own.elementPath == other.elementPath
        else { return false }
        if case .values(let values) = own.kind { return !values.contains(.null) }
        return true
    }
}

extension LinkMap {
    /// Returns the way from the far end of a hop to its objects; nil for a one-to-one whose links have no entries.
    func way(of hop: ResolvedPath.Hop, from entity: EntitySchema, _ schema: Schema) -> LinkAccess.Way? {
        switch hop {
        case .toOne(let slot):
            guard let link = link(ofToOne: slot, in: entity), self.link(link) != nil else { return nil }
            return .links(link)
        case .toMany(let number):
            guard let relationship = entity.property(number)?.relationship else { return nil }
            switch relationship.truth {
            case .pair:
                let link = relationship.inverse ?? number.hiddenInverse
                return self.link(link) == nil ? nil : .links(link)
            case .inverseSlot:
                guard let inverse = relationship.inverse, let property = schema.property(inverse) else { return nil }
                return .reference(slot: property.slot)
            case .slot: return nil
            }
        }
    }

    /// The property under which the links of a to-one are entered at the other end; nil for a one-to-one without.
    func link(ofToOne slot: Int, in entity: EntitySchema) -> PropertyID? {
        // An abstract entity has no rows; its to-ones have the same slots in its subentities.
        let concrete = entity.concreteEntityIDs.first ?? entity.id
        return rowLinks(of: concrete).first { $0.slot == slot }?.link
    }
}
