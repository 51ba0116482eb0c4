// Compiled conditions on numbers, dates, ids and nil in a row.

import StrataModel

/// Whether a slot is nil, or is not.
final class NilCondition: RowCondition {
    private let slot: Int
    private let wantsNil: Bool

    init(slot: Int, wantsNil: Bool) {
        self.slot = slot
        self.wantsNil = wantsNil
    }

    var holdsForNothing: Bool { wantsNil }
    var cost: ConditionCost { .scalar }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) -> Bool {
        row.isNull(slot) == wantsNil
    }
}

/// Some ranges in order, and whether a condition accepts values in one of them or values outside all.
///
/// One range is for `==`, `<`, `<=`, `>`, `>=` and `BETWEEN`, several for `IN`. NaN is outside.
private struct AcceptedRanges<Bound: Comparable & Sendable>: Sendable {
    private let first: ClosedRange<Bound>?
    private let ranges: [ClosedRange<Bound>]
    private let isInside: Bool

    init(_ ranges: [ClosedRange<Bound>], isInside: Bool) {
        first = ranges.count == 1 ? ranges.first : nil
        self.ranges = ranges.sorted { $0.lowerBound < $1.lowerBound }
        self.isInside = isInside
    }

    @inline(__always)
    func accept(_ value: Bound) -> Bool {
        if let first { return (first.lowerBound <= value && value <= first.upperBound) == isInside }
        let index = ranges.partitionPoint { $0.upperBound < value }
        return (index < ranges.count && ranges[index].lowerBound <= value) == isInside
    }

    /// The accepted value, if there is just one.
    var single: Bound? {
        guard let first, isInside, first.lowerBound == first.upperBound else { return nil }
        return first.lowerBound
    }
}

/// Whether an integer, or a Bool as 0 or 1, is accepted.
final class IntegerCondition: RowCondition {
    private let slot: Int
    private let ranges: AcceptedRanges<Int64>

    /// - Parameter ranges: at least one.
    init(slot: Int, _ ranges: [ClosedRange<Int64>], isInside: Bool) {
        self.slot = slot
        self.ranges = AcceptedRanges(ranges, isInside: isInside)
    }

    var cost: ConditionCost { .scalar }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) -> Bool {
        guard let value = row.integer(slot) else { return false }
        return ranges.accept(value)
    }
}

/// Whether a Double, Float or Date is accepted.
final class FloatingPointCondition: RowCondition {
    private let slot: Int
    private let ranges: AcceptedRanges<Double>

    /// - Parameter ranges: at least one.
    init(slot: Int, _ ranges: [ClosedRange<Double>], isInside: Bool) {
        self.slot = slot
        self.ranges = AcceptedRanges(ranges, isInside: isInside)
    }

    var cost: ConditionCost { .scalar }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) -> Bool {
        guard let value = row.double(slot) else { return false }
        return ranges.accept(value)
    }
}

/// The object ids that a condition accepts.
struct IdentifierCondition: Sendable {
    private let ranges: AcceptedRanges<UInt64>

    init(_ ranges: [ClosedRange<UInt64>], isInside: Bool) {
        self.ranges = AcceptedRanges(ranges, isInside: isInside)
    }

    func accepts(_ id: ObjectID) -> Bool { ranges.accept(id.rawValue) }

    /// The accepted object, if there is just one.
    var single: ObjectID? { ranges.single.map(ObjectID.init(rawValue:)) }
}

/// Whether a to-one, or an attribute with an object id, is an accepted object.
final class ReferenceCondition: RowCondition {
    private let slot: Int
    private let condition: IdentifierCondition

    init(slot: Int, _ condition: IdentifierCondition) {
        self.slot = slot
        self.condition = condition
    }

    var cost: ConditionCost { .scalar }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) -> Bool {
        let reference = row.reference(slot)
        return !reference.isNil && condition.accepts(reference)
    }
}

/// Whether the object itself is an accepted object.
final class SelfCondition: RowCondition {
    private let condition: IdentifierCondition

    init(_ condition: IdentifierCondition) { self.condition = condition }

    var cost: ConditionCost { .scalar }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) -> Bool { condition.accepts(id) }
}
