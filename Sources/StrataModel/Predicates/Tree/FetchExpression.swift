/// A value in a predicate: a constant, a key path from the object, or something made of others.
///
/// ```swift
/// let expression = try FetchExpression(format: "price * (1 + %@)", 0.2)
/// ```
public indirect enum FetchExpression: Sendable, Hashable, Codable {
    case constant(AttributeValue)
    /// Property names from `SELF`, joined by dots; collection operators such as `@count` are steps too.
    case keyPath(String)
    /// `SELF`
    case evaluatedObject
    /// `{a, b}`
    case aggregate([FetchExpression])
    /// `$NAME`: the member that a `SUBQUERY` looks at, or a place to be filled by `withSubstitutionVariables`.
    case variable(String)
    /// A key path from what an expression comes to, such as `$x.name` or `SUBQUERY(…).@count`.
    case keyPathOf(FetchExpression, String)
    /// A function of values; arithmetic operators are functions too.
    case function(FetchFunction, [FetchExpression])
    /// `TERNARY(predicate, then, otherwise)`
    case conditional(FetchPredicate, FetchExpression, FetchExpression)
    /// `SUBQUERY(collection, $variable, predicate)`: the members for which the predicate holds. In it `SELF` and plain
    /// key paths still speak of the object outside.
    case subquery(FetchExpression, variable: String, FetchPredicate)
    /// `a UNION b`, `a INTERSECT b`, `a MINUS b`
    case set(SetOperation, FetchExpression, FetchExpression)
    /// `list[0]`, `list[FIRST]`, `list[LAST]`, `list[SIZE]`
    case element(FetchExpression, at: ElementIndex)

    /// What two collections are made into.
    public enum SetOperation: String, Sendable, Hashable, Codable, CaseIterable {
        case union = "UNION"
        case intersect = "INTERSECT"
        case minus = "MINUS"
    }

    /// Which element of a list, or its size.
    public indirect enum ElementIndex: Sendable, Hashable, Codable {
        /// By number from 0, or by the name of a composite's element.
        case at(FetchExpression)
        case first
        case last
        /// The number of elements.
        case size
    }
}

extension FetchExpression {
    /// A key path from an expression, in the one form that it has: a path from `SELF` is a `keyPath`, and a path from
    /// a path is a longer path.
    public static func path(_ keyPath: String, of base: FetchExpression) -> FetchExpression {
        switch base {
        case .evaluatedObject: .keyPath(keyPath)
        case .keyPath(let first): .keyPath("\(first).\(keyPath)")
        case .keyPathOf(let base, let first): .keyPathOf(base, "\(first).\(keyPath)")
        default: .keyPathOf(base, keyPath)
        }
    }
}
