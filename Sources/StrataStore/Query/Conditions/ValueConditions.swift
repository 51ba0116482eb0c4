import Foundation
import StrataModel

/// A value of the row, or of rows that to-ones and to-manys lead to from it.
struct ValuePath: Sendable {
    let hops: [ResolvedPath.Hop]
    let end: ResolvedPath.End

    init(_ path: ResolvedPath) { self.init(hops: path.hops, end: path.end) }

    init(hops: [ResolvedPath.Hop], end: ResolvedPath.End) {
        self.hops = hops
        self.end = end
    }

    /// Calls `body` with every value that the path leads to until it returns false: one, unless a to-many lies on the
    /// way. Where a to-one leads nowhere that is nil.
    func forEachValue(
        _ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation, _ body: (AttributeValue) throws -> Bool
    ) throws {
        _ = try walk(hops[...], row, id, evaluation, body)
    }

    /// The value, for a path without a to-many.
    func value(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> AttributeValue {
        var value = AttributeValue.null
        try forEachValue(row, id, evaluation) {
            value = $0
            return false
        }
        return value
    }

    private func walk(
        _ hops: ArraySlice<ResolvedPath.Hop>, _ row: RowReader?, _ id: ObjectID, _ evaluation: Evaluation,
        _ body: (AttributeValue) throws -> Bool
    ) throws -> Bool {
        guard let hop = hops.first else { return try body(try value(row, id, evaluation)) }
        guard let row else { return try body(.null) }
        let rest = hops.dropFirst()
        switch hop {
        case .toOne(let slot):
            let target = row.reference(slot)
            if target.isNil { return try body(.null) }
            return try step(rest, to: target, evaluation, body)
        case .toMany(let relationship):
            var goesOn = true
            try evaluation.view?.members(of: relationship, owner: id) { member in
                goesOn = try step(rest, to: member, evaluation, body)
                return goesOn
            }
            return goesOn
        }
    }

    private func step(
        _ rest: ArraySlice<ResolvedPath.Hop>, to target: ObjectID, _ evaluation: Evaluation,
        _ body: (AttributeValue) throws -> Bool
    ) throws -> Bool {
        if rest.isEmpty, case .object = end { return try body(.objectID(target)) }
        return try evaluation.withRow(target) { row in
            guard row != nil else { return try body(.null) }
            return try walk(rest, row, target, evaluation, body)
        }
    }

    private func value(_ row: RowReader?, _ id: ObjectID, _ evaluation: Evaluation) throws -> AttributeValue {
        switch end {
        case .object: return .objectID(id)
        case .attribute(let slot, _): return try row?.value(slot) ?? .null
        case .element(let slot, let names, _): return try row?.value(slot).element(at: names) ?? .null
        case .count(let relationship):
            return .integer(Int64(try evaluation.view?.memberCount(of: relationship, owner: id) ?? 0))
        }
    }
}

extension AttributeValue {
    /// An element of a composite; nil where there is none.
    func element(at names: [String]) -> AttributeValue {
        var current = self
        for name in names {
            guard case .composite(let values) = current else { return .null }
            current = values[name] ?? .null
        }
        return current
    }
}

/// One side of a comparison that bytes alone do not settle.
indirect enum ValueOperand: Sendable {
    case constant(AttributeValue)
    case path(ValuePath)
    case list([ValueOperand])

    fileprivate func value(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> AttributeValue {
        switch self {
        case .constant(let value): value
        case .path(let path): try path.value(row, id, evaluation)
        case .list: .null
        }
    }

    fileprivate var isNilConstant: Bool { if case .constant(.null) = self { true } else { false } }
}

/// A comparison of any two sides: the slow way that every other condition is a shortcut for.
final class ValueCondition: RowCondition {
    private let left: ValueOperand
    private let comparison: ComparisonPredicate.Operator
    private let right: ValueOperand
    private let quantifier: MemberQuantifier?
    private let folding: StringFolding

    init(
        _ left: ValueOperand, _ comparison: ComparisonPredicate.Operator, _ right: ValueOperand,
        _ quantifier: MemberQuantifier?, _ folding: StringFolding
    ) {
        self.left = left
        self.comparison = comparison
        self.right = right
        self.quantifier = quantifier
        self.folding = folding
    }

    var holdsForNothing: Bool {
        switch (comparison, right) {
        case (.equalTo, _): right.isNilConstant
        case (.in, .list(let members)): members.contains(where: \.isNilConstant)
        default: false
        }
    }
    var cost: ConditionCost { .value }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        var result = quantifier == .all
        try forEachLeft(row, id, evaluation) { value in
            let holds = try compare(value, row, id, evaluation)
            guard let quantifier else {
                result = holds
                return false
            }
            if holds == (quantifier == .any) { result = holds }
            return holds != (quantifier == .any)
        }
        return result
    }

    private func forEachLeft(
        _ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation, _ body: (AttributeValue) throws -> Bool
    ) throws {
        switch left {
        case .constant(let value): _ = try body(value)
        case .path(let path): try path.forEachValue(row, id, evaluation, body)
        case .list(let parts):
            for part in parts where try !body(try part.value(row, id, evaluation)) { return }
        }
    }

    private func compare(
        _ left: AttributeValue, _ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation
    ) throws -> Bool {
        switch (comparison, right) {
        case (.in, .list(let members)):
            for member in members {
                if member.isNilConstant ? left.isNull : areEqual(left, try member.value(row, id, evaluation)) {
                    return true
                }
            }
            return false
        case (.in, .path(let path)):
            // A text on the right holds the left one; a to-many has it as a member.
            var isFound = false
            try path.forEachValue(row, id, evaluation) { value in
                isFound = path.isToMany ? areEqual(left, value) : try holds(value, .contains, left)
                return !isFound
            }
            return isFound
        case (.in, .constant(let text)): return try holds(text, .contains, left)
        case (.between, .list(let bounds)) where bounds.count == 2:
            return try holds(left, .greaterThanOrEqualTo, try bounds[0].value(row, id, evaluation))
                && holds(left, .lessThanOrEqualTo, try bounds[1].value(row, id, evaluation))
        case (.equalTo, .constant(.null)): return left.isNull
        case (.notEqualTo, .constant(.null)): return !left.isNull
        default: return try holds(left, comparison, try right.value(row, id, evaluation))
        }
    }

    private func areEqual(_ left: AttributeValue, _ right: AttributeValue) -> Bool {
        guard !left.isNull, !right.isNull else { return false }
        if let left = left.comparedText(folding), let right = right.comparedText(folding) { return left == right }
        return left.isEqual(to: right)
    }

    private func order(_ left: AttributeValue, _ right: AttributeValue) -> ValueOrder? {
        if let left = left.comparedText(folding), let right = right.comparedText(folding) {
            if left == right { return .same }
            return left.lexicographicallyPrecedes(right) ? .ascending : .descending
        }
        return left.order(to: right)
    }

    private func holds(
        _ left: AttributeValue, _ comparison: ComparisonPredicate.Operator, _ right: AttributeValue
    ) throws -> Bool {
        switch comparison {
        case .equalTo: return areEqual(left, right)
        case .notEqualTo: return !left.isNull && !right.isNull && !areEqual(left, right)
        case .lessThan: return order(left, right) == .ascending
        case .greaterThan: return order(left, right) == .descending
        case .lessThanOrEqualTo: return order(left, right).map { $0 != .descending } ?? false
        case .greaterThanOrEqualTo: return order(left, right).map { $0 != .ascending } ?? false
        case .in, .between: return false
        case .beginsWith, .endsWith, .contains, .like, .matches:
            guard let text = left.comparedText(folding), let part = right.text else { return false }
            return try Self.textHolds(text, comparison, part, folding)
        }
    }

    private static func textHolds(
        _ text: [UInt8], _ comparison: ComparisonPredicate.Operator, _ part: String, _ folding: StringFolding
    ) throws -> Bool {
        if comparison == .matches {
            return try PatternMatcher.comparing(part, folding).matches(String(decoding: text, as: UTF8.self))
        }
        return text.withUnsafeBytes { text in
            if comparison == .like { return WildcardPattern(part, folding).matches(text) }
            return TextFolding.bytes(part, folding).withUnsafeBytes { part in
                switch comparison {
                case .beginsWith: text.hasPrefix(part)
                case .endsWith: text.hasSuffix(part)
                default: text.contains(part)
                }
            }
        }
    }
}

extension AttributeValue {
    /// A string, or the absolute string of a URL.
    var text: String? {
        switch self {
        case .string(let text): text
        case .url(let url): url.absoluteString
        default: nil
        }
    }

    fileprivate func comparedText(_ folding: StringFolding) -> [UInt8]? { text.map { TextFolding.bytes($0, folding) } }
}

extension TextFolding {
    /// The folded form's UTF-8.
    static func bytes(_ text: String, _ folding: StringFolding) -> [UInt8] { Array(fold(text, folding).utf8) }
}

extension PatternMatcher {
    /// A matcher for texts folded with `folding`: case is left to the matcher too, since folding would turn `\D`
    /// in the pattern into `\d`.
    static func comparing(_ pattern: String, _ folding: StringFolding) throws(StrataError) -> PatternMatcher {
        try cached(
            TextFolding.fold(pattern, folding.subtracting(.caseInsensitive)),
            caseInsensitive: folding.contains(.caseInsensitive))
    }
}
