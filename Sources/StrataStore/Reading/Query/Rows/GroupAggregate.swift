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
        fresh = Accumulator(function, reader?.type)
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
        var value: Int128 = 0
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
        case .min: if state.count == 0 || value < state.value { groups[group].value = Int128(value) }
        case .max: if state.count == 0 || value > state.value { groups[group].value = Int128(value) }
        default: groups[group].value = state.value &+ Int128(value)
        }
    }

    func result(of group: Int) throws -> AttributeValue {
        let state = groups[group]
        switch function {
        case .min, .max: return state.count == 0 ? .null : .integer(Int64(truncatingIfNeeded: state.value))
        case .average: return ExactSum.mean(state.value, of: state.count)
        default: return ExactSum.value(state.value)
        }
    }
}

/// The sum or average of doubles, or the smallest or largest of doubles or dates; NaN is neither.
private final class DoubleAggregate: GroupAggregate {
    private let function: FetchFunction
    private let slot: Int
    private let isDate: Bool
    @exclusivity(unchecked) private var groups: [(count: Int64, value: RunningDouble)] = []

    init(_ function: FetchFunction, _ slot: Int, isDate: Bool) {
        self.function = function
        self.slot = slot
        self.isDate = isDate
    }

    func addGroup() { groups.append((0, RunningDouble())) }

    func add(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation, to group: Int) {
        guard let value = row.double(slot) else { return }
        switch function {
        case .min, .max:
            guard !value.isNaN else { return }
            let best = groups[group].value.first
            if groups[group].count == 0 || (function == .min ? value < best : value > best) {
                groups[group].value.first = value
            }
        default: groups[group].value.add(value)
        }
        groups[group].count &+= 1
    }

    func result(of group: Int) -> AttributeValue {
        let (count, value) = groups[group]
        switch function {
        case .min, .max:
            if count == 0 { return .null }
            return isDate ? .date(Date(timeIntervalSinceReferenceDate: value.first)) : .double(value.first)
        case .average: return ExactSum.mean(value.rounded, of: count)
        default: return ExactSum.value(value.rounded)
        }
    }
}
