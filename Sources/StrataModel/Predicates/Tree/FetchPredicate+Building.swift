// Trees that read like sentences; the key path SELF means the object or value itself:
//
//     .equal("name", "Ann") && (.greaterThan("rating", 4) || .isNil("rating")) && !.isIn("title", ["A", "B"])

extension FetchPredicate {
    public static func equal(_ keyPath: String, _ value: AttributeValue, _ folding: StringFolding = []) -> Self {
        compare(keyPath, .equalTo, value, folding)
    }

    public static func notEqual(_ keyPath: String, _ value: AttributeValue, _ folding: StringFolding = []) -> Self {
        compare(keyPath, .notEqualTo, value, folding)
    }

    public static func lessThan(_ keyPath: String, _ value: AttributeValue) -> Self {
        compare(keyPath, .lessThan, value)
    }

    public static func lessThanOrEqual(_ keyPath: String, _ value: AttributeValue) -> Self {
        compare(keyPath, .lessThanOrEqualTo, value)
    }

    public static func greaterThan(_ keyPath: String, _ value: AttributeValue) -> Self {
        compare(keyPath, .greaterThan, value)
    }

    public static func greaterThanOrEqual(_ keyPath: String, _ value: AttributeValue) -> Self {
        compare(keyPath, .greaterThanOrEqualTo, value)
    }

    public static func isNil(_ keyPath: String) -> Self { compare(keyPath, .equalTo, .null) }

    public static func isNotNil(_ keyPath: String) -> Self { compare(keyPath, .notEqualTo, .null) }

    /// Both bounds belong to the range.
    public static func between(_ keyPath: String, _ minimum: AttributeValue, _ maximum: AttributeValue) -> Self {
        .comparison(
            ComparisonPredicate(
                left(keyPath), .between, .aggregate([.constant(minimum), .constant(maximum)])))
    }

    public static func isIn(_ keyPath: String, _ values: [AttributeValue], _ folding: StringFolding = []) -> Self {
        .comparison(
            ComparisonPredicate(
                left(keyPath), .in, .aggregate(values.map(FetchExpression.constant)), folding: folding))
    }

    public static func beginsWith(_ keyPath: String, _ prefix: String, _ folding: StringFolding = []) -> Self {
        compare(keyPath, .beginsWith, .string(prefix), folding)
    }

    public static func endsWith(_ keyPath: String, _ suffix: String, _ folding: StringFolding = []) -> Self {
        compare(keyPath, .endsWith, .string(suffix), folding)
    }

    /// A string that contains another, or a to-many that contains an object id.
    public static func contains(_ keyPath: String, _ value: AttributeValue, _ folding: StringFolding = []) -> Self {
        compare(keyPath, .contains, value, folding)
    }

    /// `?` stands for one character, `*` for any number, a backslash takes the meaning from the next sign.
    public static func like(_ keyPath: String, _ pattern: String, _ folding: StringFolding = []) -> Self {
        compare(keyPath, .like, .string(pattern), folding)
    }

    /// The whole string matches a regular expression; see `PatternMatcher` for its syntax.
    public static func matches(_ keyPath: String, _ pattern: String, _ folding: StringFolding = []) -> Self {
        compare(keyPath, .matches, .string(pattern), folding)
    }

    /// A comparison that must hold for at least one of the members that the key path leads to.
    public static func any(
        _ keyPath: String, _ operator: ComparisonPredicate.Operator, _ value: AttributeValue,
        _ folding: StringFolding = []
    ) -> Self {
        compare(keyPath, `operator`, value, folding, modifier: .any)
    }

    /// A comparison that must hold for all the members that the key path leads to; true when there are none.
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

    /// Both; a chain is one flat `and`.
    public func and(_ other: Self) -> Self {
        switch (self, other) {
        case (.and(let left), .and(let right)): .and(left + right)
        case (.and(let left), _): .and(left + [other])
        case (_, .and(let right)): .and([self] + right)
        default: .and([self, other])
        }
    }

    /// Either; a chain is one flat `or`.
    public func or(_ other: Self) -> Self {
        switch (self, other) {
        case (.or(let left), .or(let right)): .or(left + right)
        case (.or(let left), _): .or(left + [other])
        case (_, .or(let right)): .or([self] + right)
        default: .or([self, other])
        }
    }

    // The operators are not public: as overloads beside those of typed queries they would make the compiler take three
    // times as long to find what is wrong with one, in every app that imports the module.

    package static func && (left: Self, right: Self) -> Self { left.and(right) }

    package static func || (left: Self, right: Self) -> Self { left.or(right) }

    package static prefix func ! (predicate: Self) -> Self { .not(predicate) }
}

extension AttributeValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    /// A `string`.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An `integer`, also where a floating point number is meant: predicates and ranges compare across kinds, but a
    /// default value must have the attribute's own kind.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A `double`.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// A `boolean`.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}
