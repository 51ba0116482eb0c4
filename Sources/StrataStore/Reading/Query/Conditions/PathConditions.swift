// Compiled conditions on the far end of relationships.

import StrataModel

/// Whether the target of a to-one meets a condition.
final class JoinCondition: RowCondition {
    private let slot: Int
    private let inner: any RowCondition

    init(slot: Int, _ inner: any RowCondition) {
        self.slot = slot
        self.inner = inner
    }

    var holdsForNothing: Bool { inner.holdsForNothing }
    var cost: ConditionCost { max(.otherRow, inner.cost) }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        let target = row.reference(slot)
        if target.isNil { return inner.holdsForNothing }
        return try evaluation.withRow(target) { row in
            guard let row else { return inner.holdsForNothing }
            return try inner.holds(row, target, evaluation)
        }
    }
}

/// A condition on an object that many others lead to, which is judged once for each object in a run.
///
/// Where a path goes through several to-manys, `owner.items.owner.items`, an object is reached by many ways, and their
/// numbers multiply.
final class RememberedCondition: RowCondition {
    private let inner: any RowCondition

    init(_ inner: any RowCondition) { self.inner = inner }

    var holdsForNothing: Bool { inner.holdsForNothing }
    var cost: ConditionCost { inner.cost }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        try evaluation.remembered(self, id) { try inner.holds(row, id, evaluation) }
    }
}

/// Whether a condition must hold for any or for all members.
enum MemberQuantifier: Sendable {
    case any, all

    /// Whether the test holds for the members of a to-many, which are tested until one decides.
    fileprivate func holds(
        of relationship: PropertyID, of owner: ObjectID, _ evaluation: Evaluation, _ test: (ObjectID) throws -> Bool
    ) throws -> Bool {
        var result = self == .all
        try evaluation.members(of: relationship, owner: owner) { member in
            guard try test(member) != result else { return true }
            result.toggle()
            return false
        }
        return result
    }
}

/// Whether any or all members of a to-many meet a condition. Without members, any does not hold and all does.
final class MembersCondition: RowCondition {
    private let relationship: PropertyID
    private let quantifier: MemberQuantifier
    private let inner: any RowCondition

    init(_ relationship: PropertyID, _ quantifier: MemberQuantifier, _ inner: any RowCondition) {
        self.relationship = relationship
        self.quantifier = quantifier
        self.inner = inner
    }

    var holdsForNothing: Bool { quantifier == .all }
    var cost: ConditionCost { .manyRows }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        try quantifier.holds(of: relationship, of: id, evaluation) { member in
            try evaluation.withRow(member) { row in
                guard let row else { return inner.holdsForNothing }
                return try inner.holds(row, member, evaluation)
            }
        }
    }
}

/// Whether any or all members of a to-many are among some objects. It reads no member's row.
final class MemberIdentifierCondition: RowCondition {
    private let relationship: PropertyID
    private let quantifier: MemberQuantifier
    private let condition: IdentifierCondition

    init(_ relationship: PropertyID, _ quantifier: MemberQuantifier, _ condition: IdentifierCondition) {
        self.relationship = relationship
        self.quantifier = quantifier
        self.condition = condition
    }

    var holdsForNothing: Bool { quantifier == .all }
    var cost: ConditionCost { .manyRows }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        if quantifier == .any, let member = condition.single, let snapshot = evaluation.snapshot {
            return try snapshot.isMember(member, of: relationship, owner: id)
        }
        return try quantifier.holds(of: relationship, of: id, evaluation, condition.accepts)
    }
}

/// Whether the number of members of a to-many (`relationship.@count`) is in a range, or outside.
///
/// If a to-one on the way to the owner is nil, there is no number, and the condition does not hold.
final class MemberCountCondition: RowCondition {
    private let relationship: PropertyID
    private let ranges: [ClosedRange<Int64>]
    private let isInside: Bool
    let holdsForNothing: Bool

    init(_ relationship: PropertyID, _ ranges: [ClosedRange<Int64>], isInside: Bool, holdsForNothing: Bool) {
        self.relationship = relationship
        self.ranges = ranges
        self.isInside = isInside
        self.holdsForNothing = holdsForNothing
    }

    var cost: ConditionCost { .otherRow }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        guard let snapshot = evaluation.snapshot else { return false }
        let count = Int64(try snapshot.memberCount(of: relationship, owner: id))
        return ranges.contains { $0.contains(count) } == isInside
    }
}
