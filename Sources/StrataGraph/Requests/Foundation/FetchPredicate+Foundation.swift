public import Foundation
public import StrataModel

extension FetchPredicate {
    /// Makes a predicate of a Foundation `#Predicate`.
    ///
    /// ```swift
    /// let best = 4.5
    /// let predicate = #Predicate<Movie> { $0.rating >= best && $0.title.contains("Stalker") }
    /// let request = try FetchRequest<Movie>(where: FetchPredicate(predicate))
    /// ```
    ///
    /// Objects are compared by their `objectID`. A `#Predicate` cannot ignore case or diacritics; the closure of
    /// `FetchRequest.where(_:)` can.
    ///
    /// - Throws: `invalidRequest` with the expression that queries do not support, such as a cast to a subclass.
    public init<Root: ManagedObject>(_ predicate: Predicate<Root>) throws(StrataError) {
        let translation = PredicateTranslation()
        translation.bind(predicate.variable.key, to: .value(.evaluatedObject))
        self = try translation.translate(predicate.expression).predicate(in: "#Predicate").namingVariables()
    }
}

/// The translation of one node of a `#Predicate`.
enum TranslatedNode {
    case value(FetchExpression)
    case condition(FetchPredicate)
    /// A condition on an optional value, which has no answer when the value is nil.
    case conditionIfPresent(FetchExpression, FetchPredicate)
    case range(RangeBounds)
    /// A regular expression that matches a part of a text.
    case pattern(String)
    case dictionary([(key: AttributeValue, value: AttributeValue)])

    struct RangeBounds {
        var lower: FetchExpression?
        var upper: FetchExpression?
        var includesUpper: Bool
    }

    /// Returns the node as a value.
    func expression(in node: String) throws(StrataError) -> FetchExpression {
        switch self {
        case .value(let expression): return expression
        case .condition(let predicate): return predicate.asValue
        case .conditionIfPresent(let value, let predicate):
            return .conditional(value.isNil, .constant(.null), predicate.asValue)
        case .range, .pattern, .dictionary:
            throw PredicateTranslation.unsupported(
                node, "A range, pattern or dictionary cannot be compared as a value.")
        }
    }

    /// Returns the node as a condition.
    func predicate(in node: String) throws(StrataError) -> FetchPredicate {
        switch self {
        case .condition(let predicate): predicate
        case .conditionIfPresent(let value, let predicate): value.isNotNil && predicate
        case .value(.constant(.boolean(let value))): .constant(value)
        case .value(let expression):
            .comparison(ComparisonPredicate(expression, .equalTo, .constant(.boolean(true))))
        case .range, .pattern, .dictionary:
            throw PredicateTranslation.unsupported(node, "A range, pattern or dictionary cannot be a condition.")
        }
    }
}

extension FetchPredicate {
    fileprivate var asValue: FetchExpression {
        .conditional(self, .constant(.boolean(true)), .constant(.boolean(false)))
    }
}

extension FetchExpression {
    var isNil: FetchPredicate { .comparison(ComparisonPredicate(self, .equalTo, .constant(.null))) }
    var isNotNil: FetchPredicate { .comparison(ComparisonPredicate(self, .notEqualTo, .constant(.null))) }
}

/// A node of a `#Predicate` that has a counterpart in the predicate language.
protocol TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode
}

/// Translates the nodes of one `#Predicate`, and keeps the meanings of its variables.
final class PredicateTranslation {
    private var bindings: [PredicateExpressions.VariableID: TranslatedNode] = [:]
    private var depth = 0

    func bind(_ variable: PredicateExpressions.VariableID, to node: TranslatedNode) { bindings[variable] = node }

    func node(bound variable: PredicateExpressions.VariableID) throws(StrataError) -> TranslatedNode {
        guard let node = bindings[variable] else {
            throw Self.unsupported("Variable", "The variable has no value here.")
        }
        return node
    }

    func translate(_ node: any PredicateExpression) throws(StrataError) -> TranslatedNode {
        guard let node = node as? any TranslatableNode else {
            throw Self.unsupported(Self.name(of: node), "It has no counterpart in the store.")
        }
        depth += 1
        defer { depth -= 1 }
        guard depth <= 512 else {
            throw StrataError(.invalidRequest, "The #Predicate is nested more than 512 levels deep.")
        }
        return try node.translated(by: self)
    }

    func expression(_ node: any PredicateExpression) throws(StrataError) -> FetchExpression {
        try translate(node).expression(in: Self.name(of: node))
    }

    func predicate(_ node: any PredicateExpression) throws(StrataError) -> FetchPredicate {
        try translate(node).predicate(in: Self.name(of: node))
    }

    func compare(
        _ left: any PredicateExpression, _ comparison: ComparisonPredicate.Operator, _ right: any PredicateExpression
    ) throws(StrataError) -> TranslatedNode {
        .condition(.comparison(ComparisonPredicate(try expression(left), comparison, try expression(right))))
    }

    func call(
        _ function: FetchFunction, _ arguments: any PredicateExpression...
    ) throws(StrataError) -> TranslatedNode {
        var expressions: [FetchExpression] = []
        for argument in arguments { expressions.append(try expression(argument)) }
        return .value(.function(function, expressions))
    }

    // MARK: Errors

    /// The name of the node's struct, without its generic arguments.
    static func name(of node: any PredicateExpression) -> String {
        String(String(describing: type(of: node)).prefix { $0 != "<" })
    }

    static func unsupported(_ node: String, _ reason: String) -> StrataError {
        StrataError(
            .invalidRequest, "Queries do not support PredicateExpressions.\(node) here. \(reason)",
            context: .init(key: node))
    }
}
