#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Finds bytes in bytes, in time linear in both, whatever they are.
///
/// It begins with the C library's search for the first byte, which is the fastest for ordinary text. When its
/// comparisons have read more than eight times the text, it goes on by the two-way algorithm.
package enum ByteSearch {
    /// The first offset at which `part` occurs in `text`; nil if it does not.
    ///
    /// - Complexity: O(length of `text` + length of `part`)
    package static func offset(of part: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer) -> Int? {
        var comparisons = 0
        return offset(of: part, in: text, comparisons: &comparisons)
    }

    /// - Parameter comparisons: gets the number of bytes that were compared, at most, added.
    static func offset(
        of part: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer, comparisons: inout Int
    ) -> Int? {
        guard text.count >= part.count else { return nil }
        guard let base = text.baseAddress, let start = part.baseAddress, let first = part.first else { return 0 }
        let last = text.count - part.count
        let limit = comparisons + 8 * text.count
        var offset = 0
        while offset <= last, let found = memchr(base + offset, Int32(first), last - offset + 1) {
            offset = UnsafeRawPointer(found) - base
            comparisons += part.count
            if memcmp(found, start, part.count) == 0 { return offset }
            offset += 1
            if comparisons > limit {
                return TwoWaySearch(part, &comparisons).offset(in: text, from: offset, &comparisons)
            }
        }
        return nil
    }
}

/// The two-way algorithm (M. Crochemore, D. Perrin, Two-Way String-Matching, Journal of the ACM 38(3), 1991): it needs
/// at most twice as many comparisons as the text is long, and no memory.
private struct TwoWaySearch {
    private let part: UnsafeRawBufferPointer
    /// The length of the left half: the part is compared from here to its end, then the left half backwards.
    private let middle: Int
    /// The smallest period of the part if `isPeriodic`, otherwise a shift that is always allowed.
    private let period: Int
    private let isPeriodic: Bool

    init(_ part: UnsafeRawBufferPointer, _ comparisons: inout Int) {
        self.part = part
        let low = Self.maximalSuffix(of: part, isInverted: false, &comparisons)
        let high = Self.maximalSuffix(of: part, isInverted: true, &comparisons)
        let (middle, period) = low.start > high.start ? low : high
        self.middle = middle
        isPeriodic =
            period + middle <= part.count && part[..<middle].elementsEqual(part[period..<period + middle])
        self.period = isPeriodic ? period : max(middle, part.count - middle) + 1
        comparisons += middle
    }

    /// The start of the suffix that is last in the order of bytes, or last in the inverted order, and its period.
    private static func maximalSuffix(
        of part: UnsafeRawBufferPointer, isInverted: Bool, _ comparisons: inout Int
    ) -> (start: Int, period: Int) {
        var start = 0, candidate = 1, matched = 0, period = 1
        while candidate + matched < part.count {
            comparisons += 1
            let (new, old) = (part[candidate + matched], part[start + matched])
            if new == old {
                if matched + 1 == period {
                    candidate += period
                    matched = 0
                } else {
                    matched += 1
                }
            } else if (new < old) != isInverted {
                candidate += matched + 1
                matched = 0
                period = candidate - start
            } else {
                start = candidate
                candidate += 1
                (matched, period) = (0, 1)
            }
        }
        return (start, period)
    }

    func offset(in text: UnsafeRawBufferPointer, from start: Int, _ comparisons: inout Int) -> Int? {
        var offset = start
        // The length of the beginning that is known to match, after a shift by the period.
        var known = 0
        while offset <= text.count - part.count {
            var index = max(middle, known)
            while index < part.count, part[index] == text[offset + index] { index += 1 }
            comparisons += index - max(middle, known) + 1
            guard index == part.count else {
                offset += index - middle + 1
                known = 0
                continue
            }
            index = middle
            while index > known, part[index - 1] == text[offset + index - 1] { index -= 1 }
            comparisons += middle - index + 1
            if index <= known { return offset }
            offset += period
            known = isPeriodic ? part.count - period : 0
        }
        return nil
    }
}
