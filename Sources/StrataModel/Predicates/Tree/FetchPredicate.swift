/// A condition over an object: the tree behind format strings, typed queries and `#Predicate`.
///
/// (Foundation owns the name `Predicate`.)
public indirect enum FetchPredicate: Sendable, Hashable, Codable {
    case comparison(ComparisonPredicate)
    case and([FetchPredicate])
    case or([FetchPredicate])
    case not(FetchPredicate)
    /// `TRUEPREDICATE` and `FALSEPREDICATE`.
    case constant(Bool)
}

/// Two expressions and the operator between them.
public struct ComparisonPredicate: Sendable, Hashable, Codable {
    /// Raw values are Core Data's.
    public enum Operator: UInt8, Sendable, Hashable, Codable {
        case lessThan = 0
        case lessThanOrEqualTo = 1
        case greaterThan = 2
        case greaterThanOrEqualTo = 3
        case equalTo = 4
        case notEqualTo = 5
        case matches = 6
        case like = 7
        case beginsWith = 8
        case endsWith = 9
        case `in` = 10
        case contains = 99
        case between = 100
    }

    /// Whether the left side must hold itself, in all, or in any of its members.
    public enum Modifier: UInt8, Sendable, Hashable, Codable {
        case direct = 0
        case all = 1
        case any = 2
    }

    public var left: FetchExpression
    public var `operator`: Operator
    public var right: FetchExpression
    public var modifier: Modifier
    public var folding: StringFolding

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
