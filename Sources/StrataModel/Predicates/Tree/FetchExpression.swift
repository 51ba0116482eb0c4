/// An expression in a predicate: a constant, a key path, or a function of other expressions.
///
/// ```swift
/// let expression = try FetchExpression(format: "price * (1 + %@)", 0.2)
/// ```
public indirect enum FetchExpression: Sendable, Hashable, Codable {
    /// A literal value.
    case constant(AttributeValue)
    /// A key path from `SELF`: property names joined by dots. Collection operators such as `@count` are steps too.
    case keyPath(String)
    /// `SELF`: the object that the predicate is about.
    case evaluatedObject
    /// `{a, b}`: a list of values.
    case aggregate([FetchExpression])
    /// `$NAME`: the member that a `SUBQUERY` tests, or a variable that `withSubstitutionVariables` replaces.
    case variable(String)
    /// A key path from the value of an expression, such as `$x.name` or `SUBQUERY(…).@count`.
    case keyPathOf(FetchExpression, String)
    /// A call of a function. Arithmetic operators are functions too.
    case function(FetchFunction, [FetchExpression])
    /// `TERNARY(predicate, then, otherwise)`: one of two values.
    case conditional(FetchPredicate, FetchExpression, FetchExpression)
    /// `SUBQUERY(collection, $variable, predicate)`: the members for which the predicate holds. Inside it `SELF` and plain
    /// key paths still mean the outer object.
    case subquery(FetchExpression, variable: String, FetchPredicate)
    /// `a UNION b`, `a INTERSECT b` or `a MINUS b`.
    case set(SetOperation, FetchExpression, FetchExpression)
    /// `list[0]`, `list[FIRST]`, `list[LAST]` or `list[SIZE]`.
    case element(FetchExpression, at: ElementIndex)

    /// An operation on two collections. Raw values are the words of the format language.
    public enum SetOperation: String, Sendable, Hashable, Codable, CaseIterable {
        /// The values of either collection.
        case union = "UNION"
        /// The values that are in both collections.
        case intersect = "INTERSECT"
        /// The values of the left collection that are not in the right one.
        case minus = "MINUS"
    }

    /// An element of a list, or its size.
    public indirect enum ElementIndex: Sendable, Hashable, Codable {
        /// The element with this number, from 0, or a composite's element with this name.
        case at(FetchExpression)
        /// The first element.
        case first
        /// The last element.
        case last
        /// The number of elements.
        case size
    }
}

extension FetchExpression {
    /// A key path from an expression, in canonical form: a path from `SELF` is a `keyPath`, and a path from a path is one
    /// longer path.
    public static func path(_ keyPath: String, of base: FetchExpression) -> FetchExpression {
        switch base {
        case .evaluatedObject: .keyPath(keyPath)
        case .keyPath(let first): .keyPath("\(first).\(keyPath)")
        case .keyPathOf(let base, let first): .keyPathOf(base, "\(first).\(keyPath)")
        default: .keyPathOf(base, keyPath)
        }
    }
}
