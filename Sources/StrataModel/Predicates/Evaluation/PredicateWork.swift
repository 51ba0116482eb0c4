// The cost of evaluating a predicate, in steps. A step costs about as much as reading a row, some tens of nanoseconds;
// these rules count everything else in steps. Counting by rules gives the same number on every machine.

/// The rules by which the evaluator counts steps.
package enum PredicateWork {
    /// The number of bytes or states that are compared in one step.
    package static let comparisons = 16
    /// The number of bytes of text that are copied, folded or searched in one step.
    package static let bytes = 64

    package static func ofText(_ count: Int) -> Int { count / bytes }
}

extension PredicateOperand {
    /// The steps of passing over the operand once: its members and their text. A short single value costs nothing.
    var work: Int {
        switch self {
        case .one(let value): value.work
        case .many(let members): members.reduce(members.count) { $0 + $1.work }
        }
    }

    /// The number of members of a list; 0 for a single value.
    var memberCount: Int { if case .many(let members) = self { members.count } else { 0 } }
}

extension AttributeValue {
    fileprivate var work: Int {
        switch self {
        case .string(let text): PredicateWork.ofText(text.utf8.count)
        case .data(let data): PredicateWork.ofText(data.count)
        default: 0
        }
    }
}
