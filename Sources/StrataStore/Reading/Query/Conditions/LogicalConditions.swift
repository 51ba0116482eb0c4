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

    init(_ parts: [any RowCondition]) { self.parts = parts.sortedByCost }

    var holdsForNothing: Bool { parts.allSatisfy(\.holdsForNothing) }
    var cost: ConditionCost { parts.last?.cost ?? .constant }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        for part in parts where try !part.holds(row, id, evaluation) { return false }
        return true
    }
}

/// Whether one part holds.
final class OrCondition: RowCondition {
    private let parts: [any RowCondition]

    init(_ parts: [any RowCondition]) { self.parts = parts.sortedByCost }

    var holdsForNothing: Bool { parts.contains(where: \.holdsForNothing) }
    var cost: ConditionCost { parts.last?.cost ?? .constant }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        for part in parts where try part.holds(row, id, evaluation) { return true }
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

extension [any RowCondition] {
    /// Sorted by cost, otherwise in the order given.
    fileprivate var sortedByCost: [any RowCondition] {
        enumerated().sorted { ($0.element.cost, $0.offset) < ($1.element.cost, $1.offset) }.map(\.element)
    }
}
