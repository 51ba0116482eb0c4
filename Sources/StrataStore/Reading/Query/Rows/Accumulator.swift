import Foundation
import StrataModel

/// Computes an aggregate of one group, value by value. It skips nil, and NaN is no extreme.
enum Accumulator: Sendable {
    case count(Int64)
    case sum(ExactSum, isAverage: Bool)
    case extreme(AttributeValue, wanted: ValueOrder)
    /// Computed from all values at the end.
    case list([AttributeValue], FetchFunction)

    /// - Parameter compared: the type of the values, which the sum of none has too; nil if it is not known.
    init(_ function: FetchFunction, _ compared: ComparedType?) {
        let type: AttributeType? =
            switch compared {
            case .decimal?: .decimal
            case .floatingPoint?: .double
            default: nil
            }
        switch function {
        case .count: self = .count(0)
        case .sum: self = .sum(ExactSum(of: type), isAverage: false)
        case .average: self = .sum(ExactSum(of: type), isAverage: true)
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
            self = .count(0)  // So that the sum has one owner while it grows.
            try sum.add(value)
            self = .sum(sum, isAverage: isAverage)
        case .extreme(let best, let wanted):
            guard value.order(to: value) != nil, best.isNull || value.order(to: best) == wanted else { return }
            self = .extreme(value, wanted: wanted)
        case .list(var values, let function):
            self = .count(0)
            values.append(value)
            self = .list(values, function)
        }
    }

    func result() throws(StrataError) -> AttributeValue {
        switch self {
        case .count(let count): return .integer(count)
        case .sum(let sum, isAverage: false): return sum.total
        case .sum(let sum, isAverage: true):
            return sum.mean
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

/// The context of expressions that use no object.
struct NoObjects: ExpressionContext {
    func operand(of key: String, in object: ObjectID) throws(StrataError) -> PredicateOperand {
        throw StrataError(.unknownKey, "No object here has a property named \(key).", context: .init(key: key))
    }
}
