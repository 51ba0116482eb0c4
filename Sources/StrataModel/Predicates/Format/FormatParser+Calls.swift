// Parses calls of functions, SUBQUERY, TERNARY, FETCH, CAST and FUNCTION, and lists in braces.

extension FormatParser {
    /// Parses `name:name:(…)` or `name(…)`; nil if no call begins here.
    mutating func parseCall() throws(FetchFormatError) -> Node? {
        let start = scanner.offset
        var end = scanner.name(at: start).upperBound
        while end < scanner.bytes.count, scanner.bytes[end] == UInt8(ascii: ":") {
            let next = scanner.name(at: end + 1)
            end += 1
            guard next.upperBound < scanner.bytes.count, scanner.bytes[next.upperBound] == UInt8(ascii: ":") else {
                break
            }
            end = next.upperBound
        }
        guard scanner.follows(UInt8(ascii: "("), from: end) else { return nil }
        let name = scanner.text(start..<end)
        guard let function = FetchFunction(written: name) else {
            throw scanner.error(Self.unknownFunction(name), expected: "a function", at: start)
        }
        scanner.offset = end
        let (arguments, depth) = try parseArguments()
        return try callNode(function, arguments, depth: depth, at: start)
    }

    private static func unknownFunction(_ name: String) -> String {
        if let usual = namesElsewhere[name.lowercased()] {
            return "there is no function \(name); did you mean \(usual)?"
        }
        return "there is no function \(name)"
            + NearestName.ending(for: name, among: FetchFunction.predefined.map(\.rawValue))
    }

    /// What functions that SQL and Swift have are called here.
    private static let namesElsewhere = [
        "avg": "average", "mean": "average", "len": "length", "upper": "uppercase", "uppercased": "uppercase",
        "lower": "lowercase", "lowercased": "lowercase", "ceil": "ceiling", "pow": "raise:toPower:",
    ]

    /// Parses values in parentheses; returns them and the depth of the deepest.
    private mutating func parseArguments() throws(FetchFormatError) -> ([FetchExpression], depth: Int) {
        try scanner.expect("(", "an opening parenthesis")
        var values: [FetchExpression] = []
        var depth = 0
        if scanner.accept(")") { return ([], 0) }
        repeat {
            let argument = try parseNode(.loosest)
            values.append(try value(argument))
            depth = max(depth, argument.depth)
        } while scanner.accept(",")
        try scanner.expect(")", "a comma or a closing parenthesis")
        return (values, depth)
    }

    // MARK: Special forms

    /// Parses what follows the word SUBQUERY.
    mutating func parseSubquery(_ start: Int) throws(FetchFormatError) -> Node {
        try scanner.expect("(", "an opening parenthesis")
        let collection = try parseNode(.loosest)
        let list = try value(collection)
        try scanner.expect(",", "a comma and a variable")
        scanner.skipSpace()
        guard scanner.peek == UInt8(ascii: "$") else { throw scanner.missing("a variable such as $x") }
        let variable = try variableName()
        try scanner.expect(",", "a comma and a condition")
        let body = try parseNode(.loosest)
        let condition = try comparisonNeeded(body)
        try scanner.expect(")", "AND, OR or a closing parenthesis")
        return try node(
            .subquery(list, variable: variable, condition), depth: max(collection.depth, body.depth) + 1, at: start)
    }

    /// Parses what follows the word TERNARY.
    mutating func parseConditional(_ start: Int) throws(FetchFormatError) -> Node {
        try scanner.expect("(", "an opening parenthesis")
        let test = try parseNode(.loosest)
        let condition = try comparisonNeeded(test)
        try scanner.expect(",", "a comma and a value")
        let first = try parseNode(.loosest)
        let positive = try value(first)
        try scanner.expect(",", "a comma and a second value")
        let second = try parseNode(.loosest)
        let negative = try value(second)
        try scanner.expect(")", "a closing parenthesis")
        return try node(
            .conditional(condition, positive, negative), depth: max(test.depth, first.depth, second.depth) + 1,
            at: start)
    }

    /// Parses what follows the word FETCH.
    mutating func parseFetch(_ start: Int) throws(FetchFormatError) -> Node {
        guard allowsFetch else {
            throw scanner.error("FETCH cannot be used in the predicate of another FETCH.", at: start)
        }
        let (arguments, depth) = try parseArguments()
        // Variables are checked when the whole request is.
        let hasVariables = arguments.contains { if case .variable = $0 { true } else { false } }
        if arguments.count != 3 || !hasVariables {
            do throws(StrataError) {
                _ = try FetchFunction.nestedFetch(arguments)
            } catch {
                throw scanner.error(error.message, expected: "a request, a context, and YES or NO", at: start)
            }
        }
        return try node(.function(.fetch, arguments), depth: depth + 1, at: start)
    }

    private mutating func comparisonNeeded(_ node: Node) throws(FetchFormatError) -> FetchPredicate {
        guard case .predicate(let predicate) = node.content else { throw scanner.missing("a comparison operator") }
        return predicate
    }

    /// Parses what follows the word CAST. Literals are cast at once.
    mutating func parseCast(_ start: Int) throws(FetchFormatError) -> Node {
        try scanner.expect("(", "an opening parenthesis")
        let operand = try parseNode(.loosest)
        let expression = try value(operand)
        try scanner.expect(",", "a comma and the name of a type")
        let name = try parseNode(.loosest)
        let type = try value(name)
        try scanner.expect(")", "a closing parenthesis")
        return try castNode(expression, type, depth: operand.depth, at: start, name.start)
    }

    private func castNode(
        _ expression: FetchExpression, _ type: FetchExpression, depth: Int, at start: Int, _ typeStart: Int?
    ) throws(FetchFormatError) -> Node {
        if arguments.arePlaceholders, case .variable("%@") = type {
            return try node(.function(.cast, [expression, type]), depth: depth + 1, at: start)
        }
        guard case .constant(.string(let name)) = type, let cast = ValueCast(typeName: name) else {
            throw scanner.error(
                "there is no type of that name to cast to; use NSString, NSNumber, NSDecimalNumber, NSDate, "
                    + "NSUUID, NSURL, NSData, NSManagedObjectID, int, double, float or bool.",
                expected: "the name of a type", at: typeStart ?? start)
        }
        if case .constant(let constant) = expression {
            guard let value = cast.value(of: constant) else {
                throw scanner.error("this cannot be cast to \(name).", at: start)
            }
            return try node(.constant(value), at: start)
        }
        return try node(.function(.cast, [expression, type]), depth: depth + 1, at: start)
    }

    /// Parses what follows the word FUNCTION: an object, the name of a method or function, and its other arguments.
    mutating func parseMethod(_ start: Int) throws(FetchFormatError) -> Node {
        let nameStart = scanner.offset
        var (arguments, depth) = try parseArguments()
        guard arguments.count >= 2, let name = methodName(arguments.remove(at: 1)), !name.isEmpty else {
            throw scanner.error(
                "FUNCTION takes a value, the name of a function in quotes, and the function's other arguments.",
                at: nameStart)
        }
        return try methodNode(name, arguments, depth: depth, at: start)
    }

    /// A call of a method by name. Whether the method is allowed is checked when it is called.
    func methodNode(
        _ name: String, _ arguments: [FetchExpression], depth: Int, at start: Int
    ) throws(FetchFormatError) -> Node {
        let function = FetchFunction(written: name) ?? FetchFunction(rawValue: name)
        guard FetchFunction.predefined.contains(function) else {
            return try node(.function(function, arguments), depth: depth + 1, at: start)
        }
        return try callNode(function, arguments, depth: depth, at: start)
    }

    private func callNode(
        _ function: FetchFunction, _ arguments: [FetchExpression], depth: Int, at start: Int
    ) throws(FetchFormatError) -> Node {
        if let complaint = function.complaint(aboutArgumentCount: arguments.count) {
            throw scanner.error(complaint, at: start)
        }
        if function == .cast { return try castNode(arguments[0], arguments[1], depth: depth, at: start, nil) }
        return try node(.function(function, arguments), depth: depth + 1, at: start)
    }

    /// The name passed to FUNCTION; `%@` if the name is itself an argument not given yet.
    private func methodName(_ argument: FetchExpression) -> String? {
        switch argument {
        case .constant(.string(let name)) where name != "%@": name
        case .variable("%@") where arguments.arePlaceholders: "%@"
        default: nil
        }
    }

    // MARK: Lists

    /// Parses a list, `{a, b}`, or a composite, `{: "name": value}`.
    mutating func parseBraces() throws(FetchFormatError) -> Node {
        let start = scanner.offset
        scanner.offset += 1
        if scanner.accept(":") { return try parseElements(start) }
        var values: [FetchExpression] = []
        var depth = 0
        if scanner.accept("}") { return try node(.aggregate([]), at: start) }
        repeat {
            let part = try parseNode(.loosest)
            values.append(try value(part))
            depth = max(depth, part.depth)
        } while scanner.accept(",")
        try scanner.expect("}", "a comma or a closing brace")
        return try node(.aggregate(values), depth: depth + 1, at: start)
    }

    private mutating func parseElements(_ start: Int) throws(FetchFormatError) -> Node {
        var elements: [String: AttributeValue] = [:]
        if scanner.accept("}") { return try node(.constant(.composite([:])), at: start) }
        repeat {
            scanner.skipSpace()
            guard scanner.peek == UInt8(ascii: "\"") || scanner.peek == UInt8(ascii: "'") else {
                throw scanner.missing("the name of an element in quotes")
            }
            let name = try scanner.quotedText()
            try scanner.expect(":", "a colon")
            let part = try parseNode(.loosest)
            guard case .constant(let element) = try value(part) else {
                throw scanner.error("an element must be a literal.", expected: "a literal", at: part.start)
            }
            elements[name] = element
        } while scanner.accept(",")
        try scanner.expect("}", "a comma or a closing brace")
        return try node(.constant(.composite(elements)), at: start)
    }
}

extension FetchFunction {
    /// The function with a name in any case, with or without the colon of a single argument; nil if it is unknown.
    init?(written name: String) {
        guard let function = Self.byName[name.lowercased()] else { return nil }
        self = function
    }

    private static let byName: [String: FetchFunction] = {
        var names: [String: FetchFunction] = [:]
        for function in predefined.union([.distance]) {
            names[function.rawValue.lowercased()] = function
            if function.argumentCount == 1 { names[String(function.rawValue.dropLast()).lowercased()] = function }
        }
        for function in selectors.keys { names[function.rawValue.lowercased()] = function }
        return names
    }()
}
