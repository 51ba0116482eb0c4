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

    /// The sum. It is exact if it has at most 38 digits; NaN if there is a NaN.
    package func total() -> Decimal {
        if notNumbers != 0 { return .nan }
        var total = Decimal(0)
        for (exponent, sum) in sums {
            let isNegative = sum.high < 0
            let magnitude = isNegative ? sum.negated : sum
            var part = Self.decimal(magnitude.low, exponent)
            if magnitude.high > 0 {
                // 2^128 as a decimal has 39 digits, so this part is rounded.
                part +=
                    Self.decimal(UInt128(magnitude.high), exponent) * Self.decimal(UInt128(1) << 64, 0)
                    * Self.decimal(UInt128(1) << 64, 0)
            }
            total += isNegative ? -part : part
        }
        return total
    }

    private static func decimal(_ mantissa: UInt128, _ exponent: Int16) -> Decimal {
        let parts = DecimalParts(normalizing: mantissa, exponent: Int(exponent), isNegative: false)
        return (try? parts.decimal(at: 0)) ?? .nan
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
