/// One scalar decoded from UTF-8, and the number of its bytes.
struct DecodedScalar {
    let value: UInt32
    let length: Int

    /// Replaces bytes that are not UTF-8.
    static let replacement: UInt32 = 0xFFFD

    /// Decodes the scalar at `offset`, which must be inside `bytes`.
    ///
    /// Each maximal subpart of ill-formed bytes reads as U+FFFD, as in `String` (The Unicode Standard, section 3.9,
    /// table 3-7).
    init(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int) {
        let lead = bytes[offset]
        if lead < 0x80 {
            (value, length) = (UInt32(lead), 1)
            return
        }
        let (count, bits, second) = Self.shape(of: lead)
        var value = bits
        var length = 1
        while length < count {
            let allowed = length == 1 ? second : 0x80...0xBF
            guard offset + length < bytes.count, allowed.contains(bytes[offset + length]) else { break }
            value = value << 6 | UInt32(bytes[offset + length] & 0x3F)
            length += 1
        }
        self.value = length == count && count > 1 ? value : Self.replacement
        self.length = length
    }

    /// Returns, for the first byte of a scalar, the number of its bytes (1 if no scalar begins so), the bits in the
    /// first byte, and the range of the second.
    private static func shape(of lead: UInt8) -> (count: Int, bits: UInt32, second: ClosedRange<UInt8>) {
        switch lead {
        case 0xC2...0xDF: (2, UInt32(lead & 0x1F), 0x80...0xBF)
        case 0xE0: (3, 0, 0xA0...0xBF)
        case 0xED: (3, 0xD, 0x80...0x9F)
        case 0xE1...0xEF: (3, UInt32(lead & 0x0F), 0x80...0xBF)
        case 0xF0: (4, 0, 0x90...0xBF)
        case 0xF1...0xF3: (4, UInt32(lead & 0x07), 0x80...0xBF)
        case 0xF4: (4, 4, 0x80...0x8F)
        default: (1, 0, 0x80...0xBF)
        }
    }
}

extension ByteWriter {
    /// Appends a scalar in UTF-8.
    mutating func append(scalar: UInt32) {
        if scalar < 0x80 { return append(UInt8(truncatingIfNeeded: scalar)) }
        if scalar < 0x800 {
            append(0xC0 | UInt8(truncatingIfNeeded: scalar >> 6))
        } else {
            if scalar < 0x1_0000 {
                append(0xE0 | UInt8(truncatingIfNeeded: scalar >> 12))
            } else {
                append(0xF0 | UInt8(truncatingIfNeeded: scalar >> 18))
                append(0x80 | UInt8(truncatingIfNeeded: scalar >> 12) & 0x3F)
            }
            append(0x80 | UInt8(truncatingIfNeeded: scalar >> 6) & 0x3F)
        }
        append(0x80 | UInt8(truncatingIfNeeded: scalar) & 0x3F)
    }
}
