// The meaning of predicates, in its plainest form: over values that are already at hand. Validation uses it, and every
// faster way of evaluating is tested against it.
//
// Two values are equal when both are nil or both are worth the same; `!=` is the opposite, so nil differs from every
// value. All other operators are false where a side is nil or the sides have no order. `IN` asks for an equal member.
// Strings are compared scalar by scalar in the form that `TextFolding` gives them, so canonically equivalent ones are
// equal.

/// What an expression comes to: one value, or the members at the end of a key path through a to-many relationship.
package enum PredicateOperand: Sendable {
    case one(AttributeValue)
    case many([AttributeValue])
}

extension FetchPredicate {
    /// Whether the predicate holds.
    ///
    /// - Parameters:
    ///   - object: what `SELF` means.
    ///   - operand: what a key path leads to.
    /// - Throws: what `operand` throws; `invalidRequest` for a comparison that makes no sense (a bad pattern, a bare
    ///   to-many on the left of an operator other than `CONTAINS`).
    package func evaluate(
        object: AttributeValue = .null, operand: (String) throws(StrataError) -> PredicateOperand
    ) throws(StrataError) -> Bool {
        switch self {
        case .constant(let value): return value
        case .not(let part): return try !part.evaluate(object: object, operand: operand)
        case .and(let parts):
            for part in parts where try !part.evaluate(object: object, operand: operand) { return false }
            return true
        case .or(let parts):
            for part in parts where try part.evaluate(object: object, operand: operand) { return true }
            return false
        case .comparison(let comparison):
            return try comparison.holds(
                try comparison.left.operand(object: object, operand: operand),
                try comparison.right.operand(object: object, operand: operand))
        }
    }

    /// The same where every key path leads to a single value.
    package func evaluate(
        object: AttributeValue = .null, value: (String) throws(StrataError) -> AttributeValue
    ) throws(StrataError) -> Bool {
        try evaluate(object: object) { (path) throws(StrataError) in .one(try value(path)) }
    }

    /// The rule of an attribute over its value: `SELF` is the value, key paths are elements of a composite.
    package func evaluate(attributeValue value: AttributeValue) throws(StrataError) -> Bool {
        try evaluate(object: value) { (path) throws(StrataError) in .one(value.element(at: path)) }
    }
}

extension AttributeValue {
    /// An element of a composite by its dotted path; nil where there is none.
    package func element(at path: String) -> AttributeValue {
        var current = self
        for step in path.split(separator: ".", omittingEmptySubsequences: false) {
            guard case .composite(let values) = current else { return .null }
            current = values[String(step)] ?? .null
        }
        return current
    }
}

extension FetchExpression {
    fileprivate func operand(
        object: AttributeValue, operand: (String) throws(StrataError) -> PredicateOperand
    ) throws(StrataError) -> PredicateOperand {
        switch self {
        case .constant(let value): return .one(value)
        case .keyPath(let path): return try operand(path)
        case .evaluatedObject: return .one(object)
        case .aggregate(let parts):
            var values: [AttributeValue] = []
            for part in parts {
                switch try part.operand(object: object, operand: operand) {
                case .one(let value): values.append(value)
                case .many(let members): values += members
                }
            }
            return .many(values)
        case .variable, .keyPathOf, .function, .conditional, .subquery, .set, .element:
            throw StrataError(.invalidRequest, "\(self) cannot be evaluated here.")
        }
    }
}

extension ComparisonPredicate {
    /// Whether the comparison holds between what its sides come to.
    package func holds(_ left: PredicateOperand, _ right: PredicateOperand) throws(StrataError) -> Bool {
        switch (modifier, left) {
        case (.direct, .one(let value)): return try holds(value, right)
        case (.direct, .many(let members)):
            guard `operator` == .contains, case .one(let value) = right else {
                throw StrataError(
                    .invalidRequest, "A to-many relationship can only be compared with ANY, ALL or CONTAINS.",
                    context: .init(predicate: description))
            }
            return members.contains { Self.areEqual($0, value, folding) }
        case (.any, let left):
            for member in left.members where try holds(member, right) { return true }
            return false
        case (.all, let left):
            for member in left.members where try !holds(member, right) { return false }
            return true
        }
    }

    private func holds(_ left: AttributeValue, _ right: PredicateOperand) throws(StrataError) -> Bool {
        switch (`operator`, right) {
        case (.in, .many(let members)):
            return members.contains { Self.areEqual(left, $0, folding) }
        case (.in, .one(let text)):
            // `"a" IN text` is `text CONTAINS "a"`.
            return try Self.holds(text, .contains, left, folding)
        case (.between, .many(let bounds)) where bounds.count == 2:
            guard try Self.holds(left, .greaterThanOrEqualTo, bounds[0], folding) else { return false }
            return try Self.holds(left, .lessThanOrEqualTo, bounds[1], folding)
        case (.between, _):
            throw invalid("BETWEEN needs two bounds.")
        case (_, .one(let right)):
            return try Self.holds(left, `operator`, right, folding)
        case (_, .many):
            throw invalid("The right side of \(`operator`) is a list.")
        }
    }

    private func invalid(_ sentence: String) -> StrataError {
        StrataError(.invalidRequest, sentence, context: .init(predicate: description))
    }

    /// Whether an operator other than `IN` and `BETWEEN` holds between two single values.
    package static func holds(
        _ left: AttributeValue, _ operator: Operator, _ right: AttributeValue, _ folding: StringFolding
    ) throws(StrataError) -> Bool {
        switch `operator` {
        case .equalTo: return areEqual(left, right, folding)
        case .notEqualTo: return !areEqual(left, right, folding)
        case .lessThan: return order(left, right, folding) == .ascending
        case .greaterThan: return order(left, right, folding) == .descending
        case .lessThanOrEqualTo:
            let order = order(left, right, folding)
            return order == .ascending || order == .same
        case .greaterThanOrEqualTo:
            let order = order(left, right, folding)
            return order == .descending || order == .same
        case .beginsWith, .endsWith, .contains, .like, .matches:
            guard case .string(let left) = left.asText, case .string(let right) = right.asText else { return false }
            return try textHolds(left, `operator`, right, folding)
        case .in, .between:
            throw StrataError(.invalidRequest, "\(`operator`) needs a list on its right side.")
        }
    }

    private static func areEqual(_ left: AttributeValue, _ right: AttributeValue, _ folding: StringFolding) -> Bool {
        left.folded(folding).isEqual(to: right.folded(folding))
    }

    private static func order(
        _ left: AttributeValue, _ right: AttributeValue, _ folding: StringFolding
    ) -> ValueOrder? {
        left.folded(folding).order(to: right.folded(folding))
    }
}

extension PredicateOperand {
    fileprivate var members: [AttributeValue] {
        switch self {
        case .one(let value): [value]
        case .many(let members): members
        }
    }
}
