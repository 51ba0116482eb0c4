import Foundation
import StrataModel

// Nodes of `#Predicate` for variables, constants, key paths, arithmetic and ranges.

extension PredicateExpressions.Variable: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        try translation.node(bound: key)
    }
}

extension PredicateExpressions.Value: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        try TranslatedConstant.node(of: value)
    }
}

extension PredicateExpressions.KeyPath: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        let base = try translation.expression(root)
        let type: Any.Type = Root.Output.self
        if let objectClass = type as? ManagedObject.Type {
            let definition = EntityDefinition.of(objectClass)
            if keyPath == definition.objectIDPath { return .value(base) }
            if let name = definition.names[keyPath] { return .value(.path(name, of: base)) }
            throw PredicateTranslation.unsupported("KeyPath", "\(keyPath) is no property of \(objectClass.entityName).")
        }
        if let known = (type as? any QueryableKeyPaths.Type)?.function(of: keyPath) { return known.applied(to: base) }
        if let raw = type as? any RawRepresentable.Type, raw.isRawValue(keyPath) { return .value(base) }
        throw PredicateTranslation.unsupported(
            "KeyPath",
            "The store cannot evaluate \(keyPath). It knows raw values of enums that are CaseIterable.")
    }
}

extension RawRepresentable {
    /// Whether a key path is that of the raw value.
    ///
    /// The compiler makes another key path of `\Mood.rawValue` than of the same in generic code, so what it gives is
    /// looked at; that takes a type that can name its cases.
    fileprivate static func isRawValue(_ keyPath: AnyKeyPath) -> Bool {
        guard let path = keyPath as? KeyPath<Self, RawValue> else { return false }
        if path == \Self.rawValue { return true }
        guard let all = (Self.self as? any CaseIterable.Type)?.cases as? [Self], !all.isEmpty else { return false }
        return all.allSatisfy { value in
            guard let found = value[keyPath: path] as? AnyHashable, let raw = value.rawValue as? AnyHashable else {
                return false
            }
            return found == raw
        }
    }
}

extension CaseIterable {
    fileprivate static var cases: Any { Array(allCases) }
}

/// The key paths of types that are no entities, such as `count` of a text, that a query can use.
private enum KnownKeyPath {
    case memberCount
    case isWithoutMembers
    case length
    case isEmptyText

    func applied(to base: FetchExpression) -> TranslatedNode {
        switch self {
        case .memberCount: .value(.path("@count", of: base))
        case .isWithoutMembers:
            .condition(
                .comparison(ComparisonPredicate(.path("@count", of: base), .equalTo, .constant(.integer(0)))))
        case .length: .value(.function(.length, [base]))
        case .isEmptyText: .condition(.comparison(ComparisonPredicate(base, .equalTo, .constant(.string("")))))
        }
    }
}

/// A type some of whose key paths have a meaning in queries.
private protocol QueryableKeyPaths {
    static func function(of keyPath: AnyKeyPath) -> KnownKeyPath?
}

extension ToMany: QueryableKeyPaths {
    fileprivate static func function(of keyPath: AnyKeyPath) -> KnownKeyPath? {
        if keyPath == \Self.count { return .memberCount }
        return keyPath == \Self.isEmpty ? .isWithoutMembers : nil
    }
}

extension Array: QueryableKeyPaths {
    // The result of `filter`: the remaining members.
    fileprivate static func function(of keyPath: AnyKeyPath) -> KnownKeyPath? {
        if keyPath == \Self.count { return .memberCount }
        return keyPath == \Self.isEmpty ? .isWithoutMembers : nil
    }
}

extension String: QueryableKeyPaths {
    fileprivate static func function(of keyPath: AnyKeyPath) -> KnownKeyPath? {
        if keyPath == \Self.count { return .length }
        return keyPath == \Self.isEmpty ? .isEmptyText : nil
    }
}

// MARK: - Numbers

extension PredicateExpressions.Arithmetic: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        switch op {
        case .add: try translation.call(.add, lhs, rhs)
        case .subtract: try translation.call(.subtract, lhs, rhs)
        case .multiply: try translation.call(.multiply, lhs, rhs)
        @unknown default: throw PredicateTranslation.unsupported("Arithmetic", "Its operator is not known.")
        }
    }
}

extension PredicateExpressions.UnaryMinus: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        .value(.function(.multiply, [try translation.expression(wrapped), .constant(.integer(-1))]))
    }
}

extension PredicateExpressions.FloatDivision: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        try translation.call(.divide, lhs, rhs)
    }
}

extension PredicateExpressions.IntDivision: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        try translation.call(.divide, lhs, rhs)
    }
}

extension PredicateExpressions.IntRemainder: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        try translation.call(.modulus, lhs, rhs)
    }
}

// MARK: - Ranges

extension PredicateExpressions.Range: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        .range(
            .init(
                lower: try translation.expression(lower), upper: try translation.expression(upper),
                includesUpper: false))
    }
}

extension PredicateExpressions.ClosedRange: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        .range(
            .init(
                lower: try translation.expression(lower), upper: try translation.expression(upper),
                includesUpper: true))
    }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        guard case .range(let bounds) = try translation.translate(range) else {
            throw PredicateTranslation.unsupported("RangeExpressionContains", "Its range has no bounds.")
        }
        return .condition(bounds.contain(try translation.expression(element)))
    }
}

extension TranslatedNode.RangeBounds {
    func contain(_ value: FetchExpression) -> FetchPredicate {
        if includesUpper, let lower, let upper {
            return .comparison(ComparisonPredicate(value, .between, .aggregate([lower, upper])))
        }
        let above = lower.map { FetchPredicate.comparison(ComparisonPredicate(value, .greaterThanOrEqualTo, $0)) }
        let below = upper.map {
            FetchPredicate.comparison(ComparisonPredicate(value, includesUpper ? .lessThanOrEqualTo : .lessThan, $0))
        }
        switch (above, below) {
        case (let above?, let below?): return above && below
        case (let one?, nil), (nil, let one?): return one
        case (nil, nil): return value.isNotNil
        }
    }
}
