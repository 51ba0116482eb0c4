import Foundation
import StrataModel

/// The running values of one aggregate, one for each group.
///
/// Numbers and dates of the row itself are added as they lie in the row. Belongs to one run on one thread.
protocol GroupAggregate: AnyObject {
    /// Begins the next group.
    func addGroup()
    func add(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation, to group: Int) throws
    func result(of group: Int) throws -> AttributeValue
}

extension GroupShape.Aggregate {
    /// The fastest kind for the aggregate.
    func running() -> any GroupAggregate {
        guard let reader, let slot = reader.ownSlot, let type = reader.type else {
            return AnyAggregate(function, reader)
        }
        switch (function, type) {
        case (.count, _): return PresenceCount(slot)
        case (.sum, .integer), (.average, .integer), (.sum, .boolean), (.average, .boolean):
            return ColumnSum<IntegerColumn>(slot, isAverage: function == .average)
        case (.sum, .floatingPoint(isFloat: false)), (.average, .floatingPoint(isFloat: false)):
            return ColumnSum<DoubleColumn>(slot, isAverage: function == .average)
        case (.min, .integer), (.max, .integer):
            return ColumnExtreme<IntegerColumn>(slot, isMinimum: function == .min) { .integer($0) }
        case (.min, .floatingPoint(isFloat: false)), (.max, .floatingPoint(isFloat: false)), (.min, .date),
            (.max, .date):
            return ColumnExtreme<DoubleColumn>(slot, isMinimum: function == .min) {
                type == .date ? .date(Date(timeIntervalSinceReferenceDate: $0)) : .double($0)
            }
        default: return AnyAggregate(function, reader)
        }
    }
}

/// An aggregate of values of any type.
private final class AnyAggregate: GroupAggregate {
    private let fresh: Accumulator
    private let reader: ValueReader?
    private var groups: [Accumulator] = []

    init(_ function: FetchFunction, _ reader: ValueReader?) {
        fresh = Accumulator(function)
        self.reader = reader
    }

    func addGroup() { groups.append(fresh) }

    func add(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation, to group: Int) throws {
        guard let reader else { return }
        if case .list = fresh { try evaluation.snapshot?.hold(MemoryLayout<AttributeValue>.stride) }
        try groups[group].add(try reader.value(row, id, evaluation))
    }

    func result(of group: Int) throws -> AttributeValue { try groups[group].result() }
}

/// The number of rows whose property is not nil.
private final class PresenceCount: GroupAggregate {
    private let slot: Int
    private var counts: [Int64] = []

    init(_ slot: Int) { self.slot = slot }

    func addGroup() { counts.append(0) }

    func add(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation, to group: Int) {
        if !row.isNull(slot) { counts[group] &+= 1 }
    }

    func result(of group: Int) -> AttributeValue { .integer(counts[group]) }
}

/// A kind of number as it lies in a row.
private protocol NumberColumn {
    associatedtype Value: Comparable
    static var zero: Value { get }
    static func value(_ row: RowReader, _ slot: Int) -> Value?
    static func add(_ value: Value, to sum: inout RunningSum)
}

/// Integers, and Bools as 0 and 1.
private enum IntegerColumn: NumberColumn {
    static var zero: Int64 { 0 }
    static func value(_ row: RowReader, _ slot: Int) -> Int64? { row.integer(slot) }
    static func add(_ value: Int64, to sum: inout RunningSum) { sum.add(whole: value) }
}

/// Doubles, and dates as their seconds.
private enum DoubleColumn: NumberColumn {
    static var zero: Double { 0 }
    static func value(_ row: RowReader, _ slot: Int) -> Double? { row.double(slot) }
    static func add(_ value: Double, to sum: inout RunningSum) { sum.add(double: value) }
}

/// The sum or average of numbers.
private final class ColumnSum<Column: NumberColumn>: GroupAggregate {
    private let slot: Int
    private let isAverage: Bool
    private var sums: [RunningSum] = []

    init(_ slot: Int, isAverage: Bool) {
        self.slot = slot
        self.isAverage = isAverage
    }

    func addGroup() { sums.append(RunningSum()) }

    func add(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation, to group: Int) {
        if let value = Column.value(row, slot) { Column.add(value, to: &sums[group]) }
    }

    func result(of group: Int) throws -> AttributeValue {
        let sum = sums[group]
        return isAverage ? try ValueArithmetic.mean(of: sum.total, count: sum.count) : sum.total
    }
}

/// The smallest or largest number; NaN is neither.
private final class ColumnExtreme<Column: NumberColumn>: GroupAggregate {
    private let slot: Int
    private let isMinimum: Bool
    private let attributeValue: (Column.Value) -> AttributeValue
    private var groups: [(isThere: Bool, value: Column.Value)] = []

    init(_ slot: Int, isMinimum: Bool, _ attributeValue: @escaping (Column.Value) -> AttributeValue) {
        self.slot = slot
        self.isMinimum = isMinimum
        self.attributeValue = attributeValue
    }

    func addGroup() { groups.append((false, Column.zero)) }

    func add(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation, to group: Int) {
        // NaN is not equal to itself.
        guard let value = Column.value(row, slot), value == value else { return }
        let (isThere, best) = groups[group]
        if !isThere || (isMinimum ? value < best : value > best) { groups[group] = (true, value) }
    }

    func result(of group: Int) -> AttributeValue {
        groups[group].isThere ? attributeValue(groups[group].value) : .null
    }
}
