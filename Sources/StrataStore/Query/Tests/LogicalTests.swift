import StrataModel

/// `TRUEPREDICATE`, `FALSEPREDICATE`, and whatever turns out to be one of them.
final class ConstantTest: RowTest {
    private let value: Bool

    init(_ value: Bool) { self.value = value }

    var holdsForNothing: Bool { value }
    var cost: TestCost { .constant }
    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) -> Bool { value }
}

/// All of the parts hold.
final class AndTest: RowTest {
    private let parts: [any RowTest]

    init(_ parts: [any RowTest]) { self.parts = parts.sortedByCost }

    var holdsForNothing: Bool { parts.allSatisfy(\.holdsForNothing) }
    var cost: TestCost { parts.last?.cost ?? .constant }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        for part in parts where try !part.holds(row, id, evaluation) { return false }
        return true
    }
}

/// One of the parts holds.
final class OrTest: RowTest {
    private let parts: [any RowTest]

    init(_ parts: [any RowTest]) { self.parts = parts.sortedByCost }

    var holdsForNothing: Bool { parts.contains(where: \.holdsForNothing) }
    var cost: TestCost { parts.last?.cost ?? .constant }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        for part in parts where try part.holds(row, id, evaluation) { return true }
        return false
    }
}

/// The part does not hold.
final class NotTest: RowTest {
    private let part: any RowTest

    init(_ part: any RowTest) { self.part = part }

    var holdsForNothing: Bool { !part.holdsForNothing }
    var cost: TestCost { part.cost }

    func holds(_ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation) throws -> Bool {
        try !part.holds(row, id, evaluation)
    }
}

extension [any RowTest] {
    /// Cheap ones first, else in the order given.
    fileprivate var sortedByCost: [any RowTest] {
        enumerated().sorted { ($0.element.cost, $0.offset) < ($1.element.cost, $1.offset) }.map(\.element)
    }
}
