// The operators by precedence, lowest first: OR, AND, NOT, comparisons, set operators, |, ^, &, shifts, + and -, *, /
// and %%, unary minus, **. Operands are parsed by precedence climbing (M. Richards, C. Whitby-Strevens, BCPL, 1979), so
// a level of nesting takes two calls, not one for each level of precedence. Parentheses can hold a value or a
// condition; the parser reads them once and decides by what follows.

/// Parses format strings into predicates and expressions.
struct FormatParser {
    /// A parsed value or condition.
    struct Node {
        enum Content {
            case expression(FetchExpression)
            case predicate(FetchPredicate)
        }

        let content: Content
        /// The levels of its tree.
        let depth: Int
        /// The offset of its first byte.
        let start: Int
    }

    var scanner: FormatScanner
    var arguments: FormatArguments
    /// False while parsing the predicate of a `FETCH`: a `FETCH` cannot be nested in another.
    let allowsFetch: Bool
    /// The specifiers parsed so far, if the tree gets slots instead of arguments.
    var slots: [FormatSpecifier] = []
    private var nesting = 0

    init(_ format: String, _ arguments: FormatArguments, allowsFetch: Bool = true) throws(FetchFormatError) {
        scanner = try FormatScanner(format)
        self.arguments = arguments
        self.allowsFetch = allowsFetch
    }

    // MARK: Whole strings

    mutating func parsePredicate() throws(FetchFormatError) -> FetchPredicate {
        let node = try parseNode(.loosest)
        guard case .predicate(let predicate) = node.content else {
            throw scanner.missing("a comparison operator", hint: hintAtEnd)
        }
        try finish("AND, OR or the end")
        return predicate
    }

    mutating func parseExpression() throws(FetchFormatError) -> FetchExpression {
        let node = try parseNode(.loosest)
        let expression = try value(node)
        try finish("an operator or the end")
        return expression
    }

    private mutating func finish(_ expected: String) throws(FetchFormatError) {
        scanner.skipSpace()
        guard scanner.peek == nil else { throw scanner.missing(expected, hint: hintAtEnd) }
        if arguments.unused > 0 {
            throw scanner.error(
                "\(CountText.of(arguments.count, "argument")) \(arguments.count == 1 ? "was" : "were") given, but the format takes \(arguments.used)."
            )
        }
    }

    private var hintAtEnd: String {
        scanner.peek == UInt8(ascii: ",") ? "a list is written {a, b}" : ""
    }

    // MARK: Nodes

    func node(_ expression: FetchExpression, depth: Int = 1, at start: Int) throws(FetchFormatError) -> Node {
        try checkDepth(depth, start)
        return Node(content: .expression(expression), depth: depth, start: start)
    }

    func node(_ predicate: FetchPredicate, depth: Int = 1, at start: Int) throws(FetchFormatError) -> Node {
        try checkDepth(depth, start)
        return Node(content: .predicate(predicate), depth: depth, start: start)
    }

    private func checkDepth(_ depth: Int, _ start: Int) throws(FetchFormatError) {
        if depth > PredicateLimits.depth {
            throw scanner.error("this is nested more than \(PredicateLimits.depth) levels deep.", at: start)
        }
    }

    func value(_ node: Node) throws(FetchFormatError) -> FetchExpression {
        guard case .expression(let expression) = node.content else {
            throw scanner.error("this is a condition where a value is needed.", expected: "a value", at: node.start)
        }
        return expression
    }

    func condition(_ node: Node) throws(FetchFormatError) -> FetchPredicate {
        guard case .predicate(let predicate) = node.content else {
            throw scanner.error("this is a value where a condition is needed.", expected: "a condition", at: node.start)
        }
        return predicate
    }

    // MARK: Operators

    /// Parses an operand, and all operators after it whose precedence is at least `precedence`.
    mutating func parseNode(_ precedence: Precedence) throws(FetchFormatError) -> Node {
        nesting += 1
        defer { nesting -= 1 }
        guard nesting <= PredicateLimits.formatNesting else {
            throw scanner.error("this is nested more than \(PredicateLimits.formatNesting) levels deep.")
        }
        var left = try parsePrimary()
        while let (sign, end) = try peekOperator(), sign.precedence >= precedence {
            switch sign {
            case .and, .or: left = try parseChain(left, sign)
            case .comparison(let comparison, let isNegated):
                guard case .expression = left.content else {
                    throw scanner.error("a condition cannot be compared.", expected: "AND or OR")
                }
                scanner.offset = end
                left = try parseComparison(left, comparison, .direct, isNegated: isNegated)
            case .selector(let name):
                scanner.offset = end
                left = try parseSelector(left, name)
            case .function(let function, let precedence):
                scanner.offset = end
                let first = try value(left)
                let right = try parseNode(precedence.tighter)
                let arguments = [first, try value(right)]
                left = try node(.function(function, arguments), depth: max(left.depth, right.depth) + 1, at: left.start)
            case .set(let operation):
                scanner.offset = end
                let first = try value(left)
                let right = try parseNode(Precedence.set.tighter)
                left = try node(
                    .set(operation, first, try value(right)), depth: max(left.depth, right.depth) + 1, at: left.start)
            }
        }
        return left
    }

    /// Parses the rest of a chain: `a AND b AND c` is one `and` with three parts.
    private mutating func parseChain(_ first: Node, _ sign: InfixOperator) throws(FetchFormatError) -> Node {
        var parts = [try conditionBefore(first)]
        var depth = first.depth
        while let (next, end) = try peekOperator(), next.precedence == sign.precedence {
            scanner.offset = end
            let part = try parseNode(sign.precedence.tighter)
            guard case .predicate(let predicate) = part.content else {
                throw scanner.missing("a comparison operator", hint: Self.hint(behind: parts[parts.count - 1]))
            }
            parts.append(predicate)
            depth = max(depth, part.depth)
        }
        let isAnd = sign.precedence == .and
        return try node(isAnd ? .and(parts) : .or(parts), depth: depth + 1, at: first.start)
    }

    /// A hint for bounds written as in SQL, `a BETWEEN 1 AND 2`.
    private static func hint(behind predicate: FetchPredicate) -> String {
        guard case .comparison(let comparison) = predicate, comparison.operator == .between,
            case .constant = comparison.right
        else { return "" }
        return "write bounds as BETWEEN {a, b}"
    }

    private mutating func conditionBefore(_ node: Node) throws(FetchFormatError) -> FetchPredicate {
        guard case .predicate(let predicate) = node.content else { throw scanner.missing("a comparison operator") }
        return predicate
    }

    /// Parses the options and the right side of a comparison.
    mutating func parseComparison(
        _ left: Node, _ comparison: ComparisonPredicate.Operator, _ modifier: ComparisonPredicate.Modifier,
        isNegated: Bool
    ) throws(FetchFormatError) -> Node {
        let first = try value(left)
        let folding = try parseOptions()
        let right = try parseNode(Precedence.comparison.tighter)
        let predicate = FetchPredicate.comparison(
            ComparisonPredicate(first, comparison, try value(right), modifier: modifier, folding: folding))
        let depth = max(left.depth, right.depth) + 1
        return try node(isNegated ? .not(predicate) : predicate, depth: isNegated ? depth + 1 : depth, at: left.start)
    }

    /// Parses options such as `[cd]`. `n` (already normalised) and `l` (order of a language) are accepted and change
    /// nothing, because text is always normalised and no comparison depends on a language; `n` turns `c` and `d` off.
    private mutating func parseOptions() throws(FetchFormatError) -> StringFolding {
        guard scanner.accept("[") else { return [] }
        var folding: StringFolding = []
        var isNormalized = false
        var count = 0
        while let byte = scanner.peek, byte != UInt8(ascii: "]") {
            switch byte {
            case UInt8(ascii: "c"), UInt8(ascii: "C"): folding.insert(.caseInsensitive)
            case UInt8(ascii: "d"), UInt8(ascii: "D"): folding.insert(.diacriticInsensitive)
            case UInt8(ascii: "n"), UInt8(ascii: "N"): isNormalized = true
            case UInt8(ascii: "l"), UInt8(ascii: "L"), UInt8(ascii: " "): break
            default: throw scanner.missing("c, d, n, l or ]")
            }
            scanner.offset += 1
            count += 1
        }
        guard count > 0 else { throw scanner.missing("c, d, n or l") }
        try scanner.expect("]", "a closing bracket")
        return isNormalized ? [] : folding
    }

    /// Parses `object name: argument`, a custom comparison by a method.
    private mutating func parseSelector(_ left: Node, _ name: String) throws(FetchFormatError) -> Node {
        let first = try value(left)
        let right = try parseNode(Precedence.comparison.tighter)
        let call = try methodNode(
            name, [first, try value(right)], depth: max(left.depth, right.depth), at: left.start)
        return try node(
            .comparison(ComparisonPredicate(try value(call), .equalTo, .constant(.boolean(true)))),
            depth: call.depth + 1, at: left.start)
    }
}

/// The precedence of an operator.
enum Precedence: Int, Comparable {
    case or = 1, and, not, comparison, set, bitOr, bitXor, bitAnd, shift, sum, product, sign, power, tightest

    static let loosest = Precedence.or

    var tighter: Precedence { Precedence(rawValue: rawValue + 1) ?? .tightest }

    static func < (left: Precedence, right: Precedence) -> Bool { left.rawValue < right.rawValue }
}
