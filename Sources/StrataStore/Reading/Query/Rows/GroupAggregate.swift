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
        if function == .count { return PresenceCount(slot) }
        let adds = function == .sum || function == .average
        guard adds || function == .min || function == .max else { return AnyAggregate(function, reader) }
        switch type {
        case .integer: return IntegerAggregate(function, slot)
        case .boolean where adds: return IntegerAggregate(function, slot)
        case .floatingPoint(isFloat: false): return DoubleAggregate(function, slot, isDate: false)
        case .date where !adds: return DoubleAggregate(function, slot, isDate: true)
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
        fresh = Accumulator(function, isOfDecimals: reader?.type == .decimal)
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

// Classes of one type of number each: a row reaches those of a generic class by way of its metadata, which takes longer
// than to add the number.

/// The sum, average, smallest or largest of integers, or of Bools as 0 and 1.
private final class IntegerAggregate: GroupAggregate {
    private struct State {
        var count: Int64 = 0
        var value: Int64 = 0
        /// The sum when it has left the range of integers.
        var beyond: Double?
    }

    private let function: FetchFunction
    private let slot: Int
    @exclusivity(unchecked) private var groups: [State] = []

    init(_ function: FetchFunction, _ slot: Int) {
        self.function = function
        self.slot = slot
    }

    func addGroup() { groups.append(State()) }

    func add(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation, to group: Int) {
        guard let value = row.integer(slot) else { return }
        let state = groups[group]
        groups[group].count &+= 1
        switch function {
        case .min: if state.count == 0 || value < state.value { groups[group].value = value }
        case .max: if state.count == 0 || value > state.value { groups[group].value = value }
        default:
            let (sum, overflows) = state.value.addingReportingOverflow(value)
            if overflows || state.beyond != nil {
                groups[group].beyond = (state.beyond ?? Double(state.value)) + Double(value)
            } else {
                groups[group].value = sum
            }
        }
    }

    func result(of group: Int) throws -> AttributeValue {
        let state = groups[group]
        switch function {
        case .min, .max: return state.count == 0 ? .null : .integer(state.value)
        default:
            let sum = state.beyond.map(AttributeValue.double) ?? .integer(state.value)
            return function == .sum ? sum : try ValueArithmetic.mean(of: sum, count: state.count)
        }
    }
}

/// The sum or average of doubles, or the smallest or largest of doubles or dates; NaN is neither.
private final class DoubleAggregate: GroupAggregate {
    private let function: FetchFunction
    private let slot: Int
    private let isDate: Bool
    @exclusivity(unchecked) private var groups: [(count: Int64, value: Double)] = []

    init(_ function: FetchFunction, _ slot: Int, isDate: Bool) {
        self.function = function
        self.slot = slot
        self.isDate = isDate
    }

    func addGroup() { groups.append((0, 0)) }

    func add(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation, to group: Int) {
        guard let value = row.double(slot) else { return }
        let state = groups[group]
        switch function {
        case .min, .max:
            guard !value.isNaN else { return }
            let isBetter = function == .min ? value < state.value : value > state.value
            if state.count == 0 || isBetter { groups[group].value = value }
        default: groups[group].value += value
        }
        groups[group].count &+= 1
    }

    func result(of group: Int) throws -> AttributeValue {
        let (count, value) = groups[group]
        switch function {
        case .min, .max:
            if count == 0 { return .null }
            return isDate ? .date(Date(timeIntervalSinceReferenceDate: value)) : .double(value)
        default:
            let sum: AttributeValue = count == 0 ? .integer(0) : value.isNaN ? .null : .double(value)
            return function == .sum ? sum : try ValueArithmetic.mean(of: sum, count: count)
        }
    }
}
