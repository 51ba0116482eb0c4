import Foundation

/// The arguments of a format string, taken one by one as the parser meets specifiers.
struct FormatArguments {
    private enum Source {
        case values([FetchExpression])
        /// There are no arguments: the specifiers themselves stay in the tree.
        case placeholders
        /// There are no arguments yet: the tree gets slots that `FormatTemplate` fills.
        case slots
    }

    private let source: Source
    private(set) var used = 0

    init(_ arguments: [(any FetchArgument)?]) throws(StrataError) {
        try self.init(expressions: arguments.map { $0?.fetchExpression ?? .constant(.null) })
    }

    init(untyped arguments: [Any?]) throws(StrataError) {
        var expressions: [FetchExpression] = []
        for (index, argument) in arguments.enumerated() {
            guard let expression = UntypedArgument.expression(argument) else {
                let kind = argument.map { "\(type(of: $0))" } ?? "nil"
                throw StrataError(
                    .invalidRequest, "Argument \(index + 1), of type \(kind), cannot be used in a predicate.")
            }
            expressions.append(expression)
        }
        try self.init(expressions: expressions)
    }

    private init(expressions: [FetchExpression]) throws(StrataError) {
        for (index, expression) in expressions.enumerated() {
            if case .aggregate(let parts) = expression, parts.count > PredicateLimits.listedValues {
                throw StrataError(
                    .invalidRequest, "Argument \(index + 1) lists more than \(PredicateLimits.listedValues) values.")
            }
            guard expression.depth(upTo: PredicateLimits.depth) != nil else {
                throw StrataError(
                    .invalidRequest,
                    "Argument \(index + 1) is nested more than \(PredicateLimits.depth) levels deep.")
            }
        }
        source = .values(expressions)
    }

    private init(_ source: Source) { self.source = source }

    static let placeholders = FormatArguments(.placeholders)
    static let slots = FormatArguments(.slots)

    /// The arguments; none for placeholders and slots.
    var values: [FetchExpression] { if case .values(let values) = source { values } else { [] } }

    /// The number of arguments that were given and not used.
    var unused: Int { if case .values(let values) = source { values.count - used } else { 0 } }

    var count: Int { if case .values(let values) = source { values.count } else { 0 } }

    /// The next argument; nil if there are no more.
    mutating func next(_ specifier: String) -> FetchExpression? {
        switch source {
        case .placeholders: return specifier == "%K" ? .keyPath(specifier) : .variable(specifier)
        case .slots: return FormatTemplate.slot
        case .values(let values):
            guard used < values.count else { return nil }
            used += 1
            return values[used - 1]
        }
    }

    var arePlaceholders: Bool { if case .placeholders = source { true } else { false } }
    var areSlots: Bool { if case .slots = source { true } else { false } }
}

/// A specifier of a format string: a `%` with the letters after it.
struct FormatSpecifier {
    enum Kind {
        case object, keyPath, whole, floatingPoint, text, character
    }

    let text: String
    let kind: Kind

    /// The kind of argument that a letter means; nil for an unknown letter.
    static func kind(_ letter: UInt8) -> Kind? {
        switch Character(Unicode.Scalar(letter)) {
        case "@": .object
        case "K": .keyPath
        case "d", "D", "i", "u", "U", "x", "X", "o", "O": .whole
        case "f", "F", "e", "E", "g", "G", "a", "A": .floatingPoint
        case "s", "S": .text
        case "c", "C": .character
        default: nil
        }
    }

    static let sizes: Set<UInt8> = Set("hlqLztj".utf8)

    /// The argument converted to the kind of the specifier; nil if it cannot be converted.
    func accept(_ argument: FetchExpression) -> FetchExpression? {
        switch (kind, argument) {
        case (.object, _): return argument
        case (_, .variable(text)): return argument
        case (.keyPath, .keyPath), (.keyPath, .evaluatedObject): return argument
        case (.keyPath, .constant(.string(let path))):
            if path == "SELF" || path == "self" { return .evaluatedObject }
            let steps = path.split(separator: ".", omittingEmptySubsequences: false)
            return steps.contains(where: \.isEmpty) ? nil : .keyPath(path)
        case (.whole, .constant(let value)): return value.coerced(to: .integer64).flatMap(Self.number)
        case (.floatingPoint, .constant(let value)): return value.coerced(to: .double).flatMap(Self.number)
        case (.text, .constant(.string)): return argument
        case (.character, .constant(.string(let text))): return text.count == 1 ? argument : nil
        case (.character, .constant(let value)): return value.coerced(to: .integer64).flatMap(Self.number)
        default: return nil
        }
    }

    private static func number(_ value: AttributeValue) -> FetchExpression? { value.isNull ? nil : .constant(value) }

    var expected: String {
        switch kind {
        case .object: "any value"
        case .keyPath: "the name of a property or a key path"
        case .whole: "a whole number of 64 bits"
        case .floatingPoint: "a number"
        case .text: "a string"
        case .character: "a character or its number"
        }
    }
}
