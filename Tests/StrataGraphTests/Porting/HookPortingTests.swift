import Foundation
import StrataGraph
import StrataModel
import Testing

/// What classes do in their hooks when they come from Core Data.
@Suite(.verifiesStores) struct HookPortingTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        container = try makeContainer([Hooked.self])
        context = container.newBackgroundContext()
    }

    private func saved(_ names: String...) throws -> [Hooked] {
        let objects = names.map { name in
            let object = Hooked(context: context)
            object.name = name
            return object
        }
        try context.save()
        for object in objects { object.calls = [] }
        return objects
    }

    @Test func willSaveMayRefreshItsObject() throws {
        let objects = try saved("a", "b", "c")
        let context = context
        for object in objects { object.stamp = 1 }
        objects[0].willSaveBody = { context.refresh($0, mergeChanges: false) }
        objects[2].willSaveBody = { if $0.stamp == 1 { $0.stamp = 2 } }
        try context.save()
        #expect(objects.map(\.stamp) == [0, 1, 2])
        #expect(!context.hasChanges)
    }

    @Test func willSaveMayRollBack() throws {
        let objects = try saved("a", "b")
        let context = context
        for object in objects { object.stamp = 1 }
        let new = Hooked(context: context)
        objects[1].willSaveBody = { _ in context.rollback() }
        try context.save()
        #expect(objects.map(\.stamp) == [0, 0] && !context.hasChanges && new.managedObjectContext == nil)
    }

    @Test func objectsMayDeleteEachOtherAsTheyGo() throws {
        let objects = try saved("a", "b")
        let context = context
        objects[0].prepareForDeletionBody = { _ in context.delete(objects[1]) }
        objects[1].prepareForDeletionBody = { _ in context.delete(objects[0]) }
        context.delete(objects[0])
        #expect(objects.allSatisfy { $0.isDeleted })
        #expect(objects.map { $0.calls.filter { $0 == "prepareForDeletion" }.count } == [1, 1])
        try context.save()
        #expect(try context.count(for: FetchRequest<Hooked>()) == 0)
    }

    @Test func anObjectThatDeletesItselfAsItGoesIsToldOnce() throws {
        let new = Hooked(context: context)
        let context = context
        new.prepareForDeletionBody = { context.delete($0) }
        context.delete(new)
        #expect(new.calls.filter { $0 == "prepareForDeletion" }.count == 1 && !context.hasChanges)
    }

    @Test func aDeletionIsPreparedInTheContextThatMakesIt() throws {
        let object = try saved("a")[0]
        let child = try context.newChildContext()
        let draft = try child.existingObject(with: object.objectID, as: Hooked.self)
        child.delete(draft)
        child.delete(draft)
        try child.save()
        #expect(object.isDeleted && draft.calls.filter { $0 == "prepareForDeletion" }.count == 1)
        try context.save()
        #expect(!object.calls.contains("prepareForDeletion") && object.calls.contains("validateForDelete"))
        #expect(try container.newBackgroundContext().count(for: FetchRequest<Hooked>()) == 0)
    }

    @Test func aDeletionIsPreparedAgainAfterARollback() throws {
        let object = try saved("a")[0]
        context.delete(object)
        context.rollback()
        context.delete(object)
        #expect(object.calls.filter { $0 == "prepareForDeletion" }.count == 2)
    }

    @Test func savingWithinASaveIsRefused() throws {
        let object = try saved("a")[0]
        let context = context
        var refusals: [StrataError.Code] = []
        func save() {
            do { try context.save() } catch { refusals.append((error as? StrataError)?.code ?? .corrupt) }
        }
        object.willSaveBody = { _ in save() }
        object.didSaveBody = { _ in save() }
        object.stamp = 4
        try context.save()
        #expect(refusals == [.invalidRequest, .invalidRequest])
        #expect(object.stamp == 4 && !context.hasChanges)
    }

    @Test func whatDidSaveChangesIsForTheNextSave() throws {
        let object = try saved("a")[0]
        object.didSaveBody = { if $0.stamp < 5 { $0.stamp += 4 } }
        object.stamp = 1
        try context.save()
        #expect(object.stamp == 5 && object.isUpdated && context.hasChanges)
        #expect(try object.committedValues(forKeys: ["stamp"]) == ["stamp": .integer(1)])
        let other = container.newBackgroundContext()
        #expect(try other.existingObject(with: object.objectID, as: Hooked.self).stamp == 1)
        try context.save()
        other.refreshAllObjects()
        #expect(try other.existingObject(with: object.objectID, as: Hooked.self).stamp == 5)
    }

    @Test func willSaveMayDelete() throws {
        let objects = try saved("a", "b")
        let context = context
        let new = Hooked(context: context)
        new.willSaveBody = { context.delete($0) }
        objects[0].willSaveBody = { _ in context.delete(objects[1]) }
        objects[0].stamp = 1
        try context.save()
        #expect(try context.fetch(FetchRequest<Hooked>()).map(\.name) == ["a"])
        #expect(objects[1].managedObjectContext == nil && new.managedObjectContext == nil && !context.hasChanges)
        #expect(!objects[1].isDeleted && !new.isInserted)
    }

    @Test func primitiveValuesInDidSaveWakeNobody() throws {
        let object = try saved("a")[0]
        object.willSaveBody = { object in
            do { try object.setPrimitiveValue(object.stamp + 1, forKey: "stamp") } catch { Issue.record(error) }
        }
        object.name = "b"
        try context.save()
        #expect(object.stamp == 1 && object.calls.filter { $0 == "willSave" }.count == 1)
        let other = container.newBackgroundContext()
        #expect(try other.existingObject(with: object.objectID, as: Hooked.self).stamp == 1)
    }
}
