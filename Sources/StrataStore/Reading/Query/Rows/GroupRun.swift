import StrataModel

/// Makes the rows of groups, from counters and indexes where they suffice, otherwise in one pass over the objects.
struct GroupRun {
    /// The keys and aggregates of one group.
    private struct Group {
        var keys: [AttributeValue]
        var aggregates: [AttributeValue]
    }

    private let query: CompiledRows
    private let shape: GroupShape
    private let snapshot: Snapshot
    private let evaluation: Evaluation

    init(_ query: CompiledRows, _ shape: GroupShape, _ snapshot: Snapshot, _ evaluation: Evaluation) {
        self.query = query
        self.shape = shape
        self.snapshot = snapshot
        self.evaluation = evaluation
    }

    func rows() throws -> [[AttributeValue]] {
        let groups = try fromView() ?? fromIndexes() ?? countedInIndex() ?? inOnePass()
        if shape.having == nil, let positions = shape.plainOutputs {
            return groups.map { group in
                positions.map { $0.isKey ? group.keys[$0.position] : group.aggregates[$0.position] }
            }
        }
        var rows: [[AttributeValue]] = []
        rows.reserveCapacity(groups.count)
        for group in groups { if let row = try row(of: group) { rows.append(row) } }
        return rows
    }

    private func row(of group: Group) throws -> [AttributeValue]? {
        var variables: [String: PredicateOperand] = [:]
        for (position, value) in group.keys.enumerated() { variables[GroupVariable.key(position)] = .one(value) }
        for (position, value) in group.aggregates.enumerated() {
            variables[GroupVariable.aggregate(position)] = .one(value)
        }
        let evaluator = PredicateEvaluator(evaluation.expressions, object: .one(.null), variables: variables)
        if let having = shape.having, try !evaluator.holds(having) { return nil }
        return try shape.outputs.map { output in
            guard case .one(let value) = try evaluator.value(of: output) else {
                throw StrataError(.invalidRequest, "A column of a group is a list, not a single value.")
            }
            return value
        }
    }

    // MARK: From a declared view

    /// The groups of a declared view, in the order that a pass over the objects would give.
    private func fromView() throws -> [Group]? {
        guard let groups = try query.view?.groups(snapshot) else { return nil }
        let made = groups.map { Group(keys: $0.keys, aggregates: $0.aggregates) }
        if shape.keys.isEmpty { return made }
        let numbers = GroupNumbers(shape.keys)
        for group in made { _ = try numbers.number(of: group.keys, evaluation) }
        return numbers.inKeyOrder().map { made[$0] }
    }

    // MARK: From the index alone

    /// The single group of all objects, if counters and indexes answer every aggregate.
    private func fromIndexes() throws -> [Group]? {
        guard shape.keys.isEmpty, !shape.aggregates.isEmpty else { return nil }
        for (position, aggregate) in shape.aggregates.enumerated() {
            if aggregate.function == .count, aggregate.reader == nil { continue }
            guard let extreme = query.extremes[position],
                try extreme.query.plan(for: .objects, snapshot).order == .index
            else { return nil }
        }
        var values: [AttributeValue] = []
        for extreme in query.extremes {
            guard let extreme else {
                values.append(.integer(Int64(try snapshot.count(query.objects))))
                continue
            }
            let first = try snapshot.fetch(extreme.query).first
            values.append(
                try first.map { id in
                    try evaluation.withRow(id) { try $0.map { try extreme.reader.value($0, id, evaluation) } ?? .null }
                } ?? .null)
        }
        return [Group(keys: [], aggregates: values)]
    }

    /// The groups, if their keys are the first elements of an index and all aggregates are counts. It counts entries
    /// without reading rows.
    private func countedInIndex() throws -> [Group]? {
        guard !shape.keys.isEmpty,
            shape.aggregates.allSatisfy({ $0.function == .count && $0.reader == nil }),
            let (access, entities) = try groupedAccess()
        else { return nil }
        let codec = try IndexMap.of(snapshot.schema).index(access.index.id).codec
        let runner = StepRunner(snapshot: snapshot, evaluation: evaluation, trace: nil)
        var groups: [(first: ObjectID, count: Int64)] = []
        func prefixSize(_ key: UnsafeRawBufferPointer) -> Int? {
            guard key.count < IndexKeys.cutKeySize else { return nil }
            let lengths = codec.prefixLengths(of: Array(key.dropFirst(4).dropLast(8)))
            // A key from a damaged page may be too short.
            return min(key.count, 4 + lengths[shape.keys.count - 1])
        }
        // Equal texts may be spelled differently; a group has the spelling of its first object.
        if access.isCovered, snapshot.layers.isEmpty, !access.isDescending, access.ranges.count == 1 {
            let range = access.ranges[0]
            let isWhole = try snapshot.forEachBaseGroup(
                access.index, lower: range.lower, upper: range.upper, prefixSize: prefixSize
            ) { groups.append(($0, Int64($1))) }
            guard isWhole else { return nil }
        } else {
            var prefix: [UInt8] = []
            var isWhole = true
            try runner.forEachEntry(of: access, entities) { id, key in
                if !prefix.isEmpty, prefix.withUnsafeBytes(key.hasPrefix) {
                    groups[groups.count - 1].count += 1
                    groups[groups.count - 1].first = min(groups[groups.count - 1].first, id)
                    return true
                }
                guard let size = prefixSize(key) else {
                    isWhole = false
                    return false
                }
                prefix = Array(key[..<size])
                groups.append((id, 1))
                return true
            }
            guard isWhole else { return nil }
        }
        return try groups.map { group in
            let keys = try evaluation.withRow(group.first) { row in
                try shape.keys.map { key in try row.map { try key.path.value($0, group.first, evaluation) } ?? .null }
            }
            return Group(keys: keys, aggregates: shape.aggregates.map { _ in .integer(group.count) })
        }
    }

    /// An index that begins with the keys, and its ranges with the objects.
    private func groupedAccess() throws -> (IndexAccess, EntitySet)? {
        let objects = query.objects
        if !objects.conditions.isEmpty {
            guard case .index(let access) = try objects.plan(for: .count, snapshot).root.kind, begins(access.index)
            else {
                return nil
            }
            return (access, objects.entities)
        }
        guard objects.isPlanned, let index = objects.entity.indexes.first(where: begins) else { return nil }
        let declared = snapshot.schema.entity(index.entityID)?.concreteEntityIDs ?? []
        let whole = KeyRange(lower: [], upper: nil, needsRecheck: false)
        let access = IndexAccess(
            index: index, ranges: [whole], isSortedByID: false,
            isCovered: declared.allSatisfy { objects.entities.contains(ObjectID(entity: $0, row: 1)) })
        return (access, objects.entities)
    }

    private func begins(_ index: IndexSchema) -> Bool {
        guard index.partialPredicate == nil, index.elements.count >= shape.keys.count else { return false }
        return zip(shape.keys, index.elements).allSatisfy { key, element in
            element.isAscending && element.folding.isEmpty && key.column?.slot == element.slot
                && key.column?.elementPath == element.compositePath
        }
    }

    // MARK: In one pass

    /// About the memory of a group, in bytes.
    private var sizeOfGroup: Int {
        96 + 8 * shape.keys.count + (shape.keys.count + shape.aggregates.count) * MemoryLayout<AttributeValue>.stride
    }

    private func inOnePass() throws -> [Group] {
        let plan = try query.objects.plan(for: .rows, snapshot)
        let runner = StepRunner(snapshot: snapshot, evaluation: evaluation, trace: nil)
        let groups = GroupNumbers(shape.keys)
        var keys: [[AttributeValue]] = []
        var sizes: [Int64] = []
        // The number of a group's objects is counted anyway.
        let aggregates = shape.aggregates.map { $0.isSize ? nil : $0.running() }
        let running = aggregates.compactMap(\.self)
        func begin(_ values: [AttributeValue]) {
            keys.append(values)
            sizes.append(0)
            for aggregate in running { aggregate.addGroup() }
        }
        /// - Parameter values: the key values of the group, read if it is new.
        func add(
            _ row: RowReader, _ id: ObjectID, to group: (group: Int, isNew: Bool),
            _ values: @autoclosure () throws -> [AttributeValue]
        ) throws {
            if group.isNew {
                try snapshot.hold(sizeOfGroup)
                begin(try values())
            }
            sizes[group.group] &+= 1
            for aggregate in running { try aggregate.add(row, id, evaluation, to: group.group) }
        }
        var seen: Set<Int> = []
        try runner.forEach(plan.root, readsRows: true) { id, row in
            guard let row else { return true }
            guard let expansion = shape.expansion else {
                let group = try groups.number(row, id, evaluation)
                try add(row, id, to: group, try shape.keys.map { try $0.path.value(row, id, evaluation) })
                return true
            }
            seen.removeAll(keepingCapacity: true)
            for values in try expansion.combinations(row, id, evaluation) {
                let group = try groups.number(of: values, evaluation)
                if seen.insert(group.group).inserted { try add(row, id, to: group, values) }
            }
            return true
        }
        // Without keys there is one group even if there are no objects.
        if shape.keys.isEmpty, sizes.isEmpty { begin([]) }
        let order = groups.count == 0 ? Array(sizes.indices) : groups.inKeyOrder()
        return try order.map { group in
            Group(
                keys: keys[group],
                aggregates: try aggregates.map { try $0?.result(of: group) ?? .integer(sizes[group]) })
        }
    }
}
