// Shorthand for what needs no objects: the rules of validation over values at hand.

extension FetchPredicate {
    /// Whether the predicate holds where key paths lead to what `operand` says.
    ///
    /// - Parameter object: what `SELF` means.
    package func evaluate(
        object: AttributeValue = .null, operand: (String) throws(StrataError) -> PredicateOperand
    ) throws(StrataError) -> Bool {
        try withoutActuallyEscaping(operand) { (operand) throws(StrataError) in
            try PredicateEvaluator(PathContext(operand: operand), object: .one(object)).holds(self)
        }
    }

    /// The same where every key path leads to a single value.
    package func evaluate(
        object: AttributeValue = .null, value: (String) throws(StrataError) -> AttributeValue
    ) throws(StrataError) -> Bool {
        try evaluate(object: object) { (path) throws(StrataError) in .one(try value(path)) }
    }

    /// The rule of an attribute over its value: `SELF` is the value, key paths are elements of a composite.
    package func evaluate(attributeValue value: AttributeValue) throws(StrataError) -> Bool {
        try evaluate(object: value) { (path) throws(StrataError) in .one(value.element(at: path)) }
    }
}

/// Knows whole key paths from `SELF` only.
private struct PathContext: ExpressionContext {
    let operand: (String) throws(StrataError) -> PredicateOperand

    func operand(atPath path: String) throws(StrataError) -> PredicateOperand? { try operand(path) }

    func operand(of key: String, in object: ObjectID) throws(StrataError) -> PredicateOperand {
        throw StrataError(.invalidRequest, "Nothing can be read from other objects here.", context: .init(key: key))
    }
}

extension AttributeValue {
    /// An element of a composite by its dotted path; nil where there is none.
    package func element(at path: String) -> AttributeValue {
        var current = self
        for step in path.split(separator: ".", omittingEmptySubsequences: false) {
            guard case .composite(let values) = current else { return .null }
            current = values[String(step)] ?? .null
        }
        return current
    }
}
