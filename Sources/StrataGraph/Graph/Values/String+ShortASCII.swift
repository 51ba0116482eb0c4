// Makes short strings straight from the bytes of a row.

extension String {
    /// A string of at most 15 bytes of ASCII, made of its bytes without a call; nil for any other text.
    ///
    /// A Swift String of up to 15 bytes of ASCII is its bytes, in order, with 0xE0 plus their count in the last of 16
    /// (`StringObject.swift` of the standard library, "Small strings"). Where a String is something else, as on 32-bit
    /// systems and on Android, `_shortFormIsKnown` is false, and the compiler leaves nothing of this.
    @inlinable @inline(__always)
    init?(_shortASCII bytes: UnsafeRawBufferPointer) {
        let count = bytes.count
        guard Self._shortFormIsKnown, count <= 15, let start = bytes.baseAddress else { return nil }
        var low: UInt64 = 0
        var high: UInt64 = 0
        if count >= 8 {
            low = start.loadUnaligned(as: UInt64.self)
            // The last eight bytes, without those that `low` has.
            let last = start.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
            high = count == 8 ? 0 : last &>> UInt64(truncatingIfNeeded: 8 &* (16 &- count))
        } else if count >= 4 {
            let last = UInt64(start.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
            low = UInt64(start.loadUnaligned(as: UInt32.self)) | last &<< UInt64(truncatingIfNeeded: 8 &* (count &- 4))
        } else {
            for offset in 0..<count {
                let byte = UInt64(start.load(fromByteOffset: offset, as: UInt8.self))
                low |= byte &<< UInt64(truncatingIfNeeded: 8 &* offset)
            }
        }
        guard (low | high) & 0x8080_8080_8080_8080 == 0 else { return nil }
        high |= (0xE0 | UInt64(truncatingIfNeeded: count)) &<< 56
        self = unsafeBitCast((low, high), to: String.self)
    }

    /// Whether a short String has the form that `init(_shortASCII:)` makes; known when the program is compiled.
    @inlinable @inline(__always)
    static var _shortFormIsKnown: Bool {
        guard MemoryLayout<String>.size == 16 else { return false }
        let sample = unsafeBitCast("abcdefghi", to: (UInt64, UInt64).self)
        return sample == (0x6867_6665_6463_6261, 0xE900_0000_0000_0069)
    }
}
