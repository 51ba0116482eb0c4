extension FetchExpression: CustomStringConvertible {
    /// The expression in the format language; reading it gives the same tree.
    public var description: String {
        switch self {
        case .constant(let value): value.formatLiteral
        case .keyPath(let path) where path.hasPrefix("$"): "#" + PredicateWord.quotedFirst(path)
        case .keyPath(let path): PredicateWord.writtenPath(path)
        case .evaluatedObject: "SELF"
        case .aggregate(let parts): "{\(Self.list(parts))}"
        case .variable(let name): name.hasPrefix("%") ? name : "$\(name)"
        case .keyPathOf(let base, let path): "\(base.descriptionAsBase).\(PredicateWord.writtenPath(path))"
        case .function(let function, let arguments): Self.call(function, arguments)
        case .conditional(let condition, let first, let second): "TERNARY(\(condition), \(first), \(second))"
        case .subquery(let collection, let variable, let condition):
            "SUBQUERY(\(collection), $\(variable), \(condition))"
        case .set(let operation, let left, let right):
            "\(left.descriptionAsOperand) \(operation.rawValue) \(right.descriptionAsOperand)"
        case .element(let list, let index): "\(list.descriptionAsBase)[\(index)]"
        }
    }

    private static func list(_ parts: some Sequence<FetchExpression>) -> String {
        parts.map(\.description).joined(separator: ", ")
    }

    private static func call(_ function: FetchFunction, _ arguments: [FetchExpression]) -> String {
        if arguments.count == 2, let sign = FetchFunction.infix[function] {
            return "\(arguments[0].descriptionAsOperand) \(sign) \(arguments[1].descriptionAsOperand)"
        }
        if function == .cast, arguments.count == 2 { return "CAST(\(list(arguments)))" }
        if function == .fetch, arguments.count == 3 { return "FETCH(\(list(arguments)))" }
        if FetchFunction.predefined.contains(function) { return "\(function.rawValue)(\(list(arguments)))" }
        let name = AttributeValue.quoted(function.rawValue)
        guard let first = arguments.first else { return "FUNCTION(nil, \(name))" }
        return arguments.count == 1
            ? "FUNCTION(\(first), \(name))" : "FUNCTION(\(first), \(name), \(list(arguments.dropFirst())))"
    }

    /// Whether an operator stands between parts of it.
    private var isInfix: Bool {
        switch self {
        case .function(let function, let arguments): arguments.count == 2 && FetchFunction.infix[function] != nil
        case .set: true
        default: false
        }
    }

    /// Beside an operator. A negative number is one too, because `-2 ** 2` is `-(2 ** 2)`.
    private var descriptionAsOperand: String {
        switch self {
        case .constant(let value) where value.isWrittenWithSign: "(\(description))"
        default: isInfix ? "(\(description))" : description
        }
    }

    /// Before a dot or a bracket.
    private var descriptionAsBase: String {
        switch self {
        case .constant(.string), .keyPath, .variable, .keyPathOf, .subquery, .conditional, .element, .aggregate,
            .evaluatedObject:
            description
        case .constant: "(\(description))"
        default: isInfix ? "(\(description))" : description
        }
    }
}

extension FetchExpression.ElementIndex: CustomStringConvertible {
    public var description: String {
        switch self {
        case .at(let index): index.description
        case .first: "FIRST"
        case .last: "LAST"
        case .size: "SIZE"
        }
    }
}

extension AttributeValue {
    fileprivate var isWrittenWithSign: Bool {
        switch self {
        case .integer(let value): value < 0
        case .double(let value): value.sign == .minus && !value.isNaN && value.isFinite
        default: false
        }
    }
}

/// The words of the format language, and how names are written that could be taken for one.
enum PredicateWord {
    static let reserved: Set<String> = [
        "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI", "MATCHES",
        "CONTAINS", "BEGINSWITH", "ENDSWITH", "BETWEEN", "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "FIRST",
        "LAST", "SIZE", "ANYKEY", "SUBQUERY", "FETCH", "CAST", "TRUEPREDICATE", "FALSEPREDICATE", "FUNCTION",
        "TERNARY", "UNION", "INTERSECT", "MINUS",
    ]

    static func writtenPath(_ path: String) -> String {
        path.split(separator: ".", omittingEmptySubsequences: false).map(written).joined(separator: ".")
    }

    /// A first name with the sign of a variable, which without quotes would be one.
    static func quotedFirst(_ path: String) -> String {
        let steps = path.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let first = AttributeValue.quoted(String(steps[0]))
        return steps.count == 1 ? first : first + "." + writtenPath(String(steps[1]))
    }

    /// A name that is a word of the language is led by `#`; one that is no name at all is also quoted.
    private static func written(_ name: Substring) -> String {
        // The place of an argument in a format string that was read without its arguments.
        if name == "%K" { return "%K" }
        let isOperator = name.hasPrefix("@") || name.hasPrefix("$")
        guard isName(isOperator ? name.dropFirst() : name) else { return "#" + AttributeValue.quoted(String(name)) }
        return !isOperator && reserved.contains(name.uppercased()) ? "#\(name)" : String(name)
    }

    static func isName(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, isNameStart(first) else { return false }
        return text.utf8.allSatisfy(isNamePart)
    }

    /// Letters, the underscore, and everything beyond ASCII.
    static func isNameStart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    static func isNamePart(_ byte: UInt8) -> Bool {
        isNameStart(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
