import Foundation
import StrataModel

// Nodes of `#Predicate` for logic, comparisons, optionals and casts.

extension PredicateExpressions.Conjunction: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        .condition(try translation.predicate(lhs) && translation.predicate(rhs))
    }
}

extension PredicateExpressions.Disjunction: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        .condition(try translation.predicate(lhs) || translation.predicate(rhs))
    }
}

extension PredicateExpressions.Negation: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        .condition(.not(try translation.predicate(wrapped)))
    }
}

extension PredicateExpressions.Equal: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        let left = try translation.expression(lhs), right = try translation.expression(rhs)
        let areEqual = FetchPredicate.comparison(ComparisonPredicate(left, .equalTo, right))
        guard isOptional, !left.isConstant, !right.isConstant else { return .condition(areEqual) }
        // In Swift two missing values are equal, in the store nothing is equal to one.
        return .condition(areEqual || (left.isNil && right.isNil))
    }
}

extension PredicateExpressions.NotEqual: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        let left = try translation.expression(lhs), right = try translation.expression(rhs)
        guard isOptional, left != .constant(.null), right != .constant(.null) else {
            return .condition(.comparison(ComparisonPredicate(left, .notEqualTo, right)))
        }
        // In Swift a missing value differs from every other, in the store the comparison is false then.
        let areEqual = FetchPredicate.comparison(ComparisonPredicate(left, .equalTo, right))
        let areBothNil = left.isConstant || right.isConstant ? nil : left.isNil && right.isNil
        return .condition(.not(areBothNil.map { areEqual || $0 } ?? areEqual))
    }
}

extension PredicateExpressions.Equal {
    private var isOptional: Bool { LHS.Output.self is any OptionalType.Type }
}

extension PredicateExpressions.NotEqual {
    private var isOptional: Bool { LHS.Output.self is any OptionalType.Type }
}

extension FetchExpression {
    fileprivate var isConstant: Bool { if case .constant = self { true } else { false } }
}

extension PredicateExpressions.Comparison: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        let comparison: ComparisonPredicate.Operator =
            switch op {
            case .lessThan: .lessThan
            case .lessThanOrEqual: .lessThanOrEqualTo
            case .greaterThan: .greaterThan
            case .greaterThanOrEqual: .greaterThanOrEqualTo
            @unknown default:
                throw PredicateTranslation.unsupported("Comparison", "Its operator is not known.")
            }
        return try translation.compare(lhs, comparison, rhs)
    }
}

extension PredicateExpressions.Conditional: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        .value(
            .conditional(
                try translation.predicate(test), try translation.expression(trueBranch),
                try translation.expression(falseBranch)))
    }
}

// MARK: - Optionals

extension PredicateExpressions.NilLiteral: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        .value(.constant(.null))
    }
}

extension PredicateExpressions.NilCoalesce: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        let left = try translation.translate(lhs)
        if case .conditionIfPresent(let value, let condition) = left {
            switch try translation.translate(rhs) {
            case .value(.constant(.boolean(false))): return .condition(value.isNotNil && condition)
            case .value(.constant(.boolean(true))): return .condition(value.isNil || condition)
            case let other:
                let fallback = try other.predicate(in: "NilCoalesce")
                return .condition((value.isNotNil && condition) || (value.isNil && fallback))
            }
        }
        let value = try left.expression(in: "NilCoalesce")
        return .value(.conditional(value.isNil, try translation.expression(rhs), value))
    }
}

extension PredicateExpressions.OptionalFlatMap: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        let value = try translation.expression(wrapped)
        translation.bind(variable.key, to: .value(value))
        switch try translation.translate(transform) {
        case .condition(let condition): return .conditionIfPresent(value, condition)
        case .conditionIfPresent(let inner, let condition):
            // Behind a to-one that is missing everything is.
            return .conditionIfPresent(inner, condition)
        case .value(let result) where result.isNilWherever(value): return .value(result)
        case let other:
            return .value(
                .conditional(value.isNil, .constant(.null), try other.expression(in: "OptionalFlatMap")))
        }
    }
}

extension PredicateExpressions.ForcedUnwrap: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        try translation.translate(inner)
    }
}

extension FetchExpression {
    /// Whether the expression is always nil where `value` is nil: a path from `value`, or arithmetic with it.
    fileprivate func isNilWherever(_ value: FetchExpression) -> Bool {
        if self == value { return true }
        switch self {
        case .keyPath(let path):
            guard case .keyPath(let start) = value, !path.contains("@") else { return false }
            return path.hasPrefix(start + ".")
        case .keyPathOf(let base, let path):
            if base.isNilWherever(value) { return !path.contains("@") }
            guard case .keyPathOf(base, let start) = value else { return false }
            return path.hasPrefix(start + ".") && !path.contains("@")
        case .function(let function, let arguments) where FetchFunction.infix[function] != nil:
            return arguments.contains { $0.isNilWherever(value) }
        default: return false
        }
    }
}

// MARK: - Casts

// A class knows its properties; a query over the parent cannot use the additional ones of a subclass.

extension PredicateExpressions.ConditionalCast: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        try translation.widened(input, to: Desired.self, "ConditionalCast")
    }
}

extension PredicateExpressions.ForceCast: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        try translation.widened(input, to: Desired.self, "ForceCast")
    }
}

extension PredicateExpressions.TypeCheck: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        guard PredicateTranslation.isAlways(Input.Output.self, Desired.self) else {
            throw PredicateTranslation.unsupported(
                "TypeCheck", "Fetch the entity of \(Desired.self) instead of asking what an object is.")
        }
        return .value(.constant(.boolean(true)))
    }
}

extension PredicateTranslation {
    fileprivate func widened<Input: PredicateExpression, Desired>(
        _ input: Input, to type: Desired.Type, _ node: String
    ) throws(StrataError) -> TranslatedNode {
        guard Self.isAlways(Input.Output.self, Desired.self) else {
            throw Self.unsupported(node, "\(Input.Output.self) cannot be made \(Desired.self) in a query.")
        }
        return try translate(input)
    }

    /// Whether every value of the one type is one of the other: the same type, or a parent class.
    fileprivate static func isAlways<Desired>(_ input: Any.Type, _ desired: Desired.Type) -> Bool {
        input is Desired.Type
    }
}
