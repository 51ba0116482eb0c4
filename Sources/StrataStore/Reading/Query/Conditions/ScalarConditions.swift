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

/// Whether an integer, or a Bool as 0 or 1, is in one of some ranges, or outside all of them.
///
/// One range is for `==`, `<`, `<=`, `>`, `>=` and `BETWEEN`, several for `IN`.
final class IntegerCondition: RowCondition {
    private let slot: Int
    private let first: ClosedRange<Int64>
    /// All ranges in order, if there is more than one.
    private let ranges: [ClosedRange<Int64>]
    private let isInside: Bool

    /// - Parameter ranges: at least one.
    init(slot: Int, _ ranges: [ClosedRange<Int64>], isInside: Bool) {
        self.slot = slot
        first = ranges.first ?? 0...0
        self.ranges = ranges.count == 1 ? [] : ranges.sorted { $0.lowerBound < $1.lowerBound }
        self.isInside = isInside
    }

    var holdsForNothing: Bool { false }
    var cost: ConditionCost { .scalar }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) -> Bool {
        guard let value = row.integer(slot) else { return false }
        if ranges.isEmpty { return (first.lowerBound <= value && value <= first.upperBound) == isInside }
        let place = ranges.partitionPoint { $0.upperBound < value }
        return (place < ranges.count && ranges[place].lowerBound <= value) == isInside
    }
}

/// Whether a Double, Float or Date is in one of some ranges, or outside all of them. NaN is outside.
final class FloatingPointCondition: RowCondition {
    private let slot: Int
    private let lower: Double
    private let upper: Double
    private let ranges: [ClosedRange<Double>]
    private let isInside: Bool

    /// - Parameter ranges: at least one.
    init(slot: Int, _ ranges: [ClosedRange<Double>], isInside: Bool) {
        self.slot = slot
        lower = ranges.first?.lowerBound ?? 0
        upper = ranges.first?.upperBound ?? 0
        self.ranges = ranges.count == 1 ? [] : ranges.sorted { $0.lowerBound < $1.lowerBound }
        self.isInside = isInside
    }

    var holdsForNothing: Bool { false }
    var cost: ConditionCost { .scalar }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) -> Bool {
        guard let value = row.double(slot) else { return false }
        if ranges.isEmpty { return (lower <= value && value <= upper) == isInside }
        let place = ranges.partitionPoint { $0.upperBound < value }
        return (place < ranges.count && ranges[place].lowerBound <= value) == isInside
    }
}

/// The object ids that a condition accepts.
struct IdentifierCondition: Sendable {
    /// Sorted, without overlaps.
    let ranges: [ClosedRange<UInt64>]
    let isInside: Bool

    init(_ ranges: [ClosedRange<UInt64>], isInside: Bool) {
        self.ranges = ranges.sorted { $0.lowerBound < $1.lowerBound }
        self.isInside = isInside
    }

    func accepts(_ id: ObjectID) -> Bool {
        let place = ranges.partitionPoint { $0.upperBound < id.rawValue }
        return (place < ranges.count && ranges[place].lowerBound <= id.rawValue) == isInside
    }

    /// The accepted object, if there is just one.
    var single: ObjectID? {
        guard isInside, ranges.count == 1, ranges[0].lowerBound == ranges[0].upperBound else { return nil }
        return ObjectID(rawValue: ranges[0].lowerBound)
    }
}

/// Whether a to-one, or an attribute with an object id, is an accepted object.
final class ReferenceCondition: RowCondition {
    private let slot: Int
    private let condition: IdentifierCondition

    init(slot: Int, _ condition: IdentifierCondition) {
        self.slot = slot
        self.condition = condition
    }

    var holdsForNothing: Bool { false }
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

    var holdsForNothing: Bool { false }
    var cost: ConditionCost { .scalar }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) -> Bool { condition.accepts(id) }
}

extension RandomAccessCollection {
    /// The first index whose element is not `before`. All elements that are come first.
    func partitionPoint(_ before: (Element) throws -> Bool) rethrows -> Index {
        var low = startIndex
        var length = count
        while length > 0 {
            let half = length / 2
            let middle = index(low, offsetBy: half)
            if try before(self[middle]) {
                low = index(after: middle)
                length -= half + 1
            } else {
                length = half
            }
        }
        return low
    }
}
