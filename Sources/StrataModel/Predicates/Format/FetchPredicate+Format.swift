// Reads predicates and expressions from format strings, and replaces variables.

extension FetchPredicate {
    /// Reads a predicate in Core Data's format language.
    ///
    /// ```swift
    /// let predicate = try FetchPredicate(format: "rating > %@ AND ANY cast.name CONTAINS[cd] %@", 4.5, "ann")
    /// let late = try FetchPredicate(format: "%K BETWEEN {%@, %@}", "released", start, end)
    /// ```
    ///
    /// `%@` stands for any argument, `%K` for a key path, `%d`, `%f`, `%s`, `%c` and similar ones for numbers and text.
    /// Inside quotes they are plain text. `$NAME` stays in the tree as a variable.
    ///
    /// - Throws: `invalidRequest`; its `cause` is a `FetchFormatError` with the location.
    public init(format: String, _ arguments: (any FetchArgument)?...) throws(StrataError) {
        self = try Self.parsed(format, try FormatArguments(arguments))
    }

    /// Reads a predicate with an array of arguments of any type, for formats that are not known at compile time.
    ///
    /// - Throws: `invalidRequest`.
    public init(format: String, argumentArray arguments: [Any?]) throws(StrataError) {
        self = try Self.parsed(format, try FormatArguments(untyped: arguments))
    }

    /// Reads a format string without arguments. The specifiers stay in the tree and are part of its description.
    package init(formatWithPlaceholders format: String) throws(StrataError) {
        self = try Self.parsed(format, .placeholders)
    }

    /// Reads the predicate in the request of a `FETCH`.
    init(nestedFormat format: String) throws(StrataError) {
        self = try Self.parsed(format, try FormatArguments([]), allowsFetch: false)
    }

    private static func parsed(
        _ format: String, _ arguments: FormatArguments, allowsFetch: Bool = true
    ) throws(StrataError) -> FetchPredicate {
        let isKept = allowsFetch && !arguments.arePlaceholders
        if isKept, let known = FormatCache.shared.predicate(format, arguments.values) { return known }
        do throws(FetchFormatError) {
            var parser = try FormatParser(format, arguments, allowsFetch: allowsFetch)
            let predicate = try parser.parsePredicate()
            if isKept { FormatCache.shared.note(format, arguments.values, predicate) }
            return predicate
        } catch {
            throw error.error
        }
    }

    /// The predicate with every `$NAME` replaced by a value.
    ///
    /// ```swift
    /// let template = try FetchPredicate(format: "title BEGINSWITH $START AND year > $YEAR")
    /// let predicate = try template.withSubstitutionVariables(["START": "The", "YEAR": 1999])
    /// ```
    ///
    /// A variable inside a key path takes a name: `address.$FIELD`. The variables of `SUBQUERY` are not replaced.
    ///
    /// - Throws: `invalidRequest` if a variable has no value.
    public func withSubstitutionVariables(
        _ values: [String: (any FetchArgument)?]
    ) throws(StrataError) -> FetchPredicate {
        try checkDepth()
        let replaced = try Substitution(values).replaced(self)
        try replaced.checkDepth()
        return replaced
    }
}

extension FetchPredicate {
    /// Checks the depth of the tree, so that recursive functions are safe.
    ///
    /// - Throws: `invalidRequest` if the tree is deeper than `PredicateLimits.depth`.
    package func checkDepth() throws(StrataError) {
        guard depth(upTo: PredicateLimits.depth) != nil else {
            throw StrataError(
                .invalidRequest, "The predicate is nested more than \(PredicateLimits.depth) levels deep.")
        }
    }
}

extension FetchExpression {
    /// Reads an expression in Core Data's format language, such as `price * 1.2` or `SUBQUERY(items, $i, $i.isOpen ==
    /// YES)`.
    ///
    /// - Throws: `invalidRequest`; its `cause` is a `FetchFormatError` with the location.
    public init(format: String, _ arguments: (any FetchArgument)?...) throws(StrataError) {
        self = try Self.parsed(format, try FormatArguments(arguments))
    }

    /// Reads an expression with an array of arguments of any type.
    ///
    /// - Throws: `invalidRequest`.
    public init(format: String, argumentArray arguments: [Any?]) throws(StrataError) {
        self = try Self.parsed(format, try FormatArguments(untyped: arguments))
    }

    private static func parsed(_ format: String, _ arguments: FormatArguments) throws(StrataError) -> FetchExpression {
        do throws(FetchFormatError) {
            var parser = try FormatParser(format, arguments)
            return try parser.parseExpression()
        } catch {
            throw error.error
        }
    }
}
