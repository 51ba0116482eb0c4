import Foundation

// Foundation's product ends the process where its exponent falls below -128, and its quotient is wrong after a few digits
// where the divisor has many. So the product of the mantissas is computed apart from the exponents, and the quotient by
// long division.

extension Decimal {
    private static let exponents = -128...127
    /// The most digits of a mantissa, which has at most 38 and a part.
    private static let mostDigits = 39

    /// The product: rounded to what `Decimal` holds, 0 below that, NaN above it.
    func multiplied(by other: Decimal) -> Decimal {
        if isNaN || other.isNaN { return .nan }
        return Self.number(significand * other.significand, exponent + other.exponent, isNegative != other.isNegative)
    }

    /// The quotient: rounded to what `Decimal` holds, 0 below that, NaN above it and for a division by 0.
    ///
    /// - Complexity: a division of whole numbers for each of at most 38 digits.
    func divided(by other: Decimal) -> Decimal {
        if isNaN || other.isNaN || other.isZero { return .nan }
        let (dividend, divisor) = (DecimalParts(self), DecimalParts(other))
        var exponent = Int(dividend.exponent) - Int(divisor.exponent)
        var (quotient, rest) = dividend.mantissa.quotientAndRemainder(dividingBy: divisor.mantissa)
        while rest != 0, quotient < Self.longest, exponent > Self.exponents.lowerBound {
            let (digit, next) = divisor.mantissa.dividingFullWidth(rest.multipliedFullWidth(by: 10))
            (quotient, rest, exponent) = (quotient * 10 + digit, next, exponent - 1)
        }
        var isRoundedUp = rest >= divisor.mantissa - rest
        while exponent < Self.exponents.lowerBound {
            isRoundedUp = quotient % 10 >= 5
            (quotient, exponent) = (quotient / 10, exponent + 1)
        }
        let parts = DecimalParts(
            normalizing: quotient + (isRoundedUp ? 1 : 0), exponent: exponent,
            isNegative: isNegative != other.isNegative)
        do { return try parts.decimal(at: 0) } catch { return .nan }
    }

    /// Ten times as much is still a mantissa.
    private static let longest = UInt128(10_000_000_000_000_000_000) * 1_000_000_000_000_000_000

    private var isNegative: Bool { sign == .minus }

    /// A number with another exponent beside that of its magnitude.
    private static func number(_ magnitude: Decimal, _ exponent: Int, _ isNegative: Bool) -> Decimal {
        if magnitude.isNaN || magnitude.isZero { return magnitude }
        var (source, rounded) = (magnitude, magnitude)
        let surplus = exponents.lowerBound - (magnitude.exponent + exponent)
        if surplus > 0 {
            if surplus >= mostDigits { return 0 }
            NSDecimalRound(&rounded, &source, -(magnitude.exponent + surplus), .plain)
            if rounded.isZero { return 0 }
        }
        var mantissa = rounded.significand
        var sum = rounded.exponent + exponent
        // Zeros at the end instead of a greater exponent.
        while sum > exponents.upperBound {
            let longer = mantissa * 10
            guard longer.exponent == 0 else { return .nan }
            mantissa = longer
            sum -= 1
        }
        return Decimal(sign: isNegative ? .minus : .plus, exponent: sum, significand: mantissa)
    }
}
