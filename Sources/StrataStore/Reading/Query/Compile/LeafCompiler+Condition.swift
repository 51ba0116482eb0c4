import Foundation
import StrataModel

// The form of a comparison that an index can answer.

extension LeafCompiler {
    /// The comparison in a form that an index over the slot can answer; nil if there is none.
    func column(slot: Int, _ names: [String], _ values: [AttributeValue]) -> ColumnCondition? {
        guard let (kind, isWhole) = kind(values) else { return nil }
        return ColumnCondition(
            slot: slot, elementPath: names, folding: columnFolding, kind: kind, isWhole: isWhole)
    }

    /// The folding of an index that answers without reading rows.
    var columnFolding: StringFolding { type.isText ? folding : [] }

    /// Whether an index over the property answers the comparison by one key.
    var hasKey: Bool { operation == .equalTo }

    /// The value whose key such an index looks up; nil if the key does not decide.
    func key(_ comparison: ComparisonPredicate) -> AttributeValue? {
        if case .constant(let constant) = comparison.right { key(constant) } else { nil }
    }

    func key(_ constant: AttributeValue) -> AttributeValue? {
        hasKey ? accepted(constant).flatMap(indexed) : nil
    }

    private func kind(_ values: [AttributeValue]) -> (ColumnCondition.Kind, isWhole: Bool)? {
        if operation == .notEqualTo { return otherThan(values) }
        if operation == .equalTo || operation == .in {
            let exact = values.compactMap(indexed)
            return exact.isEmpty ? nil : (.values(exact), true)
        }
        if values.contains(.null) { return nil }
        switch type {
        case .integer, .boolean:
            guard let range = integerRanges(values).first, type == .integer else { return nil }
            return range == Int64.min...Int64.max ? nil : (range.kind, true)
        case .floatingPoint, .date:
            guard let range = floatingPointRanges(values).first else { return nil }
            let isEndless = range.lowerBound.isInfinite && range.upperBound.isInfinite
            return isEndless ? nil : (kind(range), true)
        case .text: return textKind(values)
        case .decimal, .uuid, .object: return bounds(values).map { ($0, true) }
        case .url, .data, .composite, .outside, .encrypted: return nil
        }
    }

    private func otherThan(_ values: [AttributeValue]) -> (ColumnCondition.Kind, isWhole: Bool)? {
        guard values.count == 1 else { return nil }
        if values == [.null] { return (.notNil, true) }
        switch type {
        // NaN differs from every number and date, but no range contains it.
        case .integer, .boolean, .text, .uuid, .object, .encrypted:
            return indexed(values[0]).map { (.otherThan($0), true) }
        default: return nil
        }
    }

    /// The value that an index contains for equal values; nil if there are none.
    private func indexed(_ value: AttributeValue) -> AttributeValue? {
        switch type {
        case _ where value.isNull: return .null
        case .integer: return WholeBound(value).range(.equalTo).map { .integer($0.lowerBound) }
        case .boolean:
            guard let range = WholeBound(value).range(.equalTo), 0...1 ~= range.lowerBound else { return nil }
            return .boolean(range.lowerBound == 1)
        case .floatingPoint: if case .double(let double) = value, double.isNaN { return nil }
        default: break
        }
        return value
    }

    private func kind(_ range: ClosedRange<Double>) -> ColumnCondition.Kind {
        func bound(_ value: Double) -> ColumnCondition.Bound? {
            if value.isInfinite { return nil }
            let isDate = type == .date
            return ColumnCondition.Bound(
                value: isDate ? .date(Date(timeIntervalSinceReferenceDate: value)) : .double(value), isIncluded: true)
        }
        return .range(lower: bound(range.lowerBound), upper: bound(range.upperBound))
    }

    private func textKind(_ values: [AttributeValue]) -> (ColumnCondition.Kind, isWhole: Bool)? {
        guard let text = values.first?.text else { return nil }
        switch operation {
        case .beginsWith: return (.prefix(text), true)
        case .like:
            let prefix = WildcardPattern(text, folding).prefix
            return prefix.isEmpty ? nil : (.prefix(String(decoding: prefix, as: UTF8.self)), false)
        case .endsWith, .contains, .matches: return nil
        default: return bounds(values).map { ($0, true) }
        }
    }

    private func bounds(_ values: [AttributeValue]) -> ColumnCondition.Kind? {
        func bound(_ index: Int, _ isIncluded: Bool) -> ColumnCondition.Bound {
            ColumnCondition.Bound(value: values[index], isIncluded: isIncluded)
        }
        switch operation {
        case .lessThan: return .range(lower: nil, upper: bound(0, false))
        case .lessThanOrEqualTo: return .range(lower: nil, upper: bound(0, true))
        case .greaterThan: return .range(lower: bound(0, false), upper: nil)
        case .greaterThanOrEqualTo: return .range(lower: bound(0, true), upper: nil)
        case .between: return .range(lower: bound(0, true), upper: bound(1, true))
        default: return nil
        }
    }
}

extension ClosedRange<Int64> {
    fileprivate var kind: ColumnCondition.Kind {
        .range(
            lower: lowerBound == .min ? nil : .init(value: .integer(lowerBound), isIncluded: true),
            upper: upperBound == .max ? nil : .init(value: .integer(upperBound), isIncluded: true))
    }
}
