package import Foundation

/// The exact sum of decimals, whatever their order: for each power of ten the sum of the mantissas that belong to it.
package struct DecimalSum: Sendable, Hashable {
    /// A signed integer of 192 bits: 2^63 mantissas of 128 bits fit.
    struct Wide: Sendable, Hashable {
        var low: UInt128 = 0
        var high: Int64 = 0

        mutating func add(_ other: Wide) {
            let (sum, overflows) = low.addingReportingOverflow(other.low)
            low = sum
            high &+= other.high &+ (overflows ? 1 : 0)
        }

        var negated: Wide {
            let low = ~self.low &+ 1
            return Wide(low: low, high: ~high &+ (low == 0 ? 1 : 0))
        }

        var isZero: Bool { low == 0 && high == 0 }
    }

    private var sums: [(exponent: Int16, sum: Wide)] = []
    private var notNumbers: Int64 = 0

    package init() {}

    package static func == (left: DecimalSum, right: DecimalSum) -> Bool {
        left.notNumbers == right.notNumbers && left.sums.elementsEqual(right.sums) { $0 == $1 }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(notNumbers)
        for (exponent, sum) in sums {
            hasher.combine(exponent)
            hasher.combine(sum)
        }
    }

    /// Adds a number, or takes it away.
    package mutating func add(_ value: DecimalParts, _ sign: Int64) {
        if value.isNaN { return notNumbers += sign }
        guard value.mantissa != 0 else { return }
        let wide = Wide(low: value.mantissa, high: 0)
        add(value.isNegative == (sign < 0) ? wide : wide.negated, value.exponent)
    }

    package mutating func add(_ other: DecimalSum) {
        notNumbers += other.notNumbers
        for (exponent, sum) in other.sums { add(sum, exponent) }
    }

    private mutating func add(_ value: Wide, _ exponent: Int16) {
        let index = sums.partitionPoint { $0.exponent < exponent }
        guard index < sums.count, sums[index].exponent == exponent else {
            return sums.insert((exponent, value), at: index)
        }
        sums[index].sum.add(value)
        if sums[index].sum.isZero { sums.remove(at: index) }
    }

    /// The sum, rounded once as `DecimalRounding` does; NaN if there is a NaN, or if the sum is too large for a Decimal.
    package func total() -> Decimal {
        if notNumbers != 0 { return .nan }
        return inOneWord() ?? digits().decimal()
    }

    /// The exact sum divided by a number, rounded once; NaN as for the sum.
    package func mean(of count: Int64) -> Decimal {
        notNumbers != 0 || count <= 0 ? .nan : digits().divided(by: UInt64(count)).decimal()
    }

    /// The sum of numbers that are not large; nil for others.
    private func inOneWord() -> Decimal? {
        var total: Int128 = 0
        var last = sums.last?.exponent ?? 0
        for (exponent, sum) in sums.reversed() {
            let distance = Int(last - exponent)
            guard distance <= 38, sum.high == 0 && sum.low >> 127 == 0 || sum.high == -1 && sum.low >> 127 == 1 else {
                return nil
            }
            let (product, overflows) = total.multipliedReportingOverflow(by: DecimalRounding.powers[distance])
            let (next, overflowsAgain) = product.addingReportingOverflow(Int128(truncatingIfNeeded: sum.low))
            if overflows || overflowsAgain { return nil }
            (total, last) = (next, exponent)
        }
        let parts = DecimalParts(normalizing: total.magnitude, exponent: Int(last), isNegative: total < 0)
        do throws(CorruptRecord) { return try parts.decimal(at: 0) } catch { return nil }
    }

    /// The exact sum in decimal digits.
    private func digits() -> DecimalRounding {
        // The added and the subtracted parts, in units of the smallest power of ten.
        var (positive, negative) = (WideInteger(), WideInteger())
        var last = sums.last?.exponent ?? 0
        for (exponent, sum) in sums.reversed() {
            positive.multiply(byTenTo: Int(last - exponent))
            negative.multiply(byTenTo: Int(last - exponent))
            let isNegative = sum.high < 0
            let magnitude = isNegative ? sum.negated : sum
            let words = [
                UInt64(truncatingIfNeeded: magnitude.low), UInt64(truncatingIfNeeded: magnitude.low >> 64),
                UInt64(bitPattern: magnitude.high),
            ]
            if isNegative { negative.add(words) } else { positive.add(words) }
            last = exponent
        }
        let (difference, isNegative) = positive.difference(from: negative)
        return DecimalRounding(digits: difference.digits, exponent: Int(last), isNegative: isNegative)
    }

    // MARK: Bytes

    package func encode(into writer: inout ByteWriter) {
        writer.append(littleEndian: UInt16(truncatingIfNeeded: sums.count))
        for (exponent, sum) in sums {
            writer.append(littleEndian: exponent)
            writer.append(littleEndian: UInt64(truncatingIfNeeded: sum.low))
            writer.append(littleEndian: UInt64(truncatingIfNeeded: sum.low >> 64))
            writer.append(littleEndian: sum.high)
        }
        writer.append(littleEndian: notNumbers)
    }

    package init(_ reader: inout ByteReader) throws(CorruptRecord) {
        let count = try reader.readInteger(as: UInt16.self)
        for _ in 0..<count {
            let exponent = try reader.readInteger(as: Int16.self)
            let low = try reader.readInteger(as: UInt64.self)
            let middle = try reader.readInteger(as: UInt64.self)
            let high = try reader.readInteger(as: Int64.self)
            sums.append((exponent, Wide(low: UInt128(middle) << 64 | UInt128(low), high: high)))
        }
        notNumbers = try reader.readInteger()
    }
}
