import Foundation
import StrataModel

/// Makes constants of the values that a `#Predicate` captured, whatever their types.
enum TranslatedConstant {
    static func node(of value: Any) throws(StrataError) -> TranslatedNode {
        if let single = single(value) { return .value(.constant(single)) }
        if let range = value as? any ConstantRange { return .range(try range.bounds()) }
        if let pattern = value as? PredicateExpressions.PredicateRegex { return .pattern(pattern.stringRepresentation) }
        if let dictionary = value as? [AnyHashable: Any] { return .dictionary(try entries(of: dictionary)) }
        if let list = value as? any Sequence {
            return .value(.aggregate(try list.constants(areSorted: list is any SetAlgebra)))
        }
        throw unsupported(value)
    }

    /// A value that has a place in a row, an object as its id; nil for others.
    static func single(_ value: Any) -> AttributeValue? {
        switch value {
        case let storable as any StorableValue: return storable.queryConstant
        case let object as ManagedObject: return .objectID(object.objectID)
        case let character as Character: return .string(String(character))
        case let text as Substring: return .string(String(text))
        case let optional as any OptionalType: return optional.wrapped.map(single) ?? .null
        case let raw as any RawRepresentable: return (raw.rawValue as? any StorableValue)?.queryConstant
        case let number as any BinaryInteger: return Int64(exactly: number).map(AttributeValue.integer)
        default: return nil
        }
    }

    private static func entries(
        of dictionary: [AnyHashable: Any]
    ) throws(StrataError) -> [(key: AttributeValue, value: AttributeValue)] {
        var entries: [(key: AttributeValue, value: AttributeValue)] = []
        for (key, value) in dictionary {
            guard let key = single(key.base), let value = single(value) else { throw unsupported(dictionary) }
            entries.append((key, value))
        }
        // A dictionary has no order; the predicate's text should.
        return entries.sorted { $0.key.formatLiteral < $1.key.formatLiteral }
    }

    /// A value that must have a place in a row.
    fileprivate static func known(_ value: Any) throws(StrataError) -> AttributeValue {
        guard let constant = single(value) else { throw unsupported(value) }
        return constant
    }

    static func unsupported(_ value: Any) -> StrataError {
        PredicateTranslation.unsupported("Value", "A value of type \(type(of: value)) cannot be stored.")
    }
}

extension Sequence {
    fileprivate func constants(areSorted: Bool) throws(StrataError) -> [FetchExpression] {
        var constants: [AttributeValue] = []
        for element in self { constants.append(try TranslatedConstant.known(element)) }
        if areSorted { constants.sort { $0.formatLiteral < $1.formatLiteral } }
        return constants.map(FetchExpression.constant)
    }
}

/// A range among the values that a `#Predicate` captured.
private protocol ConstantRange {
    var ends: (lower: Any?, upper: Any?, includesUpper: Bool) { get }
}

extension ConstantRange {
    fileprivate func bounds() throws(StrataError) -> TranslatedNode.RangeBounds {
        let (lower, upper, includesUpper) = ends
        var bounds = TranslatedNode.RangeBounds(includesUpper: includesUpper)
        if let lower { bounds.lower = .constant(try TranslatedConstant.known(lower)) }
        if let upper { bounds.upper = .constant(try TranslatedConstant.known(upper)) }
        return bounds
    }
}

extension Range: ConstantRange {
    fileprivate var ends: (lower: Any?, upper: Any?, includesUpper: Bool) { (lowerBound, upperBound, false) }
}

extension ClosedRange: ConstantRange {
    fileprivate var ends: (lower: Any?, upper: Any?, includesUpper: Bool) { (lowerBound, upperBound, true) }
}

extension PartialRangeFrom: ConstantRange {
    fileprivate var ends: (lower: Any?, upper: Any?, includesUpper: Bool) { (lowerBound, nil, false) }
}

extension PartialRangeThrough: ConstantRange {
    fileprivate var ends: (lower: Any?, upper: Any?, includesUpper: Bool) { (nil, upperBound, true) }
}

extension PartialRangeUpTo: ConstantRange {
    fileprivate var ends: (lower: Any?, upper: Any?, includesUpper: Bool) { (nil, upperBound, false) }
}
