import StrataModel

/// Compares a number at the far end of relationships with one of the row itself: `ANY parts.date > date`.
///
/// Many rows may lead to the same far object, so the number of each is read once in a run.
final class FarNumberCondition: RowCondition {
    private let path: ValuePath
    private let far: NumberSlot
    private let own: NumberSlot
    private let comparison: ComparisonPredicate.Operator
    private let quantifier: MemberQuantifier

    /// - Returns: nil where the two sides are no such numbers, or the comparison is no order.
    init?(
        _ left: ResolvedPath, _ comparison: ComparisonPredicate.Operator, _ right: ResolvedPath,
        _ quantifier: MemberQuantifier?
    ) {
        guard !left.hops.isEmpty, right.hops.isEmpty, left.isToMany == (quantifier != nil),
            let far = NumberSlot(left.end), let own = NumberSlot(right.end), far.kind == own.kind
        else { return nil }
        switch comparison {
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo: break
        default: return nil
        }
        path = ValuePath(hops: left.hops, end: .object)
        (self.far, self.own, self.comparison) = (far, own, comparison)
        self.quantifier = quantifier ?? .any
    }

    var cost: ConditionCost { .manyRows }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        let own = own.number(row)
        var result = quantifier == .all
        try path.forEachValue(row, id, evaluation) { value in
            var number: Int64?
            if own != nil, case .objectID(let target) = value {
                number = try evaluation.farNumber(self, of: target) { far.number($0) }
            }
            guard compare(number, own) != result else { return true }
            result.toggle()
            return false
        }
        return result
    }

    private func compare(_ far: Int64?, _ own: Int64?) -> Bool {
        guard let far, let own else { return false }
        return switch comparison {
        case .lessThan: far < own
        case .lessThanOrEqualTo: far <= own
        case .greaterThan: far > own
        default: far >= own
        }
    }
}

/// A slot with a number, which is read as an integer that has its order.
private struct NumberSlot {
    enum Kind { case integer, double, date }

    let slot: Int
    let kind: Kind

    init?(_ end: ResolvedPath.End) {
        guard case .attribute(let slot, _) = end else { return nil }
        switch ComparedType(end) {
        case .integer: kind = .integer
        case .floatingPoint(isFloat: false): kind = .double
        case .date: kind = .date
        default: return nil
        }
        self.slot = slot
    }

    /// nil for nil, and for NaN, which has no order.
    @inline(__always)
    func number(_ row: RowReader) -> Int64? {
        if kind == .integer { return row.integer(slot) }
        guard let value = row.double(slot), !value.isNaN else { return nil }
        // The bits of positive doubles are ordered as the doubles are, those of negative ones the other way round. The
        // two zeros are one number.
        let bits = Int64(bitPattern: (value == 0 ? 0 : value).bitPattern)
        return bits < 0 ? bits ^ .max : bits
    }
}
