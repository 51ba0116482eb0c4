// Visits all parts of predicates and expressions. The recursion is as deep as the tree; check that with `depth(upTo:)`
// first.

extension FetchPredicate {
    /// The direct parts.
    package var parts: (predicates: [FetchPredicate], expressions: [FetchExpression]) {
        switch self {
        case .comparison(let comparison): ([], [comparison.left, comparison.right])
        case .and(let parts), .or(let parts): (parts, [])
        case .not(let part): ([part], [])
        case .constant: ([], [])
        }
    }

    /// Calls `visit` with every expression in the tree, outer ones first.
    package func forEachExpression(_ visit: (FetchExpression) -> Void) {
        let parts = parts
        for part in parts.predicates { part.forEachExpression(visit) }
        for part in parts.expressions { part.forEachExpression(visit) }
    }

    /// Calls `visit` with every comparison in the tree, also in subqueries and conditional expressions.
    package func forEachComparison(_ visit: (ComparisonPredicate) -> Void) {
        if case .comparison(let comparison) = self { visit(comparison) }
        let parts = parts
        for part in parts.predicates { part.forEachComparison(visit) }
        for part in parts.expressions { part.forEachComparison(visit) }
    }

    /// Every key path from `SELF` in the tree, once.
    package var keyPaths: Set<String> {
        var paths: Set<String> = []
        forEachExpression { if case .keyPath(let path) = $0 { paths.insert(path) } }
        return paths
    }

    /// The names of the variables that are not bound by an enclosing `SUBQUERY`.
    package var freeVariables: Set<String> {
        let parts = parts
        return Set(parts.predicates.flatMap(\.freeVariables) + parts.expressions.flatMap(\.freeVariables))
    }

    /// The levels of nesting, expressions included; nil if there are more than `limit`.
    package func depth(upTo limit: Int) -> Int? {
        guard limit > 0 else { return nil }
        let parts = parts
        return deepest(
            parts.predicates.map { $0.depth(upTo: limit - 1) } + parts.expressions.map { $0.depth(upTo: limit - 1) })
    }
}

extension FetchExpression {
    /// The direct parts.
    package var parts: (predicates: [FetchPredicate], expressions: [FetchExpression]) {
        switch self {
        case .constant, .keyPath, .evaluatedObject, .variable: ([], [])
        case .aggregate(let parts), .function(_, let parts): ([], parts)
        case .keyPathOf(let base, _): ([], [base])
        case .conditional(let condition, let first, let second): ([condition], [first, second])
        case .subquery(let collection, _, let condition): ([condition], [collection])
        case .set(_, let left, let right): ([], [left, right])
        case .element(let list, .at(let index)): ([], [list, index])
        case .element(let list, _): ([], [list])
        }
    }

    /// Calls `visit` with this expression and every expression in it, outer ones first.
    package func forEachExpression(_ visit: (FetchExpression) -> Void) {
        visit(self)
        let parts = parts
        for part in parts.predicates { part.forEachExpression(visit) }
        for part in parts.expressions { part.forEachExpression(visit) }
    }

    package func forEachComparison(_ visit: (ComparisonPredicate) -> Void) {
        let parts = parts
        for part in parts.predicates { part.forEachComparison(visit) }
        for part in parts.expressions { part.forEachComparison(visit) }
    }

    package var freeVariables: Set<String> {
        switch self {
        case .variable(let name): return [name]
        case .keyPath(let path): return Self.variables(inPath: path)
        case .keyPathOf(let base, let path): return base.freeVariables.union(Self.variables(inPath: path))
        case .subquery(let collection, let variable, let condition):
            return collection.freeVariables.union(condition.freeVariables.subtracting([variable]))
        default:
            let parts = parts
            return Set(parts.predicates.flatMap(\.freeVariables) + parts.expressions.flatMap(\.freeVariables))
        }
    }

    private static func variables(inPath path: String) -> Set<String> {
        guard path.contains("$") else { return [] }
        return Set(path.split(separator: ".").filter { $0.hasPrefix("$") }.map { String($0.dropFirst()) })
    }

    package func depth(upTo limit: Int) -> Int? {
        guard limit > 0 else { return nil }
        switch self {
        case .constant, .keyPath, .evaluatedObject, .variable: return 1
        default: break
        }
        let parts = parts
        return deepest(
            parts.predicates.map { $0.depth(upTo: limit - 1) } + parts.expressions.map { $0.depth(upTo: limit - 1) })
    }
}

private func deepest(_ depths: [Int?]) -> Int? {
    var deepest = 0
    for depth in depths {
        guard let depth else { return nil }
        deepest = max(deepest, depth)
    }
    return deepest + 1
}
