// An ordered key, as index views hold it between the index id and the object id. Format 1. Comparing the bytes of keys
// compares the values element by element; no key is a prefix of another, unless it was cut.
//
// For each element, every byte complemented if the element is descending:
//
//   nil       00                                                     before every value when ascending
//   integer   01, Int64 big-endian with the sign bit inverted        Bool (0, 1) and integers of every width
//   double    01, IEEE bits big-endian; negative ones complemented,  Float and Double; -0.0 is 0.0; every NaN is
//             others with the sign bit inverted                      7FF8000000000000 and so above +infinity
//   date      as double, seconds since 2001-01-01 00:00 UTC
//   decimal   01, class: 1 negative, 2 zero, 3 positive, 4 NaN;      the number is 0.DIGITS times ten to the scale;
//             unless zero or NaN: UInt16 big-endian scale + 0x8000,  a pair p is the byte p + 1, an odd last digit has a
//             digits in pairs, 00; all but the class complemented    0 after it; digits have no zeros at either end
//             if negative
//   text      01, folded UTF-8 (TextFolding.swift) with 00 written   at least NFC; the order is that of scalars
//             as 00 FF, then 00 01
//   uuid      01, 16 bytes
//   data      01, bytes with 00 written as 00 FF, then 00 01
//   objectID  01, UInt64 big-endian
//   encrypted 01, the 16 bytes of the blind (EncryptedValue.swift)
//
// Keys longer than 499 bytes (511, what LMDB takes, less 4 for the index id and 8 for the object id) are cut there.

import Foundation

/// Appends single elements of keys, ascending, in the format at the head of this file.
enum KeyEncoding {
    static let null: UInt8 = 0
    static let present: UInt8 = 1
    static let terminator: (UInt8, UInt8) = (0, 1)
    static let escape: UInt8 = 0xFF
    static let canonicalNaN: UInt64 = 0x7FF8_0000_0000_0000
    static let signBit: UInt64 = 0x8000_0000_0000_0000

    @inline(__always)
    static func append(_ value: Int64, to writer: inout ByteWriter) {
        writer.append(present)
        writer.append(bigEndian: UInt64(bitPattern: value) ^ signBit)
    }

    @inline(__always)
    static func append(_ value: Double, to writer: inout ByteWriter) {
        writer.append(present)
        writer.append(bigEndian: orderedBits(value))
    }

    @inline(__always)
    static func orderedBits(_ value: Double) -> UInt64 {
        let bits = value.isNaN ? canonicalNaN : value == 0 ? 0 : value.bitPattern
        return bits & signBit != 0 ? ~bits : bits | signBit
    }

    @inline(__always)
    static func append(_ value: ObjectID, to writer: inout ByteWriter) {
        writer.append(present)
        writer.append(bigEndian: value.rawValue)
    }

    static func append(_ value: UUID, to writer: inout ByteWriter) {
        writer.append(present)
        writer.append(bytesOf: value.uuid)
    }

    static func append(_ value: DecimalParts, to writer: inout ByteWriter) {
        writer.append(present)
        if value.isNaN { return writer.append(UInt8(4)) }
        if value.mantissa == 0 { return writer.append(UInt8(2)) }
        writer.append(value.isNegative ? UInt8(1) : 3)
        let start = writer.count
        writer.append(bigEndian: UInt16(0))
        let digits = appendDigits(of: value.mantissa, to: &writer)
        writer.append(UInt8(0))
        let scale = UInt16(truncatingIfNeeded: digits + Int(value.exponent) + 0x8000)
        writer.overwrite(bigEndian: scale, at: start)
        if value.isNegative { writer.complement(from: start) }
    }

    /// Appends the digits in pairs, most significant first; returns the number of digits.
    private static func appendDigits(of mantissa: UInt128, to writer: inout ByteWriter) -> Int {
        var digits: (UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0)  // 39 digits and one to spare
        return withUnsafeMutableBytes(of: &digits) { digits in
            var count = 0
            var rest = mantissa
            while rest > UInt128(UInt64.max) {
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                digits[count] = UInt8(digit)
                (rest, count) = (quotient, count + 1)
            }
            var low = UInt64(truncatingIfNeeded: rest)
            while low > 0 {
                digits[count] = UInt8(low % 10)
                (low, count) = (low / 10, count + 1)
            }
            for index in stride(from: count - 1, through: 0, by: -2) {
                writer.append(digits[index] * 10 + (index > 0 ? digits[index - 1] : 0) + 1)
            }
            return count
        }
    }

    /// Appends text without the end mark, at least `limit` bytes of it.
    static func appendUnterminated(
        text: UnsafeRawBufferPointer, _ folding: StringFolding, limit: Int, to writer: inout ByteWriter
    ) {
        writer.append(present)
        let start = writer.count
        TextFolding.fold(text.assumingMemoryBound(to: UInt8.self), folding, into: &writer, limit: limit)
        escapeZeros(from: start, in: &writer)
    }

    /// Appends data without the end mark, at least `limit` bytes of it.
    static func appendUnterminated(
        data: UnsafeRawBufferPointer, limit: Int, to writer: inout ByteWriter
    ) {
        writer.append(present)
        let start = writer.count
        writer.append(UnsafeRawBufferPointer(rebasing: data.prefix(limit)))
        escapeZeros(from: start, in: &writer)
    }

    static func appendTerminator(to writer: inout ByteWriter) {
        writer.append(terminator.0)
        writer.append(terminator.1)
    }

    private static func escapeZeros(from start: Int, in writer: inout ByteWriter) {
        let written = UnsafeRawBufferPointer(rebasing: writer.bytes[start...])
        guard let base = written.baseAddress, memchr(base, 0, written.count) != nil else { return }
        let plain = Array(written)
        writer.truncate(to: start)
        for byte in plain {
            writer.append(byte)
            if byte == 0 { writer.append(escape) }
        }
    }
}
