// Parses single operands: literals, key paths, variables, parentheses and specifiers.

extension FormatParser {
    /// Parses one operand: a value or condition with its prefixes, and the key paths and indices that follow it.
    mutating func parsePrimary() throws(FetchFormatError) -> Node {
        scanner.skipSpace()
        let start = scanner.offset
        guard let byte = scanner.peek else { throw scanner.missing("a value") }
        switch byte {
        case UInt8(ascii: "("): return try parseParentheses()
        case UInt8(ascii: "!"):
            scanner.offset += 1
            return try parseNot(start)
        case UInt8(ascii: "-"): return try parseMinus()
        case UInt8(ascii: "+"):
            scanner.offset += 1
            return try parseNode(.power)
        case UInt8(ascii: "~"):
            scanner.offset += 1
            let operand = try parseNode(.power)
            return try node(.function(.onesComplement, [try value(operand)]), depth: operand.depth + 1, at: start)
        case UInt8(ascii: "{"): return try parseFollowing(try parseBraces())
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            return try parseFollowing(try node(.constant(.string(try scanner.quotedText())), at: start))
        case UInt8(ascii: "$"): return try parseFollowing(try node(.variable(try variableName()), at: start))
        case UInt8(ascii: "%"): return try parseFollowing(try parseSpecifier())
        case UInt8(ascii: "#"), UInt8(ascii: "@"):
            return try parseFollowing(try node(.keyPath(try parseStep()), at: start))
        case _ where FormatScanner.isDigit(byte):
            return try node(.constant(try scanner.number()), at: start)
        case UInt8(ascii: ".") where scanner.peek(1).map(FormatScanner.isDigit) ?? false:
            return try node(.constant(try scanner.number()), at: start)
        case _ where !scanner.name(at: start).isEmpty: return try parseWord()
        default: throw scanner.missing("a value")
        }
    }

    private mutating func parseParentheses() throws(FetchFormatError) -> Node {
        scanner.offset += 1
        let inner = try parseNode(.loosest)
        guard scanner.accept(")") else {
            let isList = scanner.peek == UInt8(ascii: ",")
            throw scanner.missing("a closing parenthesis", hint: isList ? "a list is written {a, b}" : "")
        }
        if case .predicate = inner.content { return inner }
        return try parseFollowing(inner)
    }

    private mutating func parseNot(_ start: Int) throws(FetchFormatError) -> Node {
        let part = try parseNode(.comparison)
        guard case .predicate(let predicate) = part.content else { throw scanner.missing("a comparison operator") }
        return try node(.not(predicate), depth: part.depth + 1, at: start)
    }

    /// Parses a minus. Before a number it makes a negative number, before anything else it subtracts from 0.
    private mutating func parseMinus() throws(FetchFormatError) -> Node {
        let start = scanner.offset
        scanner.offset += 1
        let operand = try parseNode(.power)
        let expression = try value(operand)
        if case .constant(let number) = expression, let negative = number.negated {
            return try node(.constant(negative), at: start)
        }
        return try node(
            .function(.subtract, [.constant(.integer(0)), expression]), depth: operand.depth + 1, at: start)
    }

    // MARK: Words

    private mutating func parseWord() throws(FetchFormatError) -> Node {
        let start = scanner.offset
        let range = scanner.name(at: start)
        let isCall = scanner.follows(UInt8(ascii: "("), from: range.upperBound)
        if let (word, _) = scanner.peekWord() {
            scanner.offset = range.upperBound
            switch word {
            case "NOT": return try parseNot(start)
            case "ANY", "SOME": return try parseQuantified(.any, isNegated: false, start)
            case "ALL": return try parseQuantified(.all, isNegated: false, start)
            case "NONE": return try parseQuantified(.any, isNegated: true, start)
            case "TRUEPREDICATE": return try node(.constant(true), at: start)
            case "FALSEPREDICATE": return try node(.constant(false), at: start)
            case "TRUE", "YES": return try node(.constant(.boolean(true)), at: start)
            case "FALSE", "NO": return try node(.constant(.boolean(false)), at: start)
            case "NULL", "NIL": return try node(.constant(.null), at: start)
            case "SELF": return try parseFollowing(try node(.evaluatedObject, at: start))
            case "ANYKEY": throw scanner.error("ANYKEY is not supported; name the properties.", at: start)
            case "FETCH" where isCall: return try parseFollowing(try parseFetch(start))
            case "SUBQUERY" where isCall: return try parseFollowing(try parseSubquery(start))
            case "TERNARY" where isCall: return try parseFollowing(try parseConditional(start))
            case "CAST" where isCall: return try parseFollowing(try parseCast(start))
            case "FUNCTION" where isCall: return try parseFollowing(try parseMethod(start))
            case _ where InfixOperator.isWordBetween.contains(word):
                scanner.offset = start
                throw scanner.missing("a value", hint: "a property of that name is written #\(scanner.text(range))")
            default: scanner.offset = start
            }
        }
        if let call = try parseCall() { return try parseFollowing(call) }
        return try parseFollowing(try node(.keyPath(try parseStep()), at: start))
    }

    private mutating func parseQuantified(
        _ modifier: ComparisonPredicate.Modifier, isNegated: Bool, _ start: Int
    ) throws(FetchFormatError) -> Node {
        let left = try parseNode(Precedence.comparison.tighter)
        guard case .expression = left.content else {
            throw scanner.error(
                "\(scanner.text(scanner.name(at: start))) must be before a comparison, as in ANY items.price > 5; "
                    + "for several conditions on one member, write SUBQUERY(items, $x, ...).@count > 0.",
                expected: "a value", at: left.start)
        }
        guard case (.comparison(let comparison, let isNegatedWord), let end)? = try peekOperator() else {
            throw scanner.missing(
                "a comparison operator",
                hint: start == 0 ? "" : "ANY, ALL and NONE must be before the left side of a comparison")
        }
        scanner.offset = end
        let inner = try parseComparison(left, comparison, modifier, isNegated: isNegatedWord)
        guard isNegated else { return inner }
        return try node(.not(try condition(inner)), depth: inner.depth + 1, at: start)
    }

    // MARK: Key paths and indices

    /// Parses any number of `.name` and `[index]`.
    private mutating func parseFollowing(_ first: Node) throws(FetchFormatError) -> Node {
        var current = first
        while true {
            scanner.skipSpace()
            if scanner.peek == UInt8(ascii: ".") {
                var steps: [String] = []
                while scanner.accept(".") { steps.append(try parseStep()) }
                let path = FetchExpression.path(steps.joined(separator: "."), of: try value(current))
                let isPlain = if case .keyPath = path { true } else { false }
                current = try node(path, depth: isPlain ? 1 : current.depth + 1, at: current.start)
            } else if scanner.accept("[") {
                current = try parseIndex(of: current)
            } else {
                return current
            }
        }
    }

    private mutating func parseIndex(of list: Node) throws(FetchFormatError) -> Node {
        let base = try value(list)
        var depth = list.depth
        let index: FetchExpression.ElementIndex
        if let (word, range) = scanner.peekWord(), scanner.follows(UInt8(ascii: "]"), from: range.upperBound),
            let named = Self.indexWords[word]
        {
            scanner.offset = range.upperBound
            index = named
        } else {
            let number = try parseNode(Precedence.comparison.tighter)
            index = .at(try value(number))
            depth = max(depth, number.depth)
        }
        try scanner.expect("]", "a closing bracket")
        return try node(.element(base, at: index), depth: depth + 1, at: list.start)
    }

    private static let indexWords: [String: FetchExpression.ElementIndex] = [
        "FIRST": .first, "LAST": .last, "SIZE": .size,
    ]

    /// Parses one name of a key path, with its `@`, `#` or `$`.
    private mutating func parseStep() throws(FetchFormatError) -> String {
        scanner.skipSpace()
        switch scanner.peek {
        case UInt8(ascii: "@"): return try "@" + parseName(behind: 1)
        case UInt8(ascii: "$"): return try "$" + parseName(behind: 1)
        case UInt8(ascii: "#"):
            if scanner.peek(1) == UInt8(ascii: "\"") || scanner.peek(1) == UInt8(ascii: "'") {
                scanner.offset += 1
                let start = scanner.offset
                let name = try scanner.quotedText()
                guard !name.isEmpty, !name.contains(".") else {
                    throw scanner.error("this cannot be the name of a property.", at: start)
                }
                return name
            }
            return try parseName(behind: 1)
        case UInt8(ascii: "%"):
            let start = scanner.offset
            guard case .keyPath(let path) = try value(try parseSpecifier()) else {
                throw scanner.error("a key path can contain %K, but no other specifier.", expected: "a name", at: start)
            }
            return path
        default: return try parseName(behind: 0)
        }
    }

    private mutating func parseName(behind sign: Int) throws(FetchFormatError) -> String {
        let range = scanner.name(at: scanner.offset + sign)
        guard !range.isEmpty else {
            scanner.offset += sign
            throw scanner.missing("a name")
        }
        scanner.offset = range.upperBound
        return scanner.text(range)
    }

    mutating func variableName() throws(FetchFormatError) -> String { try parseName(behind: 1) }

    // MARK: Specifiers

    private mutating func parseSpecifier() throws(FetchFormatError) -> Node {
        let start = scanner.offset
        scanner.offset += 1
        while let byte = scanner.peek, FormatSpecifier.sizes.contains(byte) { scanner.offset += 1 }
        guard let letter = scanner.peek, letter < 0x80, let kind = FormatSpecifier.kind(letter) else {
            throw scanner.error(
                "this is not a specifier; use %@, %K, %d, %i, %u, %x, %f, %s or %c, with a size or without.",
                expected: "a specifier", at: start)
        }
        scanner.offset += 1
        let specifier = FormatSpecifier(text: scanner.text(start..<scanner.offset), kind: kind)
        guard let argument = arguments.next(specifier.text) else {
            throw scanner.error(
                "there is no argument for \(specifier.text); \(arguments.count) were given.", expected: "an argument",
                at: start)
        }
        if arguments.areSlots {
            slots.append(specifier)
            return try node(argument, at: start)
        }
        guard let expression = specifier.accept(argument) else {
            throw scanner.error(
                "\(specifier.text) takes \(specifier.expected), not \(argument.kindName).",
                expected: specifier.expected, at: start)
        }
        let depth = expression.depth(upTo: PredicateLimits.depth) ?? PredicateLimits.depth + 1
        return try node(expression, depth: depth, at: start)
    }
}

extension FetchExpression {
    /// The kind of the expression, for errors, without its value.
    fileprivate var kindName: String {
        switch self {
        case .constant(let value): value.kindName
        case .aggregate: "a list"
        default: "an expression"
        }
    }
}

extension AttributeValue {
    /// The number with its sign changed; nil if it is not a number.
    fileprivate var negated: AttributeValue? {
        switch self {
        case .integer(let value): value == .min ? nil : .integer(-value)
        case .double(let value): .double(-value)
        // 2^63 does not fit into 64 bits, but -2^63 does.
        case .decimal(let value): AttributeValue.decimal(-value).coerced(to: .integer64) ?? .decimal(-value)
        default: nil
        }
    }
}
