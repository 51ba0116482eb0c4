import Foundation

/// The exact sum of floating-point numbers, which depends neither on their order nor on what was added and taken away
/// in between.
///
/// It is one large integer that counts units of 2^-1074, the least positive `Double`, so that every `Double` is a whole
/// number of units (U. Kulisch's long accumulator; R. Neal, "Fast exact summation using small and large
/// superaccumulators", 2015). Only the words between the lowest and the highest digit are kept. NaN and infinities are
/// counted beside it.
package struct DoubleSum: Sendable, Hashable {
    /// The number of the word in `words[0]`; word 0 holds the units 2^-1074 to 2^-1011.
    private var lowest = 0
    /// Little-endian two's complement; the last word's sign goes on for ever.
    private var words = SumWords()
    private var notNumbers: Int64 = 0
    private var positiveInfinities: Int64 = 0
    private var negativeInfinities: Int64 = 0

    package init() {}

    /// Adds a number, or takes it away.
    package mutating func add(_ value: Double, _ sign: Int64) {
        if value.isNaN { return notNumbers += sign }
        if value.isInfinite {
            return value < 0 ? (negativeInfinities += sign) : (positiveInfinities += sign)
        }
        let bits = value.bitPattern
        let exponent = Int(bits >> 52 & 0x7FF)
        let fraction = bits & (1 << 52 - 1)
        let significand = exponent == 0 ? fraction : fraction | 1 << 52
        guard significand != 0 else { return }
        let shift = Swift.max(exponent - 1, 0)
        let (word, bit) = (shift >> 6, UInt64(shift & 63))
        let high = bit == 0 ? 0 : significand >> (64 - bit)
        add(significand << bit, high, at: word, isNegative: (value < 0) != (sign < 0))
    }

    /// Adds another sum.
    package mutating func add(_ other: DoubleSum) {
        notNumbers += other.notNumbers
        positiveInfinities += other.positiveInfinities
        negativeInfinities += other.negativeInfinities
        guard !other.words.isEmpty else { return }
        makeRoom(from: other.lowest, through: other.lowest + other.words.count)
        let fill: UInt64 = other.words.last >> 63 == 1 ? .max : 0
        var carry: UInt64 = 0
        for index in (other.lowest - lowest)..<words.count {
            let own = index - (other.lowest - lowest)
            Self.add(own < other.words.count ? other.words[own] : fill, to: &words[index], &carry)
        }
        trim()
    }

    private mutating func add(_ low: UInt64, _ high: UInt64, at word: Int, isNegative: Bool) {
        if !words.isEmpty, word >= lowest, words.add(low, high, at: word - lowest, isNegative: isNegative) { return }
        makeRoom(from: word, through: word + 2)
        let start = word - lowest
        // Subtracting is adding the complement and one.
        let mask: UInt64 = isNegative ? .max : 0
        var carry: UInt64 = isNegative ? 1 : 0
        Self.add(low ^ mask, to: &words[start], &carry)
        Self.add(high ^ mask, to: &words[start + 1], &carry)
        for index in (start + 2)..<words.count { Self.add(mask, to: &words[index], &carry) }
        trim()
    }

    private static func add(_ value: UInt64, to word: inout UInt64, _ carry: inout UInt64) {
        let (first, overflows) = word.addingReportingOverflow(value)
        let (second, overflowsAgain) = first.addingReportingOverflow(carry)
        word = second
        carry = overflows || overflowsAgain ? 1 : 0
    }

    /// Extends the words so that a number with these words can be added without leaving them: the last word is one of
    /// the sign alone.
    private mutating func makeRoom(from first: Int, through last: Int) {
        if words.isEmpty {
            lowest = first
            words.append(0)
        }
        if first < lowest {
            words.insertZeros(lowest - first)
            lowest = first
        }
        let fill: UInt64 = words.last >> 63 == 1 ? .max : 0
        while lowest + words.count <= last || words.last != fill { words.append(fill) }
    }

    /// Removes words that say nothing, so that equal sums have equal words.
    private mutating func trim() {
        while !words.isEmpty {
            let last = words.last
            let sign: UInt64 = words.count > 1 ? words[words.count - 2] >> 63 : 0
            guard last == (sign == 1 ? .max : 0), words.count > 1 || last == 0 else { break }
            words.removeLast()
        }
        guard !words.isEmpty else { return lowest = 0 }
        var first = 0
        while words[first] == 0 { first += 1 }
        if first > 0 {
            words.removeFirst(first)
            lowest += first
        }
    }

    /// The sum, rounded once to the nearest `Double`, ties to even. NaN if there is a NaN, or both infinities.
    package var rounded: Double {
        if notNumbers != 0 || positiveInfinities != 0 && negativeInfinities != 0 { return .nan }
        if positiveInfinities != 0 { return .infinity }
        if negativeInfinities != 0 { return -.infinity }
        guard !words.isEmpty else { return 0 }
        let isNegative = words.last >> 63 == 1
        var magnitude = (0..<words.count).map { words[$0] }
        if isNegative {
            var carry: UInt64 = 1
            for index in magnitude.indices {
                magnitude[index] = ~magnitude[index]
                Self.add(0, to: &magnitude[index], &carry)
            }
        }
        guard let top = magnitude.lastIndex(where: { $0 != 0 }) else { return 0 }
        let highest = top * 64 + 63 - magnitude[top].leadingZeroBitCount
        /// At most 64 bits. Below the lowest word all are zero; then the highest is in that word.
        func bits(from first: Int, count: Int) -> UInt64 {
            if first < 0 { return magnitude[0] << UInt64(-first) }
            let (word, bit) = (first >> 6, UInt64(first & 63))
            var result = magnitude[word] >> bit
            if bit > 0, word + 1 < magnitude.count { result |= magnitude[word + 1] << (64 - bit) }
            return count < 64 ? result & (1 << UInt64(count) - 1) : result
        }
        // A number below 2^53 units is exact; the lowest unit of all is bit 0 of word 0.
        let first = Swift.max(highest - 52, -64 * lowest)
        var significand = bits(from: first, count: highest - first + 1)
        if first > 0 {
            let isHalf = bits(from: first - 1, count: 1) == 1
            let isMore = isHalf && Self.hasBit(below: first - 1, magnitude)
            if isHalf, isMore || significand & 1 == 1 { significand += 1 }
        }
        let exponent = first + 64 * lowest - 1074
        let value = scalbn(Double(significand), exponent)
        return isNegative ? -value : value
    }

    private static func hasBit(below end: Int, _ words: [UInt64]) -> Bool {
        for index in 0..<(end >> 6) where words[index] != 0 { return true }
        let rest = UInt64(end & 63)
        return rest > 0 && words[end >> 6] & (1 << rest - 1) != 0
    }

    // MARK: Bytes

    package func encode(into writer: inout ByteWriter) {
        writer.append(UInt8(truncatingIfNeeded: words.count))
        if !words.isEmpty { writer.append(UInt8(truncatingIfNeeded: lowest)) }
        for index in 0..<words.count { writer.append(littleEndian: words[index]) }
        guard notNumbers | positiveInfinities | negativeInfinities != 0 else { return writer.append(UInt8(0)) }
        writer.append(UInt8(1))
        writer.append(littleEndian: notNumbers)
        writer.append(littleEndian: positiveInfinities)
        writer.append(littleEndian: negativeInfinities)
    }

    package init(_ reader: inout ByteReader) throws(CorruptRecord) {
        let count = Int(try reader.readByte())
        if count > 0 { lowest = Int(try reader.readByte()) }
        guard count <= 40, lowest < 40 else { throw reader.corrupt("sum of numbers out of range") }
        for _ in 0..<count { words.append(try reader.readInteger()) }
        switch try reader.readByte() {
        case 0: break
        case 1:
            notNumbers = try reader.readInteger()
            positiveInfinities = try reader.readInteger()
            negativeInfinities = try reader.readInteger()
        default: throw reader.corrupt("sum of numbers with unknown flags")
        }
    }
}
