// Evaluates predicates that need no objects, such as validation rules over a single value.

extension FetchPredicate {
    /// Whether the predicate holds.
    ///
    /// - Parameters:
    ///   - object: the value of `SELF`.
    ///   - operand: gives the value of a key path.
    package func evaluate(
        object: AttributeValue = .null, operand: (String) throws(StrataError) -> PredicateOperand
    ) throws(StrataError) -> Bool {
        try withoutActuallyEscaping(operand) { (operand) throws(StrataError) in
            try PredicateEvaluator(PathContext(operand: operand), object: .one(object)).holds(self)
        }
    }

    /// Whether the predicate holds, if every key path has a single value.
    package func evaluate(
        object: AttributeValue = .null, value: (String) throws(StrataError) -> AttributeValue
    ) throws(StrataError) -> Bool {
        try evaluate(object: object) { (path) throws(StrataError) in .one(try value(path)) }
    }

    /// Whether a value meets the rule of its attribute: `SELF` is the value, and key paths begin at it. They name elements
    /// of a composite, and the `length` of text and data.
    package func evaluate(attributeValue value: AttributeValue) throws(StrataError) -> Bool {
        try PredicateEvaluator(PathContext(operand: nil), object: .one(value)).holds(self)
    }
}

/// A context that knows only whole key paths from `SELF`, or none.
private struct PathContext: ExpressionContext {
    let operand: ((String) throws(StrataError) -> PredicateOperand)?

    func operand(atPath path: String) throws(StrataError) -> PredicateOperand? { try operand?(path) }

    func operand(of key: String, in object: ObjectID) throws(StrataError) -> PredicateOperand {
        throw StrataError(
            .invalidRequest,
            "The predicate reads \(key) of another object; here it can read only the object or value itself.",
            context: .init(key: key))
    }
}

extension AttributeValue {
    /// The element of a composite with a dotted path; `null` if there is none.
    package func element(at path: String) -> AttributeValue {
        var current = self
        for step in path.split(separator: ".", omittingEmptySubsequences: false) {
            guard case .composite(let values) = current else { return .null }
            current = values[String(step)] ?? .null
        }
        return current
    }
}
