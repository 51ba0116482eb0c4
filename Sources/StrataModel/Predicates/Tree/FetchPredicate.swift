/// A condition on an object, as a tree. Format strings, typed queries and `#Predicate` all make this type.
public indirect enum FetchPredicate: Sendable, Hashable, Codable {
    /// A comparison of two expressions.
    case comparison(ComparisonPredicate)
    /// All parts hold; true if there are none.
    case and([FetchPredicate])
    /// At least one part holds; false if there are none.
    case or([FetchPredicate])
    /// The part does not hold.
    case not(FetchPredicate)
    /// `TRUEPREDICATE` or `FALSEPREDICATE`.
    case constant(Bool)
}

/// A comparison: two expressions and the operator between them.
public struct ComparisonPredicate: Sendable, Hashable, Codable {
    /// The operator of a comparison. Raw values are Core Data's.
    public enum Operator: UInt8, Sendable, Hashable, Codable {
        /// `<`
        case lessThan = 0
        /// `<=`
        case lessThanOrEqualTo = 1
        /// `>`
        case greaterThan = 2
        /// `>=`
        case greaterThanOrEqualTo = 3
        /// `==`
        case equalTo = 4
        /// `!=`
        case notEqualTo = 5
        /// `MATCHES`: the whole text matches a regular expression.
        case matches = 6
        /// `LIKE`: the whole text matches a pattern of wildcards.
        case like = 7
        /// `BEGINSWITH`
        case beginsWith = 8
        /// `ENDSWITH`
        case endsWith = 9
        /// `IN`: the value is in a list or text.
        case `in` = 10
        /// `CONTAINS`: the list or text contains the value.
        case contains = 99
        /// `BETWEEN`: the value is between two bounds, both included.
        case between = 100
    }

    /// The treatment of a to-many on the left side of a comparison.
    public enum Modifier: UInt8, Sendable, Hashable, Codable {
        /// Compares the value itself.
        case direct = 0
        /// `ALL`: the comparison must hold for every member.
        case all = 1
        /// `ANY`: the comparison must hold for at least one member.
        case any = 2
    }

    /// The left side.
    public var left: FetchExpression
    /// The operator.
    public var `operator`: Operator
    /// The right side.
    public var right: FetchExpression
    /// The treatment of a to-many on the left side.
    public var modifier: Modifier
    /// The differences of text that are ignored.
    public var folding: StringFolding

    /// A comparison of two expressions.
    public init(
        _ left: FetchExpression, _ operator: Operator, _ right: FetchExpression, modifier: Modifier = .direct,
        folding: StringFolding = []
    ) {
        self.left = left
        self.operator = `operator`
        self.right = right
        self.modifier = modifier
        self.folding = folding
    }
}
