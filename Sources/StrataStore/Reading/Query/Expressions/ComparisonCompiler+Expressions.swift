import Foundation
import StrataModel

// Compiles comparisons with functions, collection operators, SUBQUERY, two collections, or ALL of a single value.
// Constant parts are evaluated first; the rest runs through the evaluator for each row.

extension ComparisonCompiler {
    /// Compiles such a comparison; nil for one of paths and constants.
    func compiledExpression() throws(StrataError) -> CompiledCondition? {
        if let text = try compiledText() { return text }
        let (left, right) = (try comparison.left.folded(), try comparison.right.folded())
        if left != nil || right != nil {
            let folded = ComparisonPredicate(
                left ?? comparison.left, comparison.operator, right ?? comparison.right,
                modifier: comparison.modifier, folding: comparison.folding)
            return try ComparisonCompiler(folded, entity, schema).compiled().bound(to: folded)
        }
        if let counted = try subqueryCount() { return counted }
        let needsEvaluator = comparison.left.needsEvaluator || comparison.right.needsEvaluator
        guard needsEvaluator || comparesLists || countsBehindMany || asksForLength || asksForAllOfOne else {
            return nil
        }
        return try evaluated()
    }

    /// The comparison as a condition that evaluates values.
    private func evaluated() throws(StrataError) -> CompiledCondition {
        try PredicateCheck(entity, schema).check(.comparison(comparison))
        let predicate = FetchPredicate.comparison(comparison)
        var fetches = false
        predicate.forEachExpression { if case .function(.fetch, _) = $0 { fetches = true } }
        let isOwnRow =
            !fetches
            && predicate.keyPaths.allSatisfy { path in
                (try? ResolvedPath.of(path, in: entity, schema)).map { $0.hops.isEmpty } ?? false
            }
        return CompiledCondition(ExpressionCondition(predicate, isOwnRow: isOwnRow), predicate)
    }

    /// Whether the comparison compares two collections by their members: `tags == {a, b}`.
    private var comparesLists: Bool {
        guard comparison.modifier == .direct, [.equalTo, .notEqualTo].contains(comparison.operator) else {
            return false
        }
        return isCollection(comparison.left) && isCollection(comparison.right)
    }

    /// Whether the comparison counts everything that a path through a to-many leads to: `tags.items.@count`.
    private var countsBehindMany: Bool {
        guard comparison.modifier == .direct else { return false }
        return [comparison.left, comparison.right].contains { side in
            guard case .keyPath(let text) = side, text.hasOperator, text.hasSuffix(".@count") else { return false }
            return (try? ResolvedPath.of(text, in: entity, schema))?.isToMany ?? false
        }
    }

    /// Whether the comparison is an ALL over a single value, which holds for nil as it does without members.
    private var asksForAllOfOne: Bool { comparison.modifier == .all && !isCollection(comparison.left) }

    private var asksForLength: Bool {
        [comparison.left, comparison.right].contains { side in
            guard case .keyPath(let path) = side else { return false }
            return PredicateCheck.isLengthOfText(path, in: entity, schema)
        }
    }

    private func isCollection(_ expression: FetchExpression) -> Bool {
        switch expression {
        case .aggregate: true
        case .keyPath(let path): (try? ResolvedPath.of(path, in: entity, schema))?.isToMany ?? false
        default: false
        }
    }

    // MARK: SUBQUERY

    /// Compiles `SUBQUERY(members, $m, …).@count` compared with a number, if the predicate is about the member only.
    /// Then the member's indexes can lead back to the object.
    private func subqueryCount() throws(StrataError) -> CompiledCondition? {
        guard case .keyPathOf(.subquery(.keyPath(let text), let variable, let predicate), "@count") = comparison.left,
            case .constant(let number) = comparison.right, comparison.modifier == .direct,
            let inner = predicate.speakingOnly(of: variable),
            let path = try? ResolvedPath.of(text, in: entity, schema), path.hops.count == 1,
            case .toMany(let relationship) = path.hops[0], case .object = path.end
        else { return nil }
        guard let operation = countOperation, let value = ComparedType.integer.constant(number), !value.isNull else {
            return nil
        }
        let conditions = try PredicateCompiler(entity: path.entity, schema: schema).conjuncts(of: inner)
        guard let member = RowFilter.conjunction(conditions) else { return nil }
        let ranges = LeafCompiler(
            path: path, type: .integer, operation: operation, folding: [], quantifier: .any, schema: schema
        ).integerRanges([value])
        let row = SubqueryCondition(relationship, member, ranges, isInside: operation != .notEqualTo)
        var compiled = CompiledCondition(row, .comparison(comparison))
        if !row.holdsForZero {
            compiled.access = .join(
                ConditionJoin(
                    hop: path.hops[0], way: schema.links.way(of: path.hops[0], from: entity, schema),
                    near: entity, far: path.entity, conditions: conditions,
                    isExact: row.isExistence))
        }
        return compiled
    }

    private var countOperation: ComparisonPredicate.Operator? {
        switch comparison.operator {
        case .equalTo, .notEqualTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
            comparison.operator
        default: nil
        }
    }
}

extension FetchPredicate {
    /// The predicate with the variable as `SELF`; nil if it uses `SELF` or other variables too.
    fileprivate func speakingOnly(of variable: String) -> FetchPredicate? {
        switch self {
        case .constant: return self
        case .not(let part): return part.speakingOnly(of: variable).map { .not($0) }
        case .and(let parts): return Self.all(parts, variable).map { .and($0) }
        case .or(let parts): return Self.all(parts, variable).map { .or($0) }
        case .comparison(var comparison):
            guard let left = comparison.left.speakingOnly(of: variable),
                let right = comparison.right.speakingOnly(of: variable)
            else { return nil }
            (comparison.left, comparison.right) = (left, right)
            return .comparison(comparison)
        }
    }

    private static func all(_ parts: [FetchPredicate], _ variable: String) -> [FetchPredicate]? {
        let rewritten = parts.compactMap { $0.speakingOnly(of: variable) }
        return rewritten.count == parts.count ? rewritten : nil
    }
}

extension FetchExpression {
    fileprivate func speakingOnly(of variable: String) -> FetchExpression? {
        switch self {
        case .constant: return self
        case .variable(variable): return .evaluatedObject
        case .keyPathOf(.variable(variable), let path): return .keyPath(path)
        case .aggregate(let parts):
            let rewritten = parts.compactMap { $0.speakingOnly(of: variable) }
            return rewritten.count == parts.count ? .aggregate(rewritten) : nil
        case .function(let function, let arguments):
            let rewritten = arguments.compactMap { $0.speakingOnly(of: variable) }
            return rewritten.count == arguments.count ? .function(function, rewritten) : nil
        default: return nil
        }
    }

    /// Whether the expression needs the evaluator: anything but paths, constants and lists of these.
    fileprivate var needsEvaluator: Bool {
        switch self {
        case .constant, .evaluatedObject: false
        // `members.@count` is read from a counter.
        case .keyPath(let path): path.hasOperator && !Self.isPlainCount(path)
        case .aggregate(let parts): parts.contains(where: \.needsEvaluator)
        default: true
        }
    }

    private static func isPlainCount(_ path: String) -> Bool {
        path.hasSuffix(".@count") && !path.dropLast(7).utf8.contains(UInt8(ascii: "@"))
    }

    /// The expression with its constant parts evaluated, so that an index can answer it; nil if there are none.
    fileprivate func folded() throws(StrataError) -> FetchExpression? {
        switch self {
        case .aggregate(let parts):
            var folded = parts
            var isChanged = false
            for (position, part) in parts.enumerated() {
                guard let constant = try part.folded() else { continue }
                folded[position] = constant
                isChanged = true
            }
            return isChanged ? .aggregate(folded) : nil
        case .function:
            guard isConstant else { return nil }
            let operand = try PredicateEvaluator(NoObjects(), object: .one(.null)).value(of: self)
            // A result of nil is not the constant nil: nothing is equal to it.
            guard case .one(let value) = operand, !value.isNull else { return nil }
            return .constant(value)
        default: return nil
        }
    }

    private var isConstant: Bool {
        switch self {
        case .constant: return true
        case .function(let function, let arguments):
            guard function != .random, function != .randomBelow, function != .noIndex, function != .fetch else {
                return false
            }
            return FetchFunction.predefined.contains(function) && arguments.allSatisfy(\.isConstant)
        case .aggregate(let parts): return parts.allSatisfy(\.isConstant)
        default: return false
        }
    }
}

extension String {
    /// Whether a key path has operators, which begin with `@`, or variables, which begin with `$`.
    fileprivate var hasOperator: Bool { utf8.contains { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "$") } }
}
