// Replaces the key paths from `SELF` in predicates and expressions.

extension FetchPredicate {
    /// The predicate with expressions in place of its key paths.
    package func replacingKeyPaths<E: Error>(_ change: (String) throws(E) -> FetchExpression) throws(E)
        -> FetchPredicate
    {
        switch self {
        case .constant: return self
        case .not(let part): return .not(try part.replacingKeyPaths(change))
        case .and(let parts): return .and(try Self.mapped(parts, change))
        case .or(let parts): return .or(try Self.mapped(parts, change))
        case .comparison(var comparison):
            comparison.left = try comparison.left.replacingKeyPaths(change)
            comparison.right = try comparison.right.replacingKeyPaths(change)
            return .comparison(comparison)
        }
    }

    private static func mapped<E: Error>(
        _ parts: [FetchPredicate], _ change: (String) throws(E) -> FetchExpression
    ) throws(E) -> [FetchPredicate] {
        var mapped: [FetchPredicate] = []
        for part in parts { mapped.append(try part.replacingKeyPaths(change)) }
        return mapped
    }
}

extension FetchExpression {
    /// The expression with others in place of its key paths. Paths from other expressions, such as `$x.name`, stay.
    package func replacingKeyPaths<E: Error>(_ change: (String) throws(E) -> FetchExpression) throws(E)
        -> FetchExpression
    {
        switch self {
        case .constant, .evaluatedObject, .variable: return self
        case .keyPath(let path): return try change(path)
        case .aggregate(let parts): return .aggregate(try Self.mapped(parts, change))
        case .keyPathOf(let base, let path): return .keyPathOf(try base.replacingKeyPaths(change), path)
        case .function(let function, let arguments): return .function(function, try Self.mapped(arguments, change))
        case .conditional(let condition, let first, let second):
            return .conditional(
                try condition.replacingKeyPaths(change), try first.replacingKeyPaths(change),
                try second.replacingKeyPaths(change))
        case .subquery(let collection, let variable, let condition):
            return .subquery(
                try collection.replacingKeyPaths(change), variable: variable, try condition.replacingKeyPaths(change))
        case .set(let operation, let left, let right):
            return .set(operation, try left.replacingKeyPaths(change), try right.replacingKeyPaths(change))
        case .element(let list, .at(let index)):
            return .element(try list.replacingKeyPaths(change), at: .at(try index.replacingKeyPaths(change)))
        case .element(let list, let index): return .element(try list.replacingKeyPaths(change), at: index)
        }
    }

    private static func mapped<E: Error>(
        _ parts: [FetchExpression], _ change: (String) throws(E) -> FetchExpression
    ) throws(E) -> [FetchExpression] {
        var mapped: [FetchExpression] = []
        for part in parts { mapped.append(try part.replacingKeyPaths(change)) }
        return mapped
    }
}
