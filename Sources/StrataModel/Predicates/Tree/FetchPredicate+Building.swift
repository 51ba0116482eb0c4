// Builds predicates in code, without a format string. The key path SELF means the object or value itself:
//
//     .equal("name", "Ann") && (.greaterThan("rating", 4) || .isNil("rating")) && !.isIn("title", ["A", "B"])

extension FetchPredicate {
    /// The condition that the full text of an object meets a query. See `FullTextQuery` for the language.
    ///
    /// - Parameter attribute: the attribute that is sought in; nil for the full text that the entity declares.
    public static func matchesText(_ query: String, in attribute: String? = nil) -> FetchPredicate {
        let subject = attribute.map(FetchExpression.keyPath) ?? .evaluatedObject
        return .comparison(
            ComparisonPredicate(
                .function(.matchesText, [subject, .constant(.string(query))]), .equalTo, .constant(.boolean(true))))
    }

    /// The property has this value.
    public static func equal(_ keyPath: String, _ value: AttributeValue, _ folding: StringFolding = []) -> Self {
        compare(keyPath, .equalTo, value, folding)
    }

    /// The property has another value; false if it is nil.
    public static func notEqual(_ keyPath: String, _ value: AttributeValue, _ folding: StringFolding = []) -> Self {
        compare(keyPath, .notEqualTo, value, folding)
    }

    /// The property is less than a value.
    public static func lessThan(_ keyPath: String, _ value: AttributeValue) -> Self {
        compare(keyPath, .lessThan, value)
    }

    /// The property is less than a value or equal to it.
    public static func lessThanOrEqual(_ keyPath: String, _ value: AttributeValue) -> Self {
        compare(keyPath, .lessThanOrEqualTo, value)
    }

    /// The property is greater than a value.
    public static func greaterThan(_ keyPath: String, _ value: AttributeValue) -> Self {
        compare(keyPath, .greaterThan, value)
    }

    /// The property is greater than a value or equal to it.
    public static func greaterThanOrEqual(_ keyPath: String, _ value: AttributeValue) -> Self {
        compare(keyPath, .greaterThanOrEqualTo, value)
    }

    /// The property has no value.
    public static func isNil(_ keyPath: String) -> Self { compare(keyPath, .equalTo, .null) }

    /// The property has a value.
    public static func isNotNil(_ keyPath: String) -> Self { compare(keyPath, .notEqualTo, .null) }

    /// The property is between two values, both included.
    public static func between(_ keyPath: String, _ minimum: AttributeValue, _ maximum: AttributeValue) -> Self {
        .comparison(
            ComparisonPredicate(
                left(keyPath), .between, .aggregate([.constant(minimum), .constant(maximum)])))
    }

    /// The property has one of the values.
    public static func isIn(_ keyPath: String, _ values: [AttributeValue], _ folding: StringFolding = []) -> Self {
        .comparison(
            ComparisonPredicate(
                left(keyPath), .in, .aggregate(values.map(FetchExpression.constant)), folding: folding))
    }

    /// The text begins with a prefix.
    public static func beginsWith(_ keyPath: String, _ prefix: String, _ folding: StringFolding = []) -> Self {
        compare(keyPath, .beginsWith, .string(prefix), folding)
    }

    /// The text ends with a suffix.
    public static func endsWith(_ keyPath: String, _ suffix: String, _ folding: StringFolding = []) -> Self {
        compare(keyPath, .endsWith, .string(suffix), folding)
    }

    /// The text contains another text, or the to-many contains an object with this id.
    public static func contains(_ keyPath: String, _ value: AttributeValue, _ folding: StringFolding = []) -> Self {
        compare(keyPath, .contains, value, folding)
    }

    /// The text matches a pattern of wildcards: `?` is any character, `*` any number of characters, and a backslash
    /// makes the next character literal.
    public static func like(_ keyPath: String, _ pattern: String, _ folding: StringFolding = []) -> Self {
        compare(keyPath, .like, .string(pattern), folding)
    }

    /// The whole text matches a regular expression. The syntax is ICU's without back references.
    public static func matches(_ keyPath: String, _ pattern: String, _ folding: StringFolding = []) -> Self {
        compare(keyPath, .matches, .string(pattern), folding)
    }

    /// The comparison holds for at least one member of the to-many.
    public static func any(
        _ keyPath: String, _ operator: ComparisonPredicate.Operator, _ value: AttributeValue,
        _ folding: StringFolding = []
    ) -> Self {
        compare(keyPath, `operator`, value, folding, modifier: .any)
    }

    /// The comparison holds for all members of the to-many; true if there are none.
    public static func all(
        _ keyPath: String, _ operator: ComparisonPredicate.Operator, _ value: AttributeValue,
        _ folding: StringFolding = []
    ) -> Self {
        compare(keyPath, `operator`, value, folding, modifier: .all)
    }

    private static func left(_ keyPath: String) -> FetchExpression {
        keyPath == "SELF" ? .evaluatedObject : .keyPath(keyPath)
    }

    private static func compare(
        _ keyPath: String, _ operator: ComparisonPredicate.Operator, _ value: AttributeValue,
        _ folding: StringFolding = [], modifier: ComparisonPredicate.Modifier = .direct
    ) -> Self {
        .comparison(
            ComparisonPredicate(
                left(keyPath), `operator`, .constant(value),
                modifier: modifier, folding: folding))
    }

    /// Both predicates hold. A chain makes one flat `and`.
    public func and(_ other: Self) -> Self {
        switch (self, other) {
        case (.and(let left), .and(let right)): .and(left + right)
        case (.and(let left), _): .and(left + [other])
        case (_, .and(let right)): .and([self] + right)
        default: .and([self, other])
        }
    }

    /// At least one of the predicates holds. A chain makes one flat `or`.
    public func or(_ other: Self) -> Self {
        switch (self, other) {
        case (.or(let left), .or(let right)): .or(left + right)
        case (.or(let left), _): .or(left + [other])
        case (_, .or(let right)): .or([self] + right)
        default: .or([self, other])
        }
    }

    // These operators are not public: together with the overloads of typed queries they would make the compiler three
    // times slower at diagnosing a wrong query, in every app that imports the module.

    package static func && (left: Self, right: Self) -> Self { left.and(right) }

    package static func || (left: Self, right: Self) -> Self { left.or(right) }

    package static prefix func ! (predicate: Self) -> Self { .not(predicate) }
}

extension AttributeValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    /// A `string`.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An `integer`. Predicates and ranges compare it with floating-point numbers too, but a default value must have
    /// the attribute's own kind.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A `double`.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// A `boolean`.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}
