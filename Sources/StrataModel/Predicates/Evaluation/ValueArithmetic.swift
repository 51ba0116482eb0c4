import Foundation

// Whole numbers stay whole; quotients round toward zero, as in Core Data and SQL. A whole result that does not fit becomes a
// double; sums and averages are exact until the end (`ExactSum`). Decimals and whole numbers give decimals. All else is
// computed in doubles; a result that is not a number is nil. A date plus or minus a number of seconds is a date, and the difference of two dates is a
// number of seconds.

/// The arithmetic of predicates and aggregates.
package enum ValueArithmetic {
    /// A number, by the kind of arithmetic it takes part in.
    enum Number {
        case whole(Int64)
        case decimal(Decimal)
        case double(Double)
    }

    static func number(_ value: AttributeValue, for function: FetchFunction) throws(StrataError) -> Number {
        switch value {
        case .boolean(let value): .whole(value ? 1 : 0)
        case .integer(let value): .whole(value)
        case .decimal(let value): .decimal(value)
        case .float(let value): .double(ExactSum.double(value))
        case .double(let value): .double(value)
        default:
            throw StrataError(.wrongType, "\(function.rawValue) needs numbers, not \(value.kindName).")
        }
    }

    static func double(_ value: Decimal) -> Double { Double(value.description) ?? .nan }

    static func value(_ double: Double) -> AttributeValue { double.isNaN ? .null : .double(double) }

    static func value(_ decimal: Decimal) -> AttributeValue { decimal.isNaN ? .null : .decimal(decimal) }

    /// The result of an operator with two operands.
    static func apply(
        _ function: FetchFunction, _ left: AttributeValue, _ right: AttributeValue
    ) throws(StrataError) -> AttributeValue {
        if left.isNull || right.isNull { return .null }
        if let moment = dateResult(function, left, right) { return moment }
        switch (try number(left, for: function), try number(right, for: function)) {
        case (.whole(let left), .whole(let right)): return whole(function, left, right)
        case (.whole(let left), .decimal(let right)): return decimal(function, Decimal(left), right)
        case (.decimal(let left), .whole(let right)): return decimal(function, left, Decimal(right))
        case (.decimal(let left), .decimal(let right)): return decimal(function, left, right)
        case (let left, let right): return double(function, left.asDouble, right.asDouble)
        }
    }

    private static func dateResult(
        _ function: FetchFunction, _ left: AttributeValue, _ right: AttributeValue
    ) -> AttributeValue? {
        switch (function, left, right) {
        case (.subtract, .date(let left), .date(let right)): return .double(left.timeIntervalSince(right))
        case (.add, .date(let date), let seconds), (.add, let seconds, .date(let date)):
            guard case .double(let seconds)? = seconds.coerced(to: .double) else { return nil }
            return .date(date.addingTimeInterval(seconds))
        case (.subtract, .date(let date), let seconds):
            guard case .double(let seconds)? = seconds.coerced(to: .double) else { return nil }
            return .date(date.addingTimeInterval(-seconds))
        default: return nil
        }
    }

    private static func whole(_ function: FetchFunction, _ left: Int64, _ right: Int64) -> AttributeValue {
        let result: (partialValue: Int64, overflow: Bool)
        switch function {
        case .add: result = left.addingReportingOverflow(right)
        case .subtract: result = left.subtractingReportingOverflow(right)
        case .multiply: result = left.multipliedReportingOverflow(by: right)
        case .power: return power(left, right)
        case .modulus:
            if right == 0 { return .null }
            return .integer(right == -1 ? 0 : left % right)
        case .divide:
            if right == 0 { return .null }
            result = left.dividedReportingOverflow(by: right)
        default: return .null
        }
        return result.overflow
            ? double(function, Double(left), Double(right)) : .integer(result.partialValue)
    }

    /// Multiplies by squaring; a result that does not fit becomes a double.
    private static func power(_ base: Int64, _ exponent: Int64) -> AttributeValue {
        guard exponent >= 0 else { return double(.power, Double(base), Double(exponent)) }
        var result: Int64 = 1, square = base, rest = exponent
        while rest > 0 {
            if rest & 1 == 1 {
                let product = result.multipliedReportingOverflow(by: square)
                if product.overflow { return double(.power, Double(base), Double(exponent)) }
                result = product.partialValue
            }
            rest >>= 1
            if rest == 0 { break }
            let next = square.multipliedReportingOverflow(by: square)
            if next.overflow { return double(.power, Double(base), Double(exponent)) }
            square = next.partialValue
        }
        return .integer(result)
    }

    private static func decimal(_ function: FetchFunction, _ left: Decimal, _ right: Decimal) -> AttributeValue {
        switch function {
        case .add: return value(left + right)
        case .subtract: return value(left - right)
        case .multiply: return value(left.multiplied(by: right))
        case .divide: return value(left.divided(by: right))
        default: return double(function, double(left), double(right))
        }
    }

    private static func double(_ function: FetchFunction, _ left: Double, _ right: Double) -> AttributeValue {
        switch function {
        case .add: value(left + right)
        case .subtract: value(left - right)
        case .multiply: value(left * right)
        case .divide: right == 0 ? .null : value(left / right)
        case .modulus: right == 0 ? .null : value(left.truncatingRemainder(dividingBy: right))
        case .power: value(pow(left, right))
        default: .null
        }
    }

    // MARK: Lists

    static func sum(_ values: [AttributeValue]) throws(StrataError) -> ExactSum {
        var sum = ExactSum()
        for value in values { try sum.add(value) }
        return sum
    }

    /// The smallest value (`ascending`) or the largest (`descending`).
    static func extreme(_ values: [AttributeValue], _ wanted: ValueOrder) -> AttributeValue {
        var best = AttributeValue.null
        for value in values where !value.isNull {
            if best.isNull || value.order(to: best) == wanted { best = value }
        }
        return best
    }

    static func median(_ values: [AttributeValue]) throws(StrataError) -> AttributeValue {
        var numbers: [AttributeValue] = []
        for value in values where !value.isNull {
            _ = try number(value, for: .median)
            numbers.append(value)
        }
        numbers.sort { $0.order(to: $1) == .ascending }
        guard !numbers.isEmpty else { return .null }
        let middle = numbers.count / 2
        return numbers.count % 2 == 1 ? numbers[middle] : try sum([numbers[middle - 1], numbers[middle]]).mean
    }

    /// The values that occur most often, in the order of their first occurrence.
    static func mode(_ values: [AttributeValue]) -> [AttributeValue] {
        var counts: [AttributeValue: Int] = [:]
        for value in values where !value.isNull { counts[value.memberKey, default: 0] += 1 }
        let most = counts.values.max()
        return values.distinct.filter { !$0.isNull && counts[$0.memberKey] == most }
    }

    static func standardDeviation(_ values: [AttributeValue]) throws(StrataError) -> AttributeValue {
        var numbers: [Double] = []
        for value in values where !value.isNull {
            numbers.append(try number(value, for: .standardDeviation).asDouble)
        }
        guard !numbers.isEmpty else { return .null }
        let mean = numbers.reduce(0, +) / Double(numbers.count)
        return value((numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(numbers.count)).squareRoot())
    }
}

extension ValueArithmetic.Number {
    var asDouble: Double {
        switch self {
        case .whole(let value): Double(value)
        case .decimal(let value): ValueArithmetic.double(value)
        case .double(let value): value
        }
    }
}
