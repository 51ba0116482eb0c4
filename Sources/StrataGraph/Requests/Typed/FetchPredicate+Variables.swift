public import StrataModel

// Predicates made of typed conditions, with the variables of their subqueries in order.

extension FetchPredicate {
    /// The predicate with the variables of its subqueries renamed by their depth: x, y, z, x4, and so on.
    func namingVariables(_ names: [String: String] = [:], depth: Int = 0) -> FetchPredicate {
        func named(_ part: FetchPredicate) -> FetchPredicate { part.namingVariables(names, depth: depth) }
        func named(_ part: FetchExpression) -> FetchExpression { part.namingVariables(names, depth: depth) }
        switch self {
        case .comparison(var comparison):
            comparison.left = named(comparison.left)
            comparison.right = named(comparison.right)
            return .comparison(comparison)
        case .and(let parts): return .and(parts.map(named))
        case .or(let parts): return .or(parts.map(named))
        case .not(let part): return .not(named(part))
        case .constant: return self
        }
    }
}

extension FetchExpression {
    func namingVariables(_ names: [String: String], depth: Int) -> FetchExpression {
        func named(_ part: FetchExpression) -> FetchExpression { part.namingVariables(names, depth: depth) }
        switch self {
        case .constant, .keyPath, .evaluatedObject: return self
        case .variable(let name): return .variable(names[name] ?? name)
        case .aggregate(let parts): return .aggregate(parts.map(named))
        case .keyPathOf(let base, let path): return .keyPathOf(named(base), path)
        case .function(let function, let arguments): return .function(function, arguments.map(named))
        case .conditional(let condition, let first, let second):
            return .conditional(condition.namingVariables(names, depth: depth), named(first), named(second))
        case .subquery(let collection, let variable, let condition):
            var inner = names
            inner[variable] = QueryVariables.name(atDepth: depth)
            return .subquery(
                named(collection), variable: QueryVariables.name(atDepth: depth),
                condition.namingVariables(inner, depth: depth + 1))
        case .set(let operation, let left, let right): return .set(operation, named(left), named(right))
        case .element(let list, .at(let index)): return .element(named(list), at: .at(named(index)))
        case .element(let list, let index): return .element(named(list), at: index)
        }
    }
}

extension FetchPredicate {
    /// Makes a predicate of a condition that is written with the properties of a class.
    ///
    /// ```swift
    /// let isGood = FetchPredicate(for: Movie.self) { $0.rating >= 4 && $0.title != "" }
    /// ```
    public init<Root: ManagedObject>(
        for type: Root.Type, _ condition: (ObjectExpression<Root>) -> ValueExpression<Bool>
    ) {
        self = condition(ObjectExpression(.evaluatedObject, mayBeNil: false)).predicate.namingVariables()
    }
}
