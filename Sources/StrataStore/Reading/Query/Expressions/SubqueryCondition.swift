import StrataModel

/// Whether the number of members that meet a condition is in a range, or outside: `SUBQUERY(…).@count > 3`.
final class SubqueryCondition: RowCondition {
    private let relationship: PropertyID
    private let inner: any RowCondition
    private let ranges: [ClosedRange<Int64>]
    private let isInside: Bool
    /// Counting stops here, since higher counts give the same answer.
    private let enough: Int64

    init(_ relationship: PropertyID, _ inner: any RowCondition, _ ranges: [ClosedRange<Int64>], isInside: Bool) {
        self.relationship = relationship
        self.inner = inner
        self.ranges = ranges
        self.isInside = isInside
        let bounds = ranges.flatMap { [$0.lowerBound, $0.upperBound] }.filter { $0 > 0 && $0 < .max }
        enough = (bounds.max() ?? 0) + 1
    }

    var cost: ConditionCost { .manyRows }

    /// Whether the condition holds for an object without members.
    var holdsForZero: Bool { accepts(0) }

    /// Whether one member decides, whatever the number of others.
    var isExistence: Bool { !accepts(0) && enough <= 2 && accepts(1) && accepts(.max) }

    private func accepts(_ count: Int64) -> Bool { ranges.contains { $0.contains(count) } == isInside }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        guard evaluation.snapshot != nil else { return false }
        var count: Int64 = 0
        try evaluation.members(of: relationship, owner: id) { member in
            let holds = try evaluation.withRow(member) { row in
                guard let row else { return false }
                return try inner.holds(row, member, evaluation)
            }
            if holds { count += 1 }
            return count < enough
        }
        return accepts(count)
    }
}
