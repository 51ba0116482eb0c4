import Foundation
import StrataGraph
import StrataModel
import Testing

@Suite(.verifiesStores) struct UndoTests {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let undo = ObjectUndoManager()

    init() throws {
        container = try makeContainer(graphEntities)
        context = container.newBackgroundContext()
        context.undoManager = undo
    }

    private func savedPerson(_ name: String) throws -> Person {
        let person = Person(context: context)
        person.name = name
        try context.save()
        undo.removeAllActions()
        return person
    }

    private func names() throws -> [String] { try context.fetch(FetchRequest<Person>()).map(\.name).sorted() }

    @Test func aChangedObjectThatWasDeletedComesBackWithItsChanges() throws {
        let person = try savedPerson("A")
        person.name = "B"
        #expect(try names() == ["B"])
        context.processPendingChanges()
        context.delete(person)
        #expect(try names() == [])
        #expect(undo.undoCount == 2)
        try undo.undo()
        #expect(try names() == ["B"])
        try undo.undo()
        #expect(try names() == ["A"])
        #expect(!context.changedValuesExist)
        try undo.redo()
        try undo.redo()
        #expect(try names() == [])
        try context.save()
        #expect(try names() == [])
        try undo.undo()
        #expect(try names() == ["B"])
        try context.save()
        let fresh = container.newBackgroundContext()
        #expect(try fresh.existingObject(with: person.objectID, as: Person.self).name == "B")
    }
}

extension ManagedObjectContext {
    fileprivate var changedValuesExist: Bool { updatedObjects.contains { $0.hasPersistentChangedValues } }
}
