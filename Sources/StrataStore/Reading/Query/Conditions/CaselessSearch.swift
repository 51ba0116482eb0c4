/// Searches ASCII text in ASCII text ignoring case, eight bytes at a time, without folding or copying.
struct CaselessSearch: Sendable {
    private static let lows: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    /// In lower case.
    private let part: [UInt8]
    /// The bit of each byte of `part` that differs between upper and lower case, or 0 if it is no letter.
    private let masks: [UInt8]
    /// The first byte of `part` and its second (or first again), repeated eight times, with their masks.
    private let first: (bytes: UInt64, mask: UInt64)
    private let second: (bytes: UInt64, mask: UInt64)
    /// The number of bytes that are read to test eight offsets.
    private let reach: Int

    /// - Parameter part: text as `[c]` folds it.
    /// - Returns: nil if it is empty or has characters beyond ASCII.
    init?(_ part: [UInt8]) {
        guard let last = part.last, part.allSatisfy({ $0 < 0x80 }) else { return nil }
        self.part = part
        masks = part.map { $0 &- 0x61 < 26 ? 0x20 : 0 }
        let next = part.count > 1 ? part[1] : last
        first = (UInt64(part[0]) &* Self.lows, UInt64(masks[0]) &* Self.lows)
        second = (UInt64(next) &* Self.lows, UInt64(masks[part.count > 1 ? 1 : 0]) &* Self.lows)
        reach = part.count > 1 ? 9 : 8
    }

    /// - Parameter text: ASCII.
    /// - Returns: nil if so much of the text nearly matches that a search in linear time is better.
    func isFound(in text: UnsafeRawBufferPointer) -> Bool? {
        guard let base = text.baseAddress, text.count >= part.count else { return false }
        let last = text.count - part.count
        var place = 0
        // The bytes that may yet be compared, as in `ByteSearch`.
        var left = 8 * text.count
        if text.count < reach {
            while place <= last {
                if isFound(at: place, base) { return true }
                place += 1
            }
            return false
        }
        while place <= last {
            // The last words overlap those before.
            let start = min(place, text.count - reach)
            var places = candidates(base + start) & ~0 << UInt64((place - start) * 8)
            while places != 0 {
                let candidate = start + places.trailingZeroBitCount / 8
                if candidate <= last {
                    if isFound(at: candidate, base) { return true }
                    left -= part.count
                }
                places &= places - 1
            }
            if left < 0 { return nil }
            place = start + 8
        }
        return false
    }

    /// Has the highest bit of each byte set at whose offset the first two bytes of `part` match.
    @inline(__always)
    private func candidates(_ start: UnsafeRawPointer) -> UInt64 {
        let one = UInt64(littleEndian: start.loadUnaligned(as: UInt64.self))
        let two = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: reach - 8, as: UInt64.self))
        let difference = ((one | first.mask) ^ first.bytes) | ((two | second.mask) ^ second.bytes)
        // No byte exceeds 0x7F, so none carries into the next.
        return ~(difference &+ ~Self.highs) & Self.highs
    }

    @inline(__always)
    private func isFound(at place: Int, _ base: UnsafeRawPointer) -> Bool {
        for index in part.indices
        where base.load(fromByteOffset: place &+ index, as: UInt8.self) | masks[index] != part[index] {
            return false
        }
        return true
    }
}
