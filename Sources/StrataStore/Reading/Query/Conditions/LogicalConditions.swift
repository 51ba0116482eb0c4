import StrataModel

/// A condition that holds always or never: `TRUEPREDICATE`, `FALSEPREDICATE`, and conditions that are equivalent.
final class ConstantCondition: RowCondition {
    private let value: Bool

    init(_ value: Bool) { self.value = value }

    var holdsForNothing: Bool { value }
    var cost: ConditionCost { .constant }
    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) -> Bool { value }
}

/// Whether all parts hold.
final class AndCondition: RowCondition {
    private let parts: [any RowCondition]
    /// The predicate of each part.
    private let predicates: [FetchPredicate]

    init(_ parts: [CompiledCondition]) {
        let sorted = parts.sortedByCost
        self.parts = sorted.map(\.row)
        predicates = sorted.map(\.predicate)
    }

    var holdsForNothing: Bool { parts.allSatisfy(\.holdsForNothing) }
    var cost: ConditionCost { parts.last?.cost ?? .constant }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        for index in parts.indices {
            do {
                if try !parts[index].holds(row, id, evaluation) { return false }
            } catch let error as StrataError {
                throw error.blaming(predicates[index])
            }
        }
        return true
    }
}

/// Whether one part holds.
final class OrCondition: RowCondition {
    private let parts: [any RowCondition]
    /// The predicate of each part.
    private let predicates: [FetchPredicate]

    init(_ parts: [CompiledCondition]) {
        let sorted = parts.sortedByCost
        self.parts = sorted.map(\.row)
        predicates = sorted.map(\.predicate)
    }

    /// Parts of one comparison, which have no predicates of their own.
    init(unnamed parts: [any RowCondition]) {
        self.parts = parts
        predicates = []
    }

    var holdsForNothing: Bool { parts.contains(where: \.holdsForNothing) }
    var cost: ConditionCost { parts.last?.cost ?? .constant }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        for index in parts.indices {
            do {
                if try parts[index].holds(row, id, evaluation) { return true }
            } catch let error as StrataError where !predicates.isEmpty {
                throw error.blaming(predicates[index])
            }
        }
        return false
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

extension [CompiledCondition] {
    /// Sorted by cost, otherwise in the order given.
    fileprivate var sortedByCost: [CompiledCondition] {
        enumerated().sorted { ($0.element.row.cost, $0.offset) < ($1.element.row.cost, $1.offset) }.map(\.element)
    }
}
