import StrataModel

/// The answer of a declared view to a request that groups objects.
///
/// A view is taken only where its answer is the same: keys are not text, whose spelling is that of a group's first
/// object in a request, and floating-point numbers are not summed, because a request rounds each addition. A view that
/// catches up may leave objects out by request.
struct ViewAnswer: Sendable {
    let view: PreparedView
    /// The index of the view's key for each key of the request.
    private let keys: [Int]
    /// The index of the view's aggregate for each aggregate of the request.
    private let aggregates: [Int]

    /// The first view of the schema that has everything a request asks for; nil if there is none.
    static func find(
        _ request: RowsRequest, _ shape: GroupShape, _ entity: EntitySchema, _ schema: Schema
    ) throws(StrataError) -> ViewAnswer? {
        guard !schema.model.views.isEmpty else { return nil }
        for view in try IndexMap.of(schema).views.inline {
            let description = view.description
            guard description.entityName == entity.name,
                description.includesSubentities == request.objects.includesSubentities,
                description.predicate ?? .constant(true) == request.objects.predicate ?? .constant(true),
                let keys = keys(request.groupBy, view), let aggregates = aggregates(shape, view)
            else { continue }
            return ViewAnswer(view: view, keys: keys, aggregates: aggregates)
        }
        return nil
    }

    private static func keys(_ paths: [String], _ view: PreparedView) -> [Int]? {
        guard paths.count == view.keys.count, Set(paths).count == paths.count else { return nil }
        var found: [Int] = []
        for path in paths {
            guard
                let index = view.description.keys.firstIndex(where: { $0.keyPath == path && $0.function == nil }),
                view.keys[index].kind != .text, view.keys[index].kind != .double
            else { return nil }
            found.append(index)
        }
        return found
    }

    private static func aggregates(_ shape: GroupShape, _ view: PreparedView) -> [Int]? {
        var found: [Int] = []
        for aggregate in shape.aggregates {
            guard let function = ViewFunction(aggregate.function) else { return nil }
            let path: String?
            switch aggregate.argument {
            case .evaluatedObject where aggregate.isSize: path = nil
            case .keyPath(let keyPath): path = keyPath
            default: return nil
            }
            let index = view.description.aggregates.indices.first { index in
                let own = view.description.aggregates[index]
                return own.function == function && own.keyPath == path && view.aggregates[index].kind != .doubleSum
            }
            guard let index else { return nil }
            found.append(index)
        }
        return found
    }

    /// The keys and aggregates of each group in this state; nil where the view is not read from its tables, or a sum
    /// has left the range of integers.
    func groups(_ snapshot: Snapshot) throws -> [(keys: [AttributeValue], aggregates: [AttributeValue])]? {
        guard try snapshot.kept(view).tables != nil else { return nil }
        let evaluation = Evaluation(snapshot)
        var groups: [(keys: [AttributeValue], aggregates: [AttributeValue])] = []
        var isExact = true
        try ViewFault.naming {
            try snapshot.forEachGroup(of: view, ViewAccess()) { group in
                let row = try view.columns(group.key, group.state, evaluation)
                let results = aggregates.map { index in
                    let (own, result) = (group.state.aggregates[index], row[view.keys.count + index])
                    if view.aggregates[index].kind == .integerSum, Int64(exactly: own.whole) == nil {
                        isExact = false
                    }
                    return result
                }
                groups.append((keys.map { row[$0] }, results))
            }
        }
        return isExact ? groups : nil
    }
}

extension ViewFunction {
    fileprivate init?(_ function: FetchFunction) {
        switch function {
        case .count: self = .count
        case .sum: self = .sum
        case .average: self = .average
        case .min: self = .min
        case .max: self = .max
        default: return nil
        }
    }
}
