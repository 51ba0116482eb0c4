/// Replaces the variables of a predicate by values.
struct Substitution {
    private var values: [String: FetchExpression]
    /// The variables of the enclosing subqueries, which are not replaced.
    private var bound: Set<String> = []

    init(_ values: [String: (any FetchArgument)?]) {
        self.values = values.mapValues { $0?.fetchExpression ?? .constant(.null) }
    }

    func replaced(_ predicate: FetchPredicate) throws(StrataError) -> FetchPredicate {
        switch predicate {
        case .constant: return predicate
        case .not(let part): return .not(try replaced(part))
        case .and(let parts): return .and(try replaced(parts))
        case .or(let parts): return .or(try replaced(parts))
        case .comparison(var comparison):
            comparison.left = try replaced(comparison.left)
            comparison.right = try replaced(comparison.right)
            return .comparison(comparison)
        }
    }

    private func replaced(_ parts: [FetchPredicate]) throws(StrataError) -> [FetchPredicate] {
        var result: [FetchPredicate] = []
        for part in parts { result.append(try replaced(part)) }
        return result
    }

    private func replaced(_ parts: [FetchExpression]) throws(StrataError) -> [FetchExpression] {
        var result: [FetchExpression] = []
        for part in parts { result.append(try replaced(part)) }
        return result
    }

    private func replaced(_ expression: FetchExpression) throws(StrataError) -> FetchExpression {
        switch expression {
        case .constant, .evaluatedObject: return expression
        case .keyPath(let path): return .keyPath(try replaced(path: path))
        case .aggregate(let parts): return .aggregate(try replaced(parts))
        case .variable(let name): return bound.contains(name) ? expression : try value(name)
        case .keyPathOf(.variable(let name), let path) where !bound.contains(name):
            if let part = part(path, of: name) { return part }
            return .path(try replaced(path: path), of: try value(name))
        case .keyPathOf(let base, let path):
            return .path(try replaced(path: path), of: try replaced(base))
        case .function(let function, let arguments): return .function(function, try replaced(arguments))
        case .conditional(let condition, let first, let second):
            return .conditional(try replaced(condition), try replaced(first), try replaced(second))
        case .subquery(let collection, let variable, let condition):
            var inner = self
            inner.bound.insert(variable)
            return .subquery(try replaced(collection), variable: variable, try inner.replaced(condition))
        case .set(let operation, let left, let right):
            return .set(operation, try replaced(left), try replaced(right))
        case .element(let list, .at(let index)):
            return .element(try replaced(list), at: .at(try replaced(index)))
        case .element(let list, let index): return .element(try replaced(list), at: index)
        }
    }

    /// A part of a variable that has a value of its own, such as `FETCHED_PROPERTY.userInfo`, or an element of that.
    private func part(_ path: String, of name: String) -> FetchExpression? {
        var name = name
        var steps = path.split(separator: ".", omittingEmptySubsequences: false)[...]
        while let step = steps.popFirst() {
            name += ".\(step)"
            guard case .constant(let value)? = values[name] else { continue }
            return .constant(steps.isEmpty ? value : value.element(at: steps.joined(separator: ".")))
        }
        return nil
    }

    private func value(_ name: String) throws(StrataError) -> FetchExpression {
        guard let value = values[name] else {
            throw StrataError(.invalidRequest, "The variable $\(name) has no value.")
        }
        return value
    }

    private func replaced(path: String) throws(StrataError) -> String {
        guard path.contains("$") else { return path }
        var steps: [String] = []
        for step in path.split(separator: ".", omittingEmptySubsequences: false) {
            guard step.hasPrefix("$") else {
                steps.append(String(step))
                continue
            }
            switch try value(String(step.dropFirst())) {
            case .constant(.string(let name)), .keyPath(let name): steps.append(name)
            default:
                throw StrataError(
                    .invalidRequest, "The variable \(step) in a key path must have a property name as its value.")
            }
        }
        return steps.joined(separator: ".")
    }
}
