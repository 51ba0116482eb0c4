/// A whole number without a sign, as large as it needs to be.
struct WideInteger {
    /// Little-endian, without zeros at the end.
    private var words: [UInt64] = []

    mutating func add(_ other: [UInt64]) {
        var carry: UInt64 = 0
        for index in 0..<max(words.count, other.count) {
            if index == words.count { words.append(0) }
            let (first, overflows) = words[index].addingReportingOverflow(index < other.count ? other[index] : 0)
            let (second, overflowsAgain) = first.addingReportingOverflow(carry)
            words[index] = second
            carry = overflows || overflowsAgain ? 1 : 0
        }
        if carry != 0 { words.append(carry) }
        trim()
    }

    mutating func multiply(byTenTo power: Int) {
        for _ in 0..<power / 19 { multiply(by: 10_000_000_000_000_000_000) }
        multiply(by: (0..<power % 19).reduce(1) { product, _ in product * 10 })
    }

    private mutating func multiply(by factor: UInt64) {
        var carry: UInt64 = 0
        for index in words.indices {
            let (high, low) = words[index].multipliedFullWidth(by: factor)
            let (sum, overflows) = low.addingReportingOverflow(carry)
            words[index] = sum
            carry = high + (overflows ? 1 : 0)
        }
        if carry != 0 { words.append(carry) }
    }

    /// The distance between two numbers, and whether the other is the larger one.
    func difference(from other: WideInteger) -> (WideInteger, isNegative: Bool) {
        if isSmaller(than: other) { return (other.difference(from: self).0, true) }
        var result = self
        var borrow: UInt64 = 0
        for index in words.indices {
            let taken = index < other.words.count ? other.words[index] : 0
            let (first, overflows) = words[index].subtractingReportingOverflow(taken)
            let (second, overflowsAgain) = first.subtractingReportingOverflow(borrow)
            result.words[index] = second
            borrow = overflows || overflowsAgain ? 1 : 0
        }
        result.trim()
        return (result, false)
    }

    private func isSmaller(than other: WideInteger) -> Bool {
        if words.count != other.words.count { return words.count < other.words.count }
        for (own, others) in zip(words, other.words).reversed() where own != others { return own < others }
        return false
    }

    private mutating func trim() {
        while words.last == 0 { words.removeLast() }
    }

    /// The decimal digits, the first one first; none for zero.
    var digits: [UInt8] {
        var rest = self
        var reversed: [UInt8] = []
        while !rest.words.isEmpty {
            var remainder: UInt64 = 0
            for index in rest.words.indices.reversed() {
                (rest.words[index], remainder) = UInt64(10_000_000_000_000_000_000).dividingFullWidth(
                    (remainder, rest.words[index]))
            }
            rest.trim()
            for _ in 0..<19 {
                reversed.append(UInt8(remainder % 10))
                remainder /= 10
            }
        }
        return reversed.reversed().drop { $0 == 0 }.map { $0 }
    }
}
