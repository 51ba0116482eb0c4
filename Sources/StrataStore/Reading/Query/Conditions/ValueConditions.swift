// The general comparison of two values, for conditions that have no faster form.

import Foundation
import StrataModel

/// The path to a value of the row, or of rows that relationships lead to.
struct ValuePath: Sendable {
    let hops: [ResolvedPath.Hop]
    let end: ResolvedPath.End
    /// Set if the path ends at an encrypted attribute whose values are read.
    let encryption: EncryptedComparison?

    /// A path to values that are not encrypted.
    init(_ path: ResolvedPath) { self.init(hops: path.hops, end: path.end) }

    init(_ path: ResolvedPath, _ schema: Schema) {
        self.init(hops: path.hops, end: path.end, EncryptedComparison(path, schema))
    }

    init(hops: [ResolvedPath.Hop], end: ResolvedPath.End, _ encryption: EncryptedComparison? = nil) {
        self.hops = hops
        self.end = end
        self.encryption = encryption
    }

    /// Calls `body` with each value at the end of the path until it returns false. Without a to-many on the path there
    /// is one value, which is nil if a to-one is.
    func forEachValue(
        _ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation, _ body: (AttributeValue) throws -> Bool
    ) throws {
        _ = try walk(hops[...], row, id, evaluation, body)
    }

    /// The value of a path without a to-many.
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
        let rest = hops.dropFirst()
        // If a to-one before a to-many is nil, there are no values.
        guard let row else { return try hops.contains(where: \.isToMany) || body(.null) }
        switch hop {
        case .toOne(let slot):
            let target = row.reference(slot)
            if target.isNil { return try rest.contains(where: \.isToMany) || body(.null) }
            return try step(rest, to: target, evaluation, body)
        case .toMany(let relationship):
            var goesOn = true
            try evaluation.members(of: relationship, owner: id) { member in
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
            guard row != nil else { return try rest.contains(where: \.isToMany) || body(.null) }
            return try walk(rest, row, target, evaluation, body)
        }
    }

    private func value(_ row: RowReader?, _ id: ObjectID, _ evaluation: Evaluation) throws -> AttributeValue {
        switch end {
        case .object: return .objectID(id)
        case .attribute(let slot, _):
            let value = try row?.value(slot) ?? .null
            return try encryption.map { try $0.decrypted(value, of: id) } ?? value
        case .element(let slot, let names, _): return try row?.value(slot).element(at: names) ?? .null
        case .count(let relationship):
            return .integer(Int64(try evaluation.snapshot?.memberCount(of: relationship, owner: id) ?? 0))
        }
    }
}

extension AttributeValue {
    /// An element of a composite; nil if there is none.
    func element(at names: [String]) -> AttributeValue {
        var current = self
        for name in names {
            guard case .composite(let values) = current else { return .null }
            current = values[name] ?? .null
        }
        return current
    }
}

/// One side of a comparison that needs values.
indirect enum ValueOperand: Sendable {
    case constant(AttributeValue)
    case path(ValuePath)
    case list([ValueOperand])

    /// Its value, if that needs no row.
    fileprivate var constant: PredicateOperand? {
        switch self {
        case .constant(let value): return .one(value)
        case .path: return nil
        case .list(let parts):
            var values: [AttributeValue] = []
            for part in parts {
                guard let constant = part.constant else { return nil }
                values += constant.members
            }
            return .many(values)
        }
    }

    fileprivate func operand(
        _ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation
    ) throws -> PredicateOperand {
        switch self {
        case .constant(let value): return .one(value)
        case .path(let path) where !path.isToMany: return .one(try path.value(row, id, evaluation))
        case .path(let path):
            var values: [AttributeValue] = []
            try path.forEachValue(row, id, evaluation) {
                values.append($0)
                return true
            }
            return .many(values)
        case .list(let parts):
            return .many(try parts.flatMap { try $0.operand(row, id, evaluation).members })
        }
    }

    /// The side as an expression, of which only constants matter.
    fileprivate var outline: FetchExpression {
        switch self {
        case .constant(let value): .constant(value)
        case .path: .evaluatedObject
        case .list(let parts): .aggregate(parts.map(\.outline))
        }
    }

    fileprivate var isNilConstant: Bool { if case .constant(.null) = self { true } else { false } }
}

/// The comparison of any two sides by the rules of the evaluator. All other conditions are faster forms of it.
final class ValueCondition: RowCondition {
    private let left: ValueOperand
    private let comparison: ComparisonPredicate.Operator
    private let right: ValueOperand
    private let quantifier: MemberQuantifier?
    private let rule: ComparisonRule
    /// The right side, if it is the same for every row.
    private let constant: PredicateOperand?

    init(
        _ left: ValueOperand, _ comparison: ComparisonPredicate.Operator, _ right: ValueOperand,
        _ quantifier: MemberQuantifier?, _ folding: StringFolding
    ) {
        self.left = left
        self.comparison = comparison
        self.right = right
        self.quantifier = quantifier
        rule = ComparisonRule(ComparisonPredicate(left.outline, comparison, right.outline, folding: folding))
        constant = right.constant
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
        let right = try constant ?? self.right.operand(row, id, evaluation)
        var result = quantifier == .all
        try forEachLeft(row, id, evaluation) { value in
            var work = 0
            let holds = try rule.holds(.one(value), right, work: &work)
            try evaluation.spend(work)
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
        case .list:
            for value in try left.operand(row, id, evaluation).members where try !body(value) { return }
        }
    }
}

extension TextFolding {
    /// The UTF-8 of the folded text.
    static func bytes(_ text: String, _ folding: StringFolding) -> [UInt8] { Array(fold(text, folding).utf8) }
}

extension PatternMatcher {
    /// A matcher for folded texts. It ignores case by itself, since folding the pattern would make `\d` of `\D`.
    static func comparing(_ pattern: String, _ folding: StringFolding) throws(StrataError) -> PatternMatcher {
        try cached(
            TextFolding.fold(pattern, folding.subtracting(.caseInsensitive)),
            caseInsensitive: folding.contains(.caseInsensitive))
    }
}
