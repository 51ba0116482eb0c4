package import Foundation

/// What an expression comes to: one value, or the members of a list.
package enum PredicateOperand: Sendable, Hashable {
    case one(AttributeValue)
    case many([AttributeValue])

    package var members: [AttributeValue] {
        switch self {
        case .one(let value): [value]
        case .many(let members): members
        }
    }

    /// The members of a list; a missing value has none.
    package var list: [AttributeValue] {
        if case .one(.null) = self { [] } else { members }
    }
}

/// Where the evaluator reads objects: values in memory, managed objects, or rows of a store by id.
package protocol ExpressionContext {
    /// A property of an object: a value, the id that a to-one leads to (or nil), or the ids of a to-many's members, in
    /// their order.
    ///
    /// - Throws: `unknownKey`, and whatever reading throws.
    func operand(of key: String, in object: ObjectID) throws(StrataError) -> PredicateOperand

    /// What a whole key path from `SELF` leads to; nil to have it followed step by step.
    func operand(atPath path: String) throws(StrataError) -> PredicateOperand?

    /// The ids of the objects that a request finds; it is the value of a `NestedFetch`.
    ///
    /// - Throws: `invalidRequest` where there is nothing to fetch from.
    func objects(ofFetch request: AttributeValue) throws(StrataError) -> [AttributeValue]

    /// What `now()` means; the same for every object of one request.
    var now: Date { get }
}

extension ExpressionContext {
    package func operand(atPath path: String) throws(StrataError) -> PredicateOperand? { nil }
    package func objects(ofFetch request: AttributeValue) throws(StrataError) -> [AttributeValue] {
        throw StrataError(.invalidRequest, "There is nothing here that FETCH could fetch from.")
    }

    package var now: Date { Date() }
}
