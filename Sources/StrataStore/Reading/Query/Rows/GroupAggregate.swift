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
            return IntegerSum(slot, isAverage: function == .average)
        case (.sum, .floatingPoint(isFloat: false)), (.average, .floatingPoint(isFloat: false)):
            return DoubleSum(slot, isAverage: function == .average)
        case (.min, .integer), (.max, .integer): return IntegerExtreme(slot, isMinimum: function == .min)
        case (.min, .floatingPoint(isFloat: false)), (.max, .floatingPoint(isFloat: false)), (.min, .date),
            (.max, .date):
            return DoubleExtreme(slot, isMinimum: function == .min, isDate: type == .date)
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

/// The sum or average of integers, or of Bools as 0 and 1.
private final class IntegerSum: GroupAggregate {
    private let slot: Int
    private let isAverage: Bool
    private var sums: [RunningSum] = []

    init(_ slot: Int, isAverage: Bool) {
        self.slot = slot
        self.isAverage = isAverage
    }

    func addGroup() { sums.append(RunningSum()) }

    func add(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation, to group: Int) {
        if let value = row.integer(slot) { sums[group].add(whole: value) }
    }

    func result(of group: Int) throws -> AttributeValue { try sums[group].result(isAverage: isAverage) }
}

/// The sum or average of Doubles.
private final class DoubleSum: GroupAggregate {
    private let slot: Int
    private let isAverage: Bool
    private var sums: [RunningSum] = []

    init(_ slot: Int, isAverage: Bool) {
        self.slot = slot
        self.isAverage = isAverage
    }

    func addGroup() { sums.append(RunningSum()) }

    func add(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation, to group: Int) {
        if let value = row.double(slot) { sums[group].add(double: value) }
    }

    func result(of group: Int) throws -> AttributeValue { try sums[group].result(isAverage: isAverage) }
}

/// The smallest or largest integer.
private final class IntegerExtreme: GroupAggregate {
    private let slot: Int
    private let isMinimum: Bool
    private var groups: [(isThere: Bool, value: Int64)] = []

    init(_ slot: Int, isMinimum: Bool) {
        self.slot = slot
        self.isMinimum = isMinimum
    }

    func addGroup() { groups.append((false, 0)) }

    func add(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation, to group: Int) {
        guard let value = row.integer(slot) else { return }
        let (isThere, best) = groups[group]
        if !isThere || (isMinimum ? value < best : value > best) { groups[group] = (true, value) }
    }

    func result(of group: Int) -> AttributeValue { groups[group].isThere ? .integer(groups[group].value) : .null }
}

/// The smallest or largest Double or date; NaN is neither.
private final class DoubleExtreme: GroupAggregate {
    private let slot: Int
    private let isMinimum: Bool
    private let isDate: Bool
    private var groups: [(isThere: Bool, value: Double)] = []

    init(_ slot: Int, isMinimum: Bool, isDate: Bool) {
        self.slot = slot
        self.isMinimum = isMinimum
        self.isDate = isDate
    }

    func addGroup() { groups.append((false, 0)) }

    func add(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation, to group: Int) {
        guard let value = row.double(slot), !value.isNaN else { return }
        let (isThere, best) = groups[group]
        if !isThere || (isMinimum ? value < best : value > best) { groups[group] = (true, value) }
    }

    func result(of group: Int) -> AttributeValue {
        guard groups[group].isThere else { return .null }
        let value = groups[group].value
        return isDate ? .date(Date(timeIntervalSinceReferenceDate: value)) : .double(value)
    }
}

extension RunningSum {
    fileprivate func result(isAverage: Bool) throws(StrataError) -> AttributeValue {
        isAverage ? try ValueArithmetic.mean(of: total, count: count) : total
    }
}
