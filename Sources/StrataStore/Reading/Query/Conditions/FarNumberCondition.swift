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
    /// The relationship that is the whole path.
    private let onlyRelationship: PropertyID?

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
        if left.hops.count == 1, case .toMany(let relationship) = left.hops[0] {
            onlyRelationship = relationship
        } else {
            onlyRelationship = nil
        }
    }

    var cost: ConditionCost { .manyRows }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        let own = own.number(row)
        let numbers = evaluation.farNumbers(of: self)
        var result = quantifier == .all
        /// Tests one target, and returns whether the next has to be tested.
        func goesOn(after target: ObjectID?) throws -> Bool {
            var holds = false
            if let own, let target {
                holds = compare(try numbers.number(of: target, evaluation) { far.number($0) }, own)
            }
            guard holds != result else { return true }
            result.toggle()
            return false
        }
        if let onlyRelationship {
            try evaluation.members(of: onlyRelationship, owner: id, goesOn)
        } else {
            try path.forEachValue(row, id, evaluation) { value in
                if case .objectID(let target) = value { try goesOn(after: target) } else { try goesOn(after: nil) }
            }
        }
        return result
    }

    private func compare(_ far: Int64?, _ own: Int64) -> Bool {
        guard let far else { return false }
        return switch comparison {
        case .lessThan: far < own
        case .lessThanOrEqualTo: far <= own
        case .greaterThan: far > own
        default: far >= own
        }
    }
}

/// The numbers that a condition has read of other objects in a run.
final class FarNumbers {
    let condition: FarNumberCondition
    private var numbers: [ObjectID: Int64?] = [:]

    init(_ condition: FarNumberCondition) { self.condition = condition }

    /// The number of an object, read once; nil where it has none.
    func number(
        of id: ObjectID, _ evaluation: Evaluation, _ read: (RowReader) -> Int64?
    ) throws -> Int64? {
        if let known = numbers[id] { return known }
        let number = try evaluation.withRow(id) { $0.flatMap(read) }
        try evaluation.snapshot?.hold(32)
        numbers[id] = .some(number)
        return number
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
