import Foundation

/// Decides whether a comparison holds between the values of its two sides.
package struct ComparisonRule: Sendable {
    private let comparison: ComparisonPredicate
    private let asksForNil: Bool
    /// Whether the list on the right of `IN` is written out and has `nil` among its members.
    private let listHasNil: Bool
    /// Whether a side is a literal. A number in it stands for the nearest number of the other side's kind.
    private let hasLiteral: Bool

    package init(_ comparison: ComparisonPredicate) {
        self.comparison = comparison
        asksForNil = comparison.left.isNilLiteral || comparison.right.isNilLiteral
        if case .aggregate(let parts) = comparison.operator == .contains ? comparison.left : comparison.right {
            listHasNil = parts.contains(where: \.isNilLiteral)
        } else {
            listHasNil = false
        }
        hasLiteral = comparison.left.isLiteral || comparison.right.isLiteral
    }

    /// - Parameter work: the cost is added to it, in units of `PredicateWork`.
    package func holds(
        _ left: PredicateOperand, _ right: PredicateOperand, work: inout Int
    ) throws(StrataError) -> Bool {
        work += left.work + right.work
        switch comparison.modifier {
        case .direct: return try holdsDirectly(left, right, &work)
        // A key path over a nil to-one to a to-many has no members.
        case .any:
            for member in left.list where try holds(member, right, &work) { return true }
            return false
        case .all:
            for member in left.list where try !holds(member, right, &work) { return false }
            return true
        }
    }

    private func holdsDirectly(
        _ left: PredicateOperand, _ right: PredicateOperand, _ work: inout Int
    ) throws(StrataError) -> Bool {
        switch (left, right, comparison.operator) {
        case (.one(let value), _, _): return try holds(value, right, &work)
        case (.many(let members), .one(let value), .contains):
            if value.isNull { return listHasNil }
            return members.contains { areEqual($0, value) }
        case (.many(let left), .many(let right), .equalTo): return Self.haveSameMembers(left, right)
        case (.many(let left), .many(let right), .notEqualTo): return !Self.haveSameMembers(left, right)
        // A collection behind a nil to-one is nil.
        case (.many, .one(.null), .equalTo) where !asksForNil: return false
        case (.many, .one(.null), .notEqualTo) where !asksForNil: return false
        default:
            throw invalid("A list can only be compared with ANY, ALL, NONE or CONTAINS, or with another list")
        }
    }

    /// Whether two lists have the same members, in any order.
    private static func haveSameMembers(_ left: [AttributeValue], _ right: [AttributeValue]) -> Bool {
        guard left.count == right.count else { return false }
        var counts: [AttributeValue: Int] = [:]
        for member in left { counts[member.memberKey, default: 0] += 1 }
        for member in right {
            guard let count = counts[member.memberKey], count > 0 else { return false }
            counts[member.memberKey] = count - 1
        }
        return true
    }

    private func holds(
        _ left: AttributeValue, _ right: PredicateOperand, _ work: inout Int
    ) throws(StrataError) -> Bool {
        switch (comparison.operator, right) {
        case (.in, .many(let members)):
            if left.isNull { return listHasNil }
            work += members.count
            return members.contains { areEqual(left, $0) }
        case (.in, .one(.null)): return false
        case (.in, .one(let text)):
            guard text.text != nil else { throw invalid("The right side of IN is not a list") }
            return try holds(text, .contains, left, &work)
        case (.between, .many(let bounds)) where bounds.count == 2:
            guard try holds(left, .greaterThanOrEqualTo, bounds[0], &work) else { return false }
            return try holds(left, .lessThanOrEqualTo, bounds[1], &work)
        case (.between, .one(.null)): return false
        case (.between, _): throw invalid("BETWEEN needs two bounds")
        case (_, .one(let right)): return try holds(left, comparison.operator, right, &work)
        case (.equalTo, .many) where left.isNull, (.notEqualTo, .many) where left.isNull: return false
        case (_, .many): throw invalid("The right side of \(comparison.operator) is a list")
        }
    }

    private func invalid(_ what: String) -> StrataError {
        StrataError(.invalidRequest, "\(what).", context: .init(predicate: comparison.description))
    }

    // MARK: Two values

    private func holds(
        _ left: AttributeValue, _ operator: ComparisonPredicate.Operator, _ right: AttributeValue, _ work: inout Int
    ) throws(StrataError) -> Bool {
        if left.isNull || right.isNull {
            guard asksForNil else { return false }
            switch `operator` {
            case .equalTo: return left.isNull && right.isNull
            case .notEqualTo: return left.isNull != right.isNull
            default: return false
            }
        }
        switch `operator` {
        case .equalTo: return areEqual(left, right)
        case .notEqualTo: return !areEqual(left, right)
        case .lessThan: return order(left, right) == .ascending
        case .greaterThan: return order(left, right) == .descending
        case .lessThanOrEqualTo: return order(left, right).map { $0 != .descending } ?? false
        case .greaterThanOrEqualTo: return order(left, right).map { $0 != .ascending } ?? false
        case .beginsWith, .endsWith, .contains, .like, .matches:
            guard let left = left.text, let right = right.text else { return false }
            return try ComparisonPredicate.textHolds(left, `operator`, right, comparison.folding, work: &work)
        case .in, .between: return false
        }
    }

    private func areEqual(_ left: AttributeValue, _ right: AttributeValue) -> Bool {
        if left.isNull || right.isNull { return false }
        let (left, right) = matched(left, right)
        return left.folded(comparison.folding).isEqual(to: right.folded(comparison.folding))
    }

    private func order(_ left: AttributeValue, _ right: AttributeValue) -> ValueOrder? {
        let (left, right) = matched(left, right)
        return left.folded(comparison.folding).order(to: right.folded(comparison.folding))
    }

    /// Converts two values of different kinds so that they can be compared.
    private func matched(_ left: AttributeValue, _ right: AttributeValue) -> (AttributeValue, AttributeValue) {
        switch (left, right) {
        case (.boolean, .boolean): (left, right)
        case (.boolean(let value), _): (.integer(value ? 1 : 0), right)
        case (_, .boolean(let value)): (left, .integer(value ? 1 : 0))
        case (.float, .double(let value)) where hasLiteral: (left, .float(Float(value)))
        case (.double(let value), .float) where hasLiteral: (.float(Float(value)), right)
        case (.uuid, .string(let text)): (left, UUID(uuidString: text).map(AttributeValue.uuid) ?? right)
        case (.string(let text), .uuid): (UUID(uuidString: text).map(AttributeValue.uuid) ?? left, right)
        case (.date, .string(let text)) where hasLiteral:
            (left, Date(iso8601Text: text).map(AttributeValue.date) ?? right)
        case (.string(let text), .date) where hasLiteral:
            (Date(iso8601Text: text).map(AttributeValue.date) ?? left, right)
        case (.url(let url), .string): (.string(url.absoluteString), right)
        case (.string, .url(let url)): (left, .string(url.absoluteString))
        default: (left, right)
        }
    }
}

extension FetchExpression {
    /// Whether this is the literal `nil`.
    package var isNilLiteral: Bool { self == .constant(.null) }

    fileprivate var isLiteral: Bool {
        switch self {
        case .constant: true
        case .aggregate(let parts): parts.allSatisfy(\.isLiteral)
        default: false
        }
    }
}

extension AttributeValue {
    /// The string, or the absolute string of the URL; nil for values of other kinds.
    package var text: String? {
        switch self {
        case .string(let text): text
        case .url(let url): url.absoluteString
        default: nil
        }
    }

    /// A value that is equal for all values that are the same member of a set: numbers by value, text in normal form.
    var memberKey: AttributeValue {
        switch self {
        case .boolean(let value): return .integer(value ? 1 : 0)
        case .float(let value): return Double(value.description).map { AttributeValue.double($0).memberKey } ?? self
        case .double(let value): return Int64(exactly: value).map(AttributeValue.integer) ?? self
        case .decimal:
            if let whole = coerced(to: .integer64) { return whole }
            return coerced(to: .double) ?? self
        case .string(let text): return .string(TextFolding.fold(text, []))
        default: return self
        }
    }
}
