import Foundation

/// A decimal number with any number of digits, which is rounded once to a `Decimal`.
///
/// A number that a Decimal can hold is exact. Others are rounded to 38 digits, and to a multiple of 10^-128, to the
/// nearest, halves to the even digit.
struct DecimalRounding {
    /// The first digit first, without zeros before it; none for zero.
    private var digits: [UInt8]
    /// The power of ten of the last digit.
    private var exponent: Int
    private let isNegative: Bool
    /// Whether digits that are not zero follow the last one.
    private var hasMore = false

    static let mostDigits = 38
    static let smallestExponent = -128

    /// 10^0 to 10^38.
    static let powers: [Int128] = (0..<38).reduce(into: [1]) { list, _ in list.append(list[list.count - 1] * 10) }

    init(digits: [UInt8], exponent: Int, isNegative: Bool) {
        self.digits = digits
        self.exponent = exponent
        self.isNegative = isNegative
    }

    /// The quotient, to some digits more than are kept.
    func divided(by divisor: UInt64) -> DecimalRounding {
        var result = self
        result.digits = []
        var remainder: UInt128 = 0
        var index = 0
        // The quotient has at most nineteen zeros in front.
        while index < digits.count || remainder != 0 && result.digits.count < Self.mostDigits + 2 {
            remainder = remainder * 10 + UInt128(index < digits.count ? digits[index] : 0)
            let digit = UInt8(remainder / UInt128(divisor))
            remainder %= UInt128(divisor)
            if digit != 0 || !result.digits.isEmpty { result.digits.append(digit) }
            index += 1
        }
        result.exponent = exponent - (index - digits.count)
        result.hasMore = hasMore || remainder != 0
        return result
    }

    /// The nearest Decimal; NaN if it is too large for one.
    func decimal() -> Decimal {
        var kept = digits
        var exponent = exponent
        if !hasMore {
            while kept.last == 0 {
                kept.removeLast()
                exponent += 1
            }
        }
        // Some numbers of 39 digits fit.
        if kept.count <= Self.mostDigits + 1, exponent >= Self.smallestExponent, !hasMore,
            let exact = Self.decimal(kept, exponent, isNegative)
        {
            return exact
        }
        let count = min(Self.mostDigits, kept.count + exponent - Self.smallestExponent)
        guard count >= 0 else { return 0 }
        let rest = kept.dropFirst(count)
        exponent += rest.count
        kept.removeLast(rest.count)
        let isHalf = rest.first == 5 && !hasMore && rest.dropFirst().allSatisfy { $0 == 0 }
        let isOdd = (kept.last ?? 0) % 2 == 1
        if let first = rest.first, isHalf ? isOdd : first >= 5 { Self.increment(&kept) }
        return Self.decimal(kept, exponent, isNegative) ?? .nan
    }

    private static func increment(_ digits: inout [UInt8]) {
        for index in digits.indices.reversed() {
            if digits[index] < 9 { return digits[index] += 1 }
            digits[index] = 0
        }
        digits.insert(1, at: 0)
    }

    /// nil if no Decimal is exactly this number.
    private static func decimal(_ digits: [UInt8], _ exponent: Int, _ isNegative: Bool) -> Decimal? {
        var mantissa: UInt128 = 0
        for digit in digits {
            let (product, overflows) = mantissa.multipliedReportingOverflow(by: 10)
            let (sum, overflowsAgain) = product.addingReportingOverflow(UInt128(digit))
            if overflows || overflowsAgain { return nil }
            mantissa = sum
        }
        let parts = DecimalParts(normalizing: mantissa, exponent: exponent, isNegative: isNegative)
        do throws(CorruptRecord) { return try parts.decimal(at: 0) } catch { return nil }
    }
}
