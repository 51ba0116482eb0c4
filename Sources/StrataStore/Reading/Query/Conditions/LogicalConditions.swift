// Compiled conditions that join others: AND, OR, NOT, and constants.

import StrataModel

/// A condition that holds always or never: `TRUEPREDICATE`, `FALSEPREDICATE`, and conditions that are equivalent.
final class ConstantCondition: RowCondition {
    private let value: Bool

    init(_ value: Bool) { self.value = value }

    var holdsForNothing: Bool { value }
    var cost: ConditionCost { .constant }
    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) -> Bool { value }
}

/// Whether all parts hold (AND), or one does (OR).
final class JunctionCondition: RowCondition {
    /// The operator that joins the parts.
    enum Kind: Sendable { case and, or }

    private let parts: [any RowCondition]
    /// The predicate of each part; none for the parts of one comparison.
    private let predicates: [FetchPredicate]
    /// The answer of a part that decides for the whole: false in a conjunction, true in a disjunction.
    private let decision: Bool

    init(_ kind: Kind, _ parts: [CompiledCondition]) {
        // Cheap ones first, otherwise in the order given.
        let sorted = parts.enumerated().sorted { ($0.element.row.cost, $0.offset) < ($1.element.row.cost, $1.offset) }
        self.parts = sorted.map(\.element.row)
        predicates = sorted.map(\.element.predicate)
        decision = kind == .or
    }

    init(_ kind: Kind, unnamed parts: [any RowCondition]) {
        self.parts = parts
        predicates = []
        decision = kind == .or
    }

    var holdsForNothing: Bool { parts.contains { $0.holdsForNothing == decision } == decision }
    var cost: ConditionCost { parts.last?.cost ?? .constant }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        for index in parts.indices {
            do {
                if try parts[index].holds(row, id, evaluation) == decision { return decision }
            } catch let error as StrataError where !predicates.isEmpty {
                throw error.blaming(predicates[index])
            }
        }
        return !decision
    }
}

/// Whether the part does not hold.
final class NotCondition: RowCondition {
    private let part: any RowCondition

    init(_ part: any RowCondition) { self.part = part }

    var holdsForNothing: Bool { !part.holdsForNothing }
    var cost: ConditionCost { part.cost }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        try !part.holds(row, id, evaluation)
    }
}
