import Foundation
import StrataModel

/// Computes an aggregate of one group, value by value. It skips nil, and NaN is no extreme.
enum Accumulator: Sendable {
    case count(Int64)
    case sum(RunningSum, isAverage: Bool)
    case extreme(AttributeValue, wanted: ValueOrder)
    /// Computed from all values at the end.
    case list([AttributeValue], FetchFunction)

    /// - Parameter isOfDecimals: whether the values are decimals, so that the sum of none is one too.
    init(_ function: FetchFunction, isOfDecimals: Bool) {
        switch function {
        case .count: self = .count(0)
        case .sum: self = .sum(RunningSum(isOfDecimals: isOfDecimals), isAverage: false)
        case .average: self = .sum(RunningSum(), isAverage: true)
        case .min: self = .extreme(.null, wanted: .ascending)
        case .max: self = .extreme(.null, wanted: .descending)
        default: self = .list([], function)
        }
    }

    mutating func add(_ value: AttributeValue) throws(StrataError) {
        if value.isNull { return }
        switch self {
        case .count(let count): self = .count(count + 1)
        case .sum(var sum, let isAverage):
            try sum.add(value)
            self = .sum(sum, isAverage: isAverage)
        case .extreme(let best, let wanted):
            guard value.order(to: value) != nil, best.isNull || value.order(to: best) == wanted else { return }
            self = .extreme(value, wanted: wanted)
        case .list(var values, let function):
            self = .count(0)  // So that the array has one owner while it grows.
            values.append(value)
            self = .list(values, function)
        }
    }

    func result() throws(StrataError) -> AttributeValue {
        switch self {
        case .count(let count): return .integer(count)
        case .sum(let sum, isAverage: false): return sum.total
        case .sum(let sum, isAverage: true):
            return try ValueArithmetic.mean(of: sum.total, count: sum.count)
        case .extreme(let best, _): return best
        case .list(let values, let function):
            return try evaluated(.function(function, [.aggregate(values.map(FetchExpression.constant))]))
        }
    }

    private func evaluated(_ expression: FetchExpression) throws(StrataError) -> AttributeValue {
        let operand = try PredicateEvaluator(NoObjects(), object: .one(.null)).value(of: expression)
        return operand.members.first ?? .null
    }
}

/// A running sum: an integer while it fits, a decimal if there are decimals, otherwise a double.
struct RunningSum: Sendable {
    private enum Total: Sendable {
        case whole(Int64)
        case decimal(Decimal)
        case double(Double)
    }

    private var sum: Total
    private(set) var count: Int64 = 0

    init(isOfDecimals: Bool = false) { sum = isOfDecimals ? .decimal(0) : .whole(0) }

    mutating func add(_ value: AttributeValue) throws(StrataError) {
        switch value {
        case .integer(let value): return add(whole: value)
        case .boolean(let value): return add(whole: value ? 1 : 0)
        case .double(let value): return add(double: value)
        default: count += 1
        }
        switch value {
        case .float(let value): sum = .double(double + (Double(value.description) ?? Double(value)))
        case .decimal(let value):
            switch sum {
            case .whole(let total): sum = .decimal(Decimal(total) + value)
            case .decimal(let total): sum = .decimal(total + value)
            case .double(let total): sum = .double(total + (Double(value.description) ?? .nan))
            }
        default: throw StrataError(.wrongType, "Only numbers have a sum, not \(value.kindName).")
        }
    }

    private mutating func add(double value: Double) {
        count += 1
        sum = .double(double + value)
    }

    private mutating func add(whole value: Int64) {
        count += 1
        switch sum {
        case .whole(let total):
            let (next, overflows) = total.addingReportingOverflow(value)
            sum = overflows ? .double(Double(total) + Double(value)) : .whole(next)
        case .decimal(let total): sum = .decimal(total + Decimal(value))
        case .double(let total): sum = .double(total + Double(value))
        }
    }

    private var double: Double {
        switch sum {
        case .whole(let total): Double(total)
        case .decimal(let total): Double(total.description) ?? .nan
        case .double(let total): total
        }
    }

    var total: AttributeValue {
        switch sum {
        case .whole(let total): .integer(total)
        // Beyond the range, or of a NaN, a sum is nil.
        case .decimal(let total): total.isNaN ? .null : .decimal(total)
        case .double(let total): total.isNaN ? .null : .double(total)
        }
    }
}

/// The context of expressions that use no object.
struct NoObjects: ExpressionContext {
    func operand(of key: String, in object: ObjectID) throws(StrataError) -> PredicateOperand {
        throw StrataError(.unknownKey, "Here is no object with a property named \(key).", context: .init(key: key))
    }
}
