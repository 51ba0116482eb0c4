// The interface through which predicates read objects (`ExpressionContext`).

package import Foundation

/// The result of an expression: one value, or the members of a list.
package enum PredicateOperand: Sendable, Hashable {
    case one(AttributeValue)
    case many([AttributeValue])

    package var members: [AttributeValue] {
        switch self {
        case .one(let value): [value]
        case .many(let members): members
        }
    }

    /// The members of the list, or the one value; none for nil.
    package var list: [AttributeValue] {
        if case .one(.null) = self { [] } else { members }
    }
}

/// The objects that an evaluator reads: values in memory, managed objects, or rows of a store.
///
/// It is all that the predicate language knows of objects: it never sees a schema, a row or a store.
package protocol ExpressionContext {
    /// The value of a property: an attribute's value, the id of a to-one's object or nil, or the ids of a to-many's members
    /// in order.
    ///
    /// - Throws: `unknownKey`, and the errors of reading the object.
    func operand(of key: String, in object: ObjectID) throws(StrataError) -> PredicateOperand

    /// The value of a whole key path from `SELF`; nil to let the evaluator follow it step by step.
    func operand(atPath path: String) throws(StrataError) -> PredicateOperand?

    /// The ids of the objects that a request finds.
    ///
    /// - Parameter request: the value of a `NestedFetch`.
    /// - Throws: `invalidRequest` if the context cannot fetch.
    func objects(ofFetch request: AttributeValue) throws(StrataError) -> [AttributeValue]

    /// The value of `now()`, the same for every object of one request.
    var now: Date { get }

    /// Counts the work of the evaluator, so that a context can end a request that costs too much or was cancelled.
    ///
    /// - Parameters:
    ///   - steps: the steps since the last call, by the rules of `PredicateWork`.
    ///   - members: the number of members of the list that is being made.
    /// - Throws: to end the evaluation.
    func spend(_ steps: Int, listing members: Int) throws(StrataError)
}

extension ExpressionContext {
    package func operand(atPath path: String) throws(StrataError) -> PredicateOperand? { nil }
    package func objects(ofFetch request: AttributeValue) throws(StrataError) -> [AttributeValue] {
        throw StrataError(.invalidRequest, "FETCH cannot be used here, because there is no store to fetch from.")
    }

    package var now: Date { Date() }
    package func spend(_ steps: Int, listing members: Int) throws(StrataError) {}
}
