// Replaces the key paths from `SELF` in predicates and expressions.

extension FetchPredicate {
    /// The predicate with other key paths.
    package func mappingKeyPaths<E: Error>(_ change: (String) throws(E) -> String) throws(E) -> FetchPredicate {
        switch self {
        case .constant: return self
        case .not(let part): return .not(try part.mappingKeyPaths(change))
        case .and(let parts): return .and(try Self.mapped(parts, change))
        case .or(let parts): return .or(try Self.mapped(parts, change))
        case .comparison(var comparison):
            comparison.left = try comparison.left.mappingKeyPaths(change)
            comparison.right = try comparison.right.mappingKeyPaths(change)
            return .comparison(comparison)
        }
    }

    private static func mapped<E: Error>(
        _ parts: [FetchPredicate], _ change: (String) throws(E) -> String
    ) throws(E) -> [FetchPredicate] {
        var mapped: [FetchPredicate] = []
        for part in parts { mapped.append(try part.mappingKeyPaths(change)) }
        return mapped
    }
}

extension FetchExpression {
    /// The expression with other key paths. Paths from other expressions, such as `$x.name`, stay.
    package func mappingKeyPaths<E: Error>(_ change: (String) throws(E) -> String) throws(E) -> FetchExpression {
        switch self {
        case .constant, .evaluatedObject, .variable: return self
        case .keyPath(let path): return .keyPath(try change(path))
        case .aggregate(let parts): return .aggregate(try Self.mapped(parts, change))
        case .keyPathOf(let base, let path): return .keyPathOf(try base.mappingKeyPaths(change), path)
        case .function(let function, let arguments): return .function(function, try Self.mapped(arguments, change))
        case .conditional(let condition, let first, let second):
            return .conditional(
                try condition.mappingKeyPaths(change), try first.mappingKeyPaths(change),
                try second.mappingKeyPaths(change))
        case .subquery(let collection, let variable, let condition):
            return .subquery(
                try collection.mappingKeyPaths(change), variable: variable, try condition.mappingKeyPaths(change))
        case .set(let operation, let left, let right):
            return .set(operation, try left.mappingKeyPaths(change), try right.mappingKeyPaths(change))
        case .element(let list, .at(let index)):
            return .element(try list.mappingKeyPaths(change), at: .at(try index.mappingKeyPaths(change)))
        case .element(let list, let index): return .element(try list.mappingKeyPaths(change), at: index)
        }
    }

    private static func mapped<E: Error>(
        _ parts: [FetchExpression], _ change: (String) throws(E) -> String
    ) throws(E) -> [FetchExpression] {
        var mapped: [FetchExpression] = []
        for part in parts { mapped.append(try part.mappingKeyPaths(change)) }
        return mapped
    }
}
