package import Foundation

/// The sum of numbers of any type, which depends neither on their order nor on how they are grouped.
///
/// It is exact until it is asked for, and rounded then:
///
/// - Whole numbers give a whole number; one beyond 64 bits is a decimal.
/// - Decimals, and decimals with whole numbers, give a decimal, rounded as `DecimalRounding` does.
/// - With a Double or Float among them, all give the nearest Double. A Float counts as the shortest decimal that is
///   nearest to it: 0.1, not 0.100000001490116.
///
/// Declared views keep the same sums. Nil is skipped; a sum of NaN, or of both infinities, is nil.
package struct ExactSum: Sendable {
    /// The number of values.
    package private(set) var count: Int64 = 0
    private var whole: Int128 = 0
    private var decimal: DecimalSum?
    private var double: RunningDouble?

    /// - Parameter type: the type of the values, which the sum of none has too; nil if it is not known.
    package init(of type: AttributeType? = nil) {
        switch type {
        case .decimal?: decimal = DecimalSum()
        case .double?, .float?: double = RunningDouble()
        default: break
        }
    }

    package mutating func add(_ value: AttributeValue) throws(StrataError) {
        switch value {
        case .null: return
        case .integer(let value): whole &+= Int128(value)
        case .boolean(let value): whole &+= value ? 1 : 0
        case .decimal(let value):
            if decimal == nil { decimal = DecimalSum() }
            decimal?.add(DecimalParts(value), 1)
        case .double(let value): add(value)
        case .float(let value): add(Self.double(value))
        default: throw StrataError(.wrongType, "Only numbers have a sum, not \(value.kindName).")
        }
        count += 1
    }

    private mutating func add(_ value: Double) {
        if double == nil { double = RunningDouble() }
        double?.add(value)
    }

    /// The number that a Float counts as.
    package static func double(_ value: Float) -> Double { Double(value.description) ?? Double(value) }

    package var total: AttributeValue {
        if let double { return Self.value(sum(double).rounded) }
        guard let decimal else { return Self.value(whole) }
        return Self.value(sum(decimal).total())
    }

    /// The sum divided by the number of values: a decimal of decimals, otherwise a Double. Nil for none.
    package var mean: AttributeValue {
        if let double { return Self.mean(sum(double).rounded, of: count) }
        guard let decimal else { return Self.mean(whole, of: count) }
        return Self.value(sum(decimal).mean(of: count))
    }

    private func sum(_ decimals: DecimalSum) -> DecimalSum {
        var sum = decimals
        sum.add(DecimalParts(normalizing: whole.magnitude, exponent: 0, isNegative: whole < 0), 1)
        return sum
    }

    private func sum(_ doubles: RunningDouble) -> RunningDouble {
        var sum = doubles
        if whole != 0 {
            for shift in [0, 32, 64, 96] {
                let part = Double(UInt32(truncatingIfNeeded: whole.magnitude >> shift)) * scalbn(1, shift)
                sum.add(whole < 0 ? -part : part)
            }
        }
        if let decimal { sum.add(Double(decimal.total().description) ?? .nan) }
        return sum
    }

    // MARK: Rounding

    package static func value(_ whole: Int128) -> AttributeValue {
        if let small = Int64(exactly: whole) { return .integer(small) }
        var sum = DecimalSum()
        sum.add(DecimalParts(normalizing: whole.magnitude, exponent: 0, isNegative: whole < 0), 1)
        return value(sum.total())
    }

    package static func value(_ decimal: Decimal) -> AttributeValue { decimal.isNaN ? .null : .decimal(decimal) }

    package static func value(_ double: Double) -> AttributeValue { double.isNaN ? .null : .double(double) }

    package static func mean(_ whole: Int128, of count: Int64) -> AttributeValue {
        if count == 0 { return .null }
        let (quotient, remainder) = whole.quotientAndRemainder(dividingBy: Int128(count))
        return .double(remainder == 0 ? Double(quotient) : Double(whole) / Double(count))
    }

    package static func mean(_ double: Double, of count: Int64) -> AttributeValue {
        count == 0 ? .null : value(double / Double(count))
    }
}

/// The exact sum of Doubles while they are added: mostly two Doubles, the rounded sum and its error (D. Knuth, TwoSum).
/// A sum that these cannot hold goes to a `DoubleSum`.
package struct RunningDouble: Sendable {
    /// The sum, rounded.
    package var first: Double = 0
    private var second: Double = 0
    private var rest: DoubleSum?

    package init() {}

    @inline(__always)
    package mutating func add(_ value: Double) {
        let sum = first + value
        guard sum.isFinite else { return addToRest(value) }
        let part = sum - first
        let lack = (first - (sum - part)) + (value - part)
        let both = second + lack
        let other = both - second
        let lost = (second - (both - other)) + (lack - other)
        first = sum
        second = both
        if lost != 0 { addToRest(lost) }
    }

    private mutating func addToRest(_ value: Double) {
        if rest == nil { rest = DoubleSum() }
        rest?.add(value, 1)
    }

    /// The sum, rounded once to the nearest Double, ties to even.
    package var rounded: Double {
        guard var sum = rest else { return first + second }
        sum.add(first, 1)
        sum.add(second, 1)
        return sum.rounded
    }
}
