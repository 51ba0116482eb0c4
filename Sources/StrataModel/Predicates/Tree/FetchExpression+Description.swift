// Writes expressions in Core Data's format language.

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
        // A specifier in a format string that was read without arguments.
        let name = function.rawValue == "%@" ? "%@" : AttributeValue.quoted(function.rawValue)
        guard let first = arguments.first else { return "FUNCTION(nil, \(name))" }
        return arguments.count == 1
            ? "FUNCTION(\(first), \(name))" : "FUNCTION(\(first), \(name), \(list(arguments.dropFirst())))"
    }

    /// Whether the expression is written with an operator between two operands.
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

    /// The text before a dot or a bracket, in parentheses where needed.
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
    /// The index in the format language.
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

/// The reserved words of the format language, and the quoting of names that clash with them.
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

    /// A key path whose first name begins with `$`, quoted so that it is not read as a variable.
    static func quotedFirst(_ path: String) -> String {
        let steps = path.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let first = AttributeValue.quoted(String(steps[0]))
        return steps.count == 1 ? first : first + "." + writtenPath(String(steps[1]))
    }

    /// A reserved word gets a `#` before it; text that is not a name is quoted as well.
    private static func written(_ name: Substring) -> String {
        // A specifier in a format string that was read without arguments.
        if name == "%K" { return "%K" }
        let isOperator = name.hasPrefix("@") || name.hasPrefix("$")
        guard isName(isOperator ? name.dropFirst() : name) else { return "#" + AttributeValue.quoted(String(name)) }
        return !isOperator && isReserved(name) ? "#\(name)" : String(name)
    }

    private static func isReserved(_ name: Substring) -> Bool {
        // Other letters whose upper case is ASCII do not make reserved words.
        name.utf8.allSatisfy { $0 < 0x80 } && reserved.contains(name.uppercased())
    }

    static func isName(_ text: Substring) -> Bool {
        guard let first = text.unicodeScalars.first, isNameStart(first) else { return false }
        return text.unicodeScalars.allSatisfy(isNamePart)
    }

    /// Whether a name may begin with the scalar: a letter or an underscore, as in the names of a model.
    static func isNameStart(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.isASCII else { return scalar.properties.isXIDStart }
        return switch scalar {
        case "a"..."z", "A"..."Z", "_": true
        default: false
        }
    }

    static func isNamePart(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.isASCII else { return scalar.properties.isXIDContinue }
        return isNameStart(scalar) || ("0"..."9").contains(scalar)
    }
}
