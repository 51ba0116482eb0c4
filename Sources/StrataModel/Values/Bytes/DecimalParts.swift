package import Foundation

/// A `Decimal` as mantissa, exponent and sign, normalised so that equal numbers have equal bytes: the mantissa has no
/// trailing zeros, zero is all zero, and NaN is a negative zero.
///
/// Removing trailing zeros can raise the exponent above Decimal's maximum of 127, by up to 38.
package struct DecimalParts: Sendable, Hashable {
    package let mantissa: UInt128
    package let exponent: Int16
    package let isNegative: Bool

    /// Bytes in a row or record: {UInt64 low, UInt64 high mantissa, Int16 exponent, UInt8 sign, UInt8 0}.
    package static let size = 20
    package static let nan = DecimalParts(mantissa: 0, exponent: 0, isNegative: true)

    package var isNaN: Bool { mantissa == 0 && isNegative }

    private init(mantissa: UInt128, exponent: Int16, isNegative: Bool) {
        self.mantissa = mantissa
        self.exponent = exponent
        self.isNegative = isNegative
    }

    package init(_ value: Decimal) {
        if value.isNaN {
            self = .nan
            return
        }
        self.init(normalizing: Self.mantissa(of: value), exponent: value.exponent, isNegative: value.sign == .minus)
    }

    /// The number `mantissa` times ten to the `exponent`.
    ///
    /// - Parameter exponent: at most a few hundred in magnitude.
    package init(normalizing mantissa: UInt128, exponent: Int, isNegative: Bool) {
        guard mantissa != 0 else {
            self.init(mantissa: 0, exponent: 0, isNegative: false)
            return
        }
        var (mantissa, exponent) = (mantissa, exponent)
        while mantissa > UInt128(UInt64.max) {
            let (quotient, remainder) = mantissa.quotientAndRemainder(dividingBy: 10)
            guard remainder == 0 else { break }
            (mantissa, exponent) = (quotient, exponent + 1)
        }
        if var low = UInt64(exactly: mantissa) {
            while low % 10 == 0 { (low, exponent) = (low / 10, exponent + 1) }
            mantissa = UInt128(low)
        }
        self.init(mantissa: mantissa, exponent: Int16(exponent), isNegative: isNegative)
    }

    private static func mantissa(of value: Decimal) -> UInt128 {
        #if canImport(Darwin)
            let words = value._mantissa
            let all = [words.0, words.1, words.2, words.3, words.4, words.5, words.6, words.7]
            return all.prefix(Int(value._length)).reversed().reduce(0) { $0 << 16 | UInt128($1) }
        #else
            // Foundation on Linux hides the mantissa. As in the C struct it is the last 16 of the 20 bytes, in
            // little-endian words, the unused ones zero. A test compares this with Decimal's own text.
            return withUnsafeBytes(of: value) { bytes in
                UInt128(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt128.self))
            }
        #endif
    }
}

extension DecimalParts {
    /// Reads the twenty bytes at `offset`, which must be readable.
    ///
    /// - Throws: if they are not normalised.
    package init(_ base: UnsafeRawPointer, at offset: Int) throws(CorruptRecord) {
        let low: UInt64 = base.loadLittleEndian(at: offset)
        let high: UInt64 = base.loadLittleEndian(at: offset + 8)
        let mantissa = UInt128(high) << 64 | UInt128(low)
        let exponent: Int16 = base.loadLittleEndian(at: offset + 16)
        let sign: UInt16 = base.loadLittleEndian(at: offset + 18)
        let isNormal = mantissa == 0 ? exponent == 0 : !Self.endsInZero(mantissa)
        guard sign <= 1, isNormal else { throw CorruptRecord("decimal that is not normalised", at: offset) }
        self.init(mantissa: mantissa, exponent: exponent, isNegative: sign == 1)
    }

    private static func endsInZero(_ mantissa: UInt128) -> Bool {
        if let low = UInt64(exactly: mantissa) { return low % 10 == 0 }
        return mantissa % 10 == 0
    }

    /// Writes the twenty bytes at `offset`.
    package func store(to base: UnsafeMutableRawPointer, at offset: Int) {
        base.storeLittleEndian(UInt64(truncatingIfNeeded: mantissa), at: offset)
        base.storeLittleEndian(UInt64(truncatingIfNeeded: mantissa >> 64), at: offset + 8)
        base.storeLittleEndian(exponent, at: offset + 16)
        base.storeLittleEndian(UInt16(isNegative ? 1 : 0), at: offset + 18)
    }

    /// The number as a `Decimal`.
    ///
    /// - Parameter offset: the offset that an error names.
    /// - Throws: if `Decimal` cannot hold the number.
    package func decimal(at offset: Int) throws(CorruptRecord) -> Decimal {
        if isNaN { return .nan }
        guard mantissa != 0 else { return 0 }
        guard (-128...165).contains(exponent) else { throw CorruptRecord("decimal out of range", at: offset) }
        var value = Decimal(
            sign: isNegative ? .minus : .plus, exponent: min(127, Int(exponent)),
            significand: Self.significand(mantissa))
        // Foundation reaches 10e127 only by arithmetic, and multiplying by 10 (to it 1e1) does not get there.
        for _ in 127..<max(127, Int(exponent)) { value = value * 5 * 2 }
        // Foundation rounds numbers that it cannot hold.
        guard DecimalParts(value) == self else { throw CorruptRecord("decimal out of range", at: offset) }
        return value
    }

    private static func significand(_ mantissa: UInt128) -> Decimal {
        let low = Decimal(UInt64(truncatingIfNeeded: mantissa))
        let high = UInt64(truncatingIfNeeded: mantissa >> 64)
        return high == 0 ? low : Decimal(high) * (Decimal(UInt64.max) + 1) + low
    }
}
