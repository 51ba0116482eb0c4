/// A sign or word between two sides.
enum InfixOperator {
    case and, or
    case comparison(ComparisonPredicate.Operator, isNegated: Bool)
    /// A method by name.
    case selector(String)
    case function(FetchFunction, Precedence)
    case set(FetchExpression.SetOperation)

    var precedence: Precedence {
        switch self {
        case .or: .or
        case .and: .and
        case .comparison, .selector: .comparison
        case .set: .set
        case .function(_, let precedence): precedence
        }
    }

    fileprivate static func compare(_ comparison: ComparisonPredicate.Operator) -> InfixOperator {
        .comparison(comparison, isNegated: false)
    }

    /// Longer ones first.
    fileprivate static let signs: [(StaticString, InfixOperator)] = [
        ("&&", .and), ("||", .or), ("==", .compare(.equalTo)), ("=<", .compare(.lessThanOrEqualTo)),
        ("=>", .compare(.greaterThanOrEqualTo)), ("=", .compare(.equalTo)), ("!=", .compare(.notEqualTo)),
        ("<>", .compare(.notEqualTo)), ("<=", .compare(.lessThanOrEqualTo)), ("<<", .function(.leftShift, .shift)),
        ("<", .compare(.lessThan)), (">=", .compare(.greaterThanOrEqualTo)), (">>", .function(.rightShift, .shift)),
        (">", .compare(.greaterThan)), ("**", .function(.power, .power)), ("*", .function(.multiply, .product)),
        ("/", .function(.divide, .product)), ("%%", .function(.modulus, .product)), ("+", .function(.add, .sum)),
        ("-", .function(.subtract, .sum)), ("&", .function(.bitwiseAnd, .bitAnd)),
        ("|", .function(.bitwiseOr, .bitOr)), ("^", .function(.bitwiseXor, .bitXor)),
    ]

    fileprivate static let comparisonWords: [String: ComparisonPredicate.Operator] = [
        "IN": .in, "LIKE": .like, "MATCHES": .matches, "CONTAINS": .contains, "BEGINSWITH": .beginsWith,
        "ENDSWITH": .endsWith, "BETWEEN": .between,
    ]

    fileprivate static let words: [String: InfixOperator] = [
        "AND": .and, "OR": .or, "UNION": .set(.union), "INTERSECT": .set(.intersect), "MINUS": .set(.minus),
    ]

    /// Words that stand between two sides and cannot begin one.
    static let isWordBetween: Set<String> = Set(comparisonWords.keys).union(["AND", "OR"])

    /// Whether a word is one of those, or of those between collections.
    static func isWord(_ text: String) -> Bool {
        let word = text.uppercased()
        return comparisonWords[word] != nil || words[word] != nil
    }
}

extension FormatParser {
    /// The operator that comes next and where it ends; nil when none does.
    mutating func peekOperator() throws(FetchFormatError) -> (InfixOperator, end: Int)? {
        scanner.skipSpace()
        guard scanner.peek != nil else { return nil }
        if !scanner.name(at: scanner.offset).isEmpty { return try peekWordOperator() }
        for (sign, infix) in InfixOperator.signs where scanner.isNext(sign) {
            return (infix, scanner.offset + sign.utf8CodeUnitCount)
        }
        if scanner.isNext(":=") { throw scanner.error("assigning with := is not supported; compare with ==.") }
        return nil
    }

    private mutating func peekWordOperator() throws(FetchFormatError) -> (InfixOperator, end: Int)? {
        if let (word, range) = scanner.peekWord() {
            if let comparison = InfixOperator.comparisonWords[word] { return (.compare(comparison), range.upperBound) }
            if let infix = InfixOperator.words[word] { return (infix, range.upperBound) }
            if word == "NOT" { return negatedWord(behind: range) }
            if word == "UTI", scanner.follows(UInt8(ascii: "-"), from: range.upperBound) {
                throw scanner.error(
                    "UTI-CONFORMS-TO and UTI-EQUALS are not supported: there is no table of types here.")
            }
        }
        guard let (name, end) = selector() else { return nil }
        return (.selector(name), end)
    }

    /// `NOT IN` and its like.
    private func negatedWord(behind range: Range<Int>) -> (InfixOperator, end: Int)? {
        var ahead = scanner
        ahead.offset = range.upperBound
        guard let (word, range) = ahead.peekWord(), let comparison = InfixOperator.comparisonWords[word] else {
            return nil
        }
        return (.comparison(comparison, isNegated: true), range.upperBound)
    }

    /// A name with a colon, the method that a custom comparison calls.
    private func selector() -> (String, end: Int)? {
        let name = scanner.name(at: scanner.offset)
        guard scanner.peek(name.count) == UInt8(ascii: ":"), scanner.peek(name.count + 1) != UInt8(ascii: "=") else {
            return nil
        }
        return (scanner.text(name) + ":", name.upperBound + 1)
    }
}
