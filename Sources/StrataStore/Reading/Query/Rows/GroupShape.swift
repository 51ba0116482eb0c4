import StrataModel

/// The shape of a grouping: the keys of a group, its aggregates, and the columns of its row.
///
/// Aggregates and keys become variables, and the expressions around them are evaluated once for each group.
struct GroupShape: Sendable {
    struct Aggregate: Sendable {
        let function: FetchFunction
        /// nil for `count:(SELF)`, which counts every object.
        let reader: ValueReader?
        let argument: FetchExpression

        /// Whether the aggregate is the number of the group's objects.
        var isSize: Bool { reader == nil && function == .count }
    }

    /// The key paths of `groupBy`, as columns whose keys distinguish groups.
    let keys: [SortColumn]
    /// The expansion of keys across a to-many; nil if there is none.
    let expansion: GroupExpansion?
    let aggregates: [Aggregate]
    /// The columns of the result.
    let outputs: [FetchExpression]
    let having: FetchPredicate?
    /// The index of each column among a group's keys or aggregates; nil unless every column is one of them.
    let plainOutputs: [(isKey: Bool, position: Int)]?

    /// - Parameter hidden: columns that only the order of the rows needs.
    init(
        _ request: RowsRequest, hidden: [OutputColumn], _ entity: EntitySchema, _ schema: Schema
    ) throws(StrataError) {
        var keys: [SortColumn] = []
        for path in request.groupBy {
            keys.append(try SortColumn(SortDescription(path), entity, schema, allowsMany: true))
        }
        expansion = try GroupExpansion(request.groupBy, entity, schema)
        var rewriter = AggregateRewriter(groupBy: request.groupBy, entity: entity.name)
        var outputs: [FetchExpression] = []
        for column in request.columns + hidden { outputs.append(try rewriter.rewritten(column.expression)) }
        rewriter.columns = Dictionary(
            zip(request.columns.map(\.name), outputs), uniquingKeysWith: { first, _ in first })
        having = try request.having.map { (having) throws(StrataError) in try rewriter.rewritten(having) }
        self.keys = keys
        self.outputs = outputs
        let positions = outputs.compactMap(GroupVariable.position)
        plainOutputs = positions.count == outputs.count ? positions : nil
        var aggregates: [Aggregate] = []
        for (function, argument) in rewriter.aggregates {
            let reader = argument == .evaluatedObject ? nil : try ValueReader(argument, entity, schema)
            if reader?.type == .encrypted, function != .count {
                throw StrataError(
                    .invalidRequest, "\(argument) is encrypted, and can only be counted.",
                    context: .init(entityName: entity.name, key: argument.description))
            }
            if let type = reader?.type, [.sum, .average].contains(function), !type.isNumber {
                throw StrataError(
                    .wrongType, "\(argument) is \(type.name) and has no sum.",
                    context: .init(entityName: entity.name, key: argument.description))
            }
            aggregates.append(Aggregate(function: function, reader: reader, argument: argument))
        }
        self.aggregates = aggregates
    }

    /// Returns the query for each `min:` and `max:` of a single group of all objects that an index may answer.
    func extremes(
        _ request: RowsRequest, _ schema: Schema, _ access: CompiledQuery.Access
    ) throws(StrataError) -> [CompiledRows.Extreme?] {
        let none = [CompiledRows.Extreme?](repeating: nil, count: aggregates.count)
        guard keys.isEmpty else { return none }
        var found = none
        for (position, aggregate) in aggregates.enumerated() {
            guard case .keyPath(let path) = aggregate.argument, let reader = aggregate.reader, let type = reader.type,
                reader.ownSlot != nil
            else { continue }
            let isMinimum = aggregate.function == .min
            guard isMinimum || aggregate.function == .max else { continue }
            var objects = request.objects
            // NaN is no extreme, and is sorted above infinity.
            let exists: FetchPredicate
            switch type {
            case .floatingPoint: exists = .lessThanOrEqual(path, .double(.infinity))
            case .integer, .text, .decimal: exists = .isNotNil(path)
            default: continue
            }
            objects.predicate = objects.predicate.map { $0 && exists } ?? exists
            objects.sort = [SortDescription(path, isAscending: isMinimum)]
            (objects.limit, objects.offset) = (1, 0)
            found[position] = CompiledRows.Extreme(
                query: try CompiledQuery(objects, schema, access: access), reader: reader)
        }
        return found
    }
}

/// Replaces each aggregate and each key of a group by a variable.
private struct AggregateRewriter {
    let groupBy: [String]
    let entity: String
    /// The columns that a `having` can use by name.
    var columns: [String: FetchExpression] = [:]
    private(set) var aggregates: [(function: FetchFunction, argument: FetchExpression)] = []

    mutating func rewritten(_ expression: FetchExpression) throws(StrataError) -> FetchExpression {
        if let (function, argument) = expression.aggregate {
            let known = aggregates.firstIndex { $0.function == function && $0.argument == argument }
            if known == nil { aggregates.append((function, argument)) }
            return .variable(GroupVariable.aggregate(known ?? aggregates.count - 1))
        }
        switch expression {
        case .constant: return expression
        case .variable(let name):
            // `$count` is the column named count, as Core Data writes it.
            if let column = columns[name] { return column }
            return groupBy.firstIndex(of: name).map { .variable(GroupVariable.key($0)) } ?? expression
        case .keyPath(let path):
            if let position = groupBy.firstIndex(of: path) { return .variable(GroupVariable.key(position)) }
            if let column = columns[path] { return column }
            let aside = NearestName.aside(for: path, among: columns.keys.sorted() + groupBy)
            throw StrataError(
                .invalidRequest,
                "\(path)\(aside) is neither grouped by nor in an aggregate, so a group has no single value.",
                context: .init(entityName: entity, key: path))
        case .function(let function, let arguments):
            return .function(function, try rewritten(arguments))
        case .aggregate(let parts): return .aggregate(try rewritten(parts))
        case .keyPathOf(let base, let path): return .keyPathOf(try rewritten(base), path)
        case .conditional(let condition, let first, let second):
            return .conditional(try rewritten(condition), try rewritten(first), try rewritten(second))
        case .set(let operation, let left, let right):
            return .set(operation, try rewritten(left), try rewritten(right))
        case .element(let list, let index): return .element(try rewritten(list), at: index)
        case .evaluatedObject, .subquery:
            throw StrataError(
                .invalidRequest, "\(expression) uses a single object, but a group has several.",
                context: .init(entityName: entity))
        }
    }

    private mutating func rewritten(_ parts: [FetchExpression]) throws(StrataError) -> [FetchExpression] {
        var result: [FetchExpression] = []
        for part in parts { result.append(try rewritten(part)) }
        return result
    }

    mutating func rewritten(_ predicate: FetchPredicate) throws(StrataError) -> FetchPredicate {
        switch predicate {
        case .constant: return predicate
        case .not(let part): return .not(try rewritten(part))
        case .and(let parts): return .and(try rewritten(parts))
        case .or(let parts): return .or(try rewritten(parts))
        case .comparison(var comparison):
            comparison.left = try rewritten(comparison.left)
            comparison.right = try rewritten(comparison.right)
            return .comparison(comparison)
        }
    }

    private mutating func rewritten(_ parts: [FetchPredicate]) throws(StrataError) -> [FetchPredicate] {
        var result: [FetchPredicate] = []
        for part in parts { result.append(try rewritten(part)) }
        return result
    }
}

/// The names of a group's variables. Variables of a request never begin with a digit.
enum GroupVariable {
    private static let keyPrefix = "0key"
    private static let aggregatePrefix = "0aggregate"

    /// The index of the key or aggregate that an expression is; nil for other expressions.
    static func position(of expression: FetchExpression) -> (isKey: Bool, position: Int)? {
        guard case .variable(let name) = expression else { return nil }
        if name.hasPrefix(keyPrefix) { return Int(name.dropFirst(keyPrefix.count)).map { (true, $0) } }
        if name.hasPrefix(aggregatePrefix) { return Int(name.dropFirst(aggregatePrefix.count)).map { (false, $0) } }
        return nil
    }

    static func key(_ position: Int) -> String { "\(keyPrefix)\(position)" }
    static func aggregate(_ position: Int) -> String { "\(aggregatePrefix)\(position)" }
}
