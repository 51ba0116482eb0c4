/// The words of a long integer, the lowest first. Four lie in place, which most sums never exceed.
struct SumWords: Sendable, Hashable {
    /// Zeros from `count` on.
    private var near = SIMD4<UInt64>()
    /// The words behind the first four.
    private var far: [UInt64] = []
    private(set) var count = 0

    private static let nearCount = 4

    var isEmpty: Bool { count == 0 }

    /// The highest word; only if there are words.
    var last: UInt64 { self[count - 1] }

    @inline(__always)
    subscript(_ index: Int) -> UInt64 {
        get { index < Self.nearCount ? near[index] : far[index - Self.nearCount] }
        set {
            if index < Self.nearCount { near[index] = newValue } else { far[index - Self.nearCount] = newValue }
        }
    }

    @inline(__always)
    mutating func append(_ word: UInt64) {
        if count < Self.nearCount { near[count] = word } else { far.append(word) }
        count += 1
    }

    @inline(__always)
    mutating func removeLast() {
        if count > Self.nearCount { far.removeLast() } else { near[count - 1] = 0 }
        count -= 1
    }

    /// Adds two words from an index on, or takes them away, if the sum needs no other words than the four in place, and
    /// has digits in the lowest one. There must be words.
    ///
    /// - Parameter high: below 2^63.
    /// - Returns: false if nothing was changed.
    mutating func add(_ low: UInt64, _ high: UInt64, at index: Int, isNegative: Bool) -> Bool {
        guard count <= Self.nearCount, index < Self.nearCount - 1 else { return false }
        let fill: UInt64 = near[count - 1] >> 63 == 1 ? .max : 0
        var sum = near
        for rest in count..<Self.nearCount { sum[rest] = fill }
        // Subtracting is adding the complement and one.
        let mask: UInt64 = isNegative ? .max : 0
        var carry: UInt64 = isNegative ? 1 : 0
        for place in index..<Self.nearCount {
            let word = (place == index ? low : place == index + 1 ? high : 0) ^ mask
            let (first, overflows) = sum[place].addingReportingOverflow(word)
            let (second, overflowsAgain) = first.addingReportingOverflow(carry)
            sum[place] = second
            carry = overflows || overflowsAgain ? 1 : 0
        }
        let sign: UInt64 = sum[Self.nearCount - 1] >> 63 == 1 ? .max : 0
        guard sum[0] != 0, fill != mask || sign == fill else { return false }
        var size = Self.nearCount
        // A word of the sign alone says nothing.
        while size > 1, sum[size - 1] == sign, (sum[size - 2] >> 63 == 1) == (sign == .max) {
            size -= 1
            sum[size] = 0
        }
        (near, count) = (sum, size)
        return true
    }

    /// Puts zeros below the lowest word.
    mutating func insertZeros(_ number: Int) {
        let before = count
        for _ in 0..<number { append(0) }
        for index in stride(from: before - 1, through: 0, by: -1) { self[index + number] = self[index] }
        for index in 0..<number { self[index] = 0 }
    }

    /// Removes the lowest words.
    mutating func removeFirst(_ number: Int) {
        for index in number..<count { self[index - number] = self[index] }
        for _ in 0..<number { removeLast() }
    }
}
