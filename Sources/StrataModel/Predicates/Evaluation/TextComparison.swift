import Foundation

// The text operators of predicates: BEGINSWITH, ENDSWITH, CONTAINS, LIKE and MATCHES.

extension AttributeValue {
    /// A string in the form that is compared, at least normalised; any other value unchanged.
    func folded(_ folding: StringFolding) -> AttributeValue {
        guard case .string(let text) = self else { return self }
        return .string(TextFolding.fold(text, folding))
    }
}

extension ComparisonPredicate {
    /// Whether an operator holds between two texts.
    package static func textHolds(
        _ left: String, _ operator: Operator, _ right: String, _ folding: StringFolding
    ) throws(StrataError) -> Bool {
        if `operator` == .matches {
            // Folding diacritics does not change the syntax of a pattern; folding case would turn \D into \d.
            let marks = folding.subtracting(.caseInsensitive)
            let matcher = try PatternMatcher.cached(
                TextFolding.fold(right, marks), caseInsensitive: folding.contains(.caseInsensitive))
            return try matcher.matches(TextFolding.fold(left, marks))
        }
        let left = TextFolding.fold(left, folding), right = TextFolding.fold(right, folding)
        switch `operator` {
        case .beginsWith: return left.utf8.starts(with: right.utf8)
        case .endsWith: return left.utf8.reversed().starts(with: right.utf8.reversed())
        case .contains: return contains(Array(left.utf8), Array(right.utf8))
        case .like: return isLike(left, right)
        default: return false
        }
    }

    /// Finds whole scalars only, because the UTF-8 of one scalar never begins inside another's.
    private static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        guard let first = part.first else { return true }
        guard text.count >= part.count else { return false }
        for start in 0...(text.count - part.count) where text[start] == first {
            if text[start..<start + part.count].elementsEqual(part) { return true }
        }
        return false
    }

    /// Backtracks to the last star only, so it takes at most O(length of text x length of pattern).
    private static func isLike(_ text: String, _ pattern: String) -> Bool {
        let text = Array(text.unicodeScalars)
        let signs = wildcards(pattern)
        var index = 0, sign = 0
        var star: (sign: Int, index: Int)?
        while index < text.count {
            if sign < signs.count, signs[sign] == .many {
                star = (sign, index)
                sign += 1
            } else if sign < signs.count, signs[sign] == .one || signs[sign] == .scalar(text[index]) {
                index += 1
                sign += 1
            } else if let last = star {
                star = (last.sign, last.index + 1)
                (sign, index) = (last.sign + 1, last.index + 1)
            } else {
                return false
            }
        }
        return signs[sign...].allSatisfy { $0 == .many }
    }

    private enum Wildcard: Equatable {
        case one, many
        case scalar(Unicode.Scalar)
    }

    private static func wildcards(_ pattern: String) -> [Wildcard] {
        var signs: [Wildcard] = []
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            switch scalar {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "?" where !isEscaped: signs.append(.one)
            case "*" where !isEscaped: signs.append(.many)
            default: signs.append(.scalar(scalar))
            }
            isEscaped = false
        }
        if isEscaped { signs.append(.scalar("\\")) }
        return signs
    }
}
