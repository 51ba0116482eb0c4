/// An operator between two operands, as a sign or a word.
enum InfixOperator {
    case and, or
    case comparison(ComparisonPredicate.Operator, isNegated: Bool)
    /// A custom comparison: the name of a method.
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

    /// The signs of operators, longer ones first.
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

    /// Words that are always operators and cannot begin an operand.
    static let isWordBetween: Set<String> = Set(comparisonWords.keys).union(["AND", "OR"])

    /// Whether a word is an operator.
    static func isWord(_ text: String) -> Bool {
        let word = text.uppercased()
        return comparisonWords[word] != nil || words[word] != nil
    }
}

extension FormatParser {
    /// The next operator and the offset of its end; nil if none follows.
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
                    "UTI-CONFORMS-TO and UTI-EQUALS are not supported; compare with == or IN.")
            }
        }
        guard let (name, end) = selector() else { return nil }
        return (.selector(name), end)
    }

    /// The operator of `NOT IN` and similar words.
    private func negatedWord(behind range: Range<Int>) -> (InfixOperator, end: Int)? {
        var ahead = scanner
        ahead.offset = range.upperBound
        guard let (word, range) = ahead.peekWord(), let comparison = InfixOperator.comparisonWords[word] else {
            return nil
        }
        return (.comparison(comparison, isNegated: true), range.upperBound)
    }

    /// The name with a colon that a custom comparison calls.
    private func selector() -> (String, end: Int)? {
        let name = scanner.name(at: scanner.offset)
        guard scanner.peek(name.count) == UInt8(ascii: ":"), scanner.peek(name.count + 1) != UInt8(ascii: "=") else {
            return nil
        }
        return (scanner.text(name) + ":", name.upperBound + 1)
    }
}
