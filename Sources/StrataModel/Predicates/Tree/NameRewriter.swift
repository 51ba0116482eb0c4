/// Writes conditions with other names of entities and properties.
///
/// It knows the entity that each key path begins at: of the object itself, of the members that a `SUBQUERY` tests, and of
/// the objects that a `FETCH` asks for. A path from anything else stays as it is.
package struct NameRewriter<KnownEntity, Failure: Error> {
    /// The new name of a property of an entity, and the entity that it leads to; nil for a property that is not known.
    package typealias Step = (String, KnownEntity) throws(Failure) -> (name: String, end: KnownEntity?)?
    /// The entity of a name, and its new name; nil for one that is not known.
    package typealias Named = (String) throws(Failure) -> (name: String, entity: KnownEntity)?

    private let step: Step
    private let named: Named
    private let kept: Set<String>

    /// The entities of names in a part of the predicate: that of the object itself, and those of the variables.
    private struct Scope {
        let object: KnownEntity
        var variables: [String: KnownEntity] = [:]
    }

    /// - Parameter kept: paths from the object itself that stay, such as names of columns.
    package init(keeping kept: Set<String> = [], step: @escaping Step, named: @escaping Named) {
        self.step = step
        self.named = named
        self.kept = kept
    }

    package func predicate(
        _ predicate: FetchPredicate, of entity: KnownEntity
    ) throws(Failure) -> FetchPredicate {
        try rewritten(predicate, Scope(object: entity))
    }

    package func expression(
        _ expression: FetchExpression, of entity: KnownEntity
    ) throws(Failure) -> FetchExpression {
        try rewritten(expression, Scope(object: entity)).expression
    }

    package func path(_ path: String, of entity: KnownEntity) throws(Failure) -> String {
        try rewritten(path, entity).path
    }

    /// Operators and `SELF` stay, and the steps after them begin where those before them end.
    private func rewritten(_ path: String, _ entity: KnownEntity) throws(Failure) -> (path: String, end: KnownEntity?) {
        var end: KnownEntity? = entity
        var steps: [String] = []
        for name in path.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
            guard let start = end, !name.hasPrefix("@"), name.lowercased() != "self" else {
                steps.append(name)
                continue
            }
            let found = try step(name, start)
            steps.append(found?.name ?? name)
            end = found?.end
        }
        return (steps.joined(separator: "."), end)
    }

    // MARK: Predicates

    private func rewritten(_ predicate: FetchPredicate, _ scope: Scope) throws(Failure) -> FetchPredicate {
        switch predicate {
        case .constant: return predicate
        case .not(let part): return .not(try rewritten(part, scope))
        case .and(let parts): return .and(try rewritten(parts, scope))
        case .or(let parts): return .or(try rewritten(parts, scope))
        case .comparison(var comparison):
            comparison.left = try rewritten(comparison.left, scope).expression
            comparison.right = try rewritten(comparison.right, scope).expression
            return .comparison(comparison)
        }
    }

    private func rewritten(_ parts: [FetchPredicate], _ scope: Scope) throws(Failure) -> [FetchPredicate] {
        var result: [FetchPredicate] = []
        for part in parts { result.append(try rewritten(part, scope)) }
        return result
    }

    // MARK: Expressions

    /// An expression, and the entity of its objects; nil if it has none, or none that is known.
    private typealias Result = (expression: FetchExpression, end: KnownEntity?)

    private func rewritten(_ expression: FetchExpression, _ scope: Scope) throws(Failure) -> Result {
        switch expression {
        case .constant: return (expression, nil)
        case .evaluatedObject: return (expression, scope.object)
        case .variable(let name): return (expression, scope.variables[name])
        case .keyPath(let path) where kept.contains(path): return (expression, nil)
        case .keyPath(let path):
            let (path, end) = try rewritten(path, scope.object)
            return (.keyPath(path), end)
        case .keyPathOf(let base, let path):
            let (base, start) = try rewritten(base, scope)
            guard let start else { return (.keyPathOf(base, path), nil) }
            let (newPath, end) = try rewritten(path, start)
            return (.keyPathOf(base, newPath), end)
        case .aggregate(let parts):
            let (parts, end) = try rewritten(parts, scope)
            return (.aggregate(parts), end)
        case .function(.fetch, let arguments): return try fetch(arguments)
        case .function(let function, let arguments):
            let (arguments, end) = try rewritten(arguments, scope)
            return (.function(function, arguments), Self.keepsObjects.contains(function) ? end : nil)
        case .conditional(let condition, let first, let second):
            let condition = try rewritten(condition, scope)
            let (first, end) = try rewritten(first, scope)
            let (second, other) = try rewritten(second, scope)
            return (.conditional(condition, first, second), end ?? other)
        case .subquery(let collection, let variable, let condition):
            let (collection, end) = try rewritten(collection, scope)
            var inner = scope
            inner.variables[variable] = end
            return (.subquery(collection, variable: variable, try rewritten(condition, inner)), end)
        case .set(let operation, let left, let right):
            let (left, end) = try rewritten(left, scope)
            let (right, other) = try rewritten(right, scope)
            return (.set(operation, left, right), end ?? other)
        case .element(let list, let index):
            let (list, end) = try rewritten(list, scope)
            guard case .at(let place) = index else { return (.element(list, at: index), end) }
            return (.element(list, at: .at(try rewritten(place, scope).expression)), end)
        }
    }

    /// Functions that give objects of their first argument.
    private static var keepsObjects: Set<FetchFunction> { [.noIndex, .elementAt] }

    private func rewritten(
        _ parts: [FetchExpression], _ scope: Scope
    ) throws(Failure) -> (expressions: [FetchExpression], end: KnownEntity?) {
        var result: [FetchExpression] = []
        var end: KnownEntity?
        for part in parts {
            let (expression, found) = try rewritten(part, scope)
            result.append(expression)
            end = end ?? found
        }
        return (result, end)
    }

    /// The request of a `FETCH` is about its own objects. One that cannot be read stays, and the query refuses it.
    private func fetch(_ arguments: [FetchExpression]) throws(Failure) -> Result {
        guard let first = arguments.first, case .constant(let value) = first, var request = try? NestedFetch(value),
            let (name, entity) = try named(request.entityName)
        else { return (.function(.fetch, arguments), nil) }
        request.entityName = name
        if let predicate = request.predicate { request.predicate = try self.predicate(predicate, of: entity) }
        for index in request.sort.indices {
            request.sort[index].keyPath = try path(request.sort[index].keyPath, of: entity)
        }
        return (.function(.fetch, [.constant(request.value)] + arguments.dropFirst()), entity)
    }
}
