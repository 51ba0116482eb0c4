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

    static func unsupported(_ value: Any) -> StrataError {
        PredicateTranslation.unsupported("Value", "A value of type \(type(of: value)) has no place in a store.")
    }
}

extension Sequence {
    fileprivate func constants(areSorted: Bool) throws(StrataError) -> [FetchExpression] {
        var constants: [AttributeValue] = []
        for element in self {
            guard let constant = TranslatedConstant.single(element) else {
                throw TranslatedConstant.unsupported(element)
            }
            constants.append(constant)
        }
        if areSorted { constants.sort { $0.formatLiteral < $1.formatLiteral } }
        return constants.map(FetchExpression.constant)
    }
}

/// A range among the values that a `#Predicate` captured.
private protocol ConstantRange {
    func bounds() throws(StrataError) -> TranslatedNode.RangeBounds
}

extension ConstantRange {
    fileprivate func bounds(
        _ lower: Any?, _ upper: Any?, includesUpper: Bool
    ) throws(StrataError) -> TranslatedNode.RangeBounds {
        var bounds = TranslatedNode.RangeBounds(includesUpper: includesUpper)
        if let lower {
            guard let constant = TranslatedConstant.single(lower) else { throw TranslatedConstant.unsupported(lower) }
            bounds.lower = .constant(constant)
        }
        if let upper {
            guard let constant = TranslatedConstant.single(upper) else { throw TranslatedConstant.unsupported(upper) }
            bounds.upper = .constant(constant)
        }
        return bounds
    }
}

extension Range: ConstantRange {
    fileprivate func bounds() throws(StrataError) -> TranslatedNode.RangeBounds {
        try bounds(lowerBound, upperBound, includesUpper: false)
    }
}

extension ClosedRange: ConstantRange {
    fileprivate func bounds() throws(StrataError) -> TranslatedNode.RangeBounds {
        try bounds(lowerBound, upperBound, includesUpper: true)
    }
}

extension PartialRangeFrom: ConstantRange {
    fileprivate func bounds() throws(StrataError) -> TranslatedNode.RangeBounds {
        try bounds(lowerBound, nil, includesUpper: false)
    }
}

extension PartialRangeThrough: ConstantRange {
    fileprivate func bounds() throws(StrataError) -> TranslatedNode.RangeBounds {
        try bounds(nil, upperBound, includesUpper: true)
    }
}

extension PartialRangeUpTo: ConstantRange {
    fileprivate func bounds() throws(StrataError) -> TranslatedNode.RangeBounds {
        try bounds(nil, upperBound, includesUpper: false)
    }
}
