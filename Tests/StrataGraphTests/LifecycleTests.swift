import Foundation
import StrataGraph
import StrataModel
import Testing

@Suite(.verifiesStores) struct LifecycleTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        container = try makeContainer([Hooked.self])
        context = container.newBackgroundContext()
    }

    @Test func hooksAreCalledInCoreDatasOrder() throws {
        let object = Hooked(context: context)
        #expect(object.calls == ["awakeFromInsert"])
        object.name = "a"
        try context.save()
        #expect(object.calls == ["awakeFromInsert", "willSave", "validateForInsert", "didSave"])
        object.calls = []
        object.name = "b"
        try context.save()
        #expect(object.calls == ["willSave", "validateForUpdate", "didSave"])
        object.calls = []
        context.refresh(object, mergeChanges: false)
        #expect(object.isFault && object.calls == ["willTurnIntoFault", "didTurnIntoFault"])
        #expect(object.name == "b" && object.calls.last == "awakeFromFetch")
        object.calls = []
        context.delete(object)
        try context.save()
        #expect(object.calls == ["prepareForDeletion", "willSave", "validateForDelete", "didSave deleted"])
    }

    @Test func willSaveIsCalledUntilQuiet() throws {
        let first = Hooked(context: context)
        let second = Hooked(context: context)
        first.willSaveBody = { object in
            if object.stamp < 3 { object.stamp += 1 }
            second.count = 5
        }
        try context.save()
        #expect(first.stamp == 3 && second.count == 5)
        #expect(second.calls.filter { $0 == "willSave" }.count >= 2)
        let other = container.newBackgroundContext()
        #expect(try other.existingObject(with: first.objectID, as: Hooked.self).stamp == 3)
    }

    @Test func aWillSaveThatNeverComesToRestIsNamed() throws {
        let quiet = Hooked(context: context)
        quiet.name = "quiet"
        let restless = Hooked(context: context)
        restless.willSaveBody = { $0.stamp += 1 }
        let error = thrownError { try context.save() }
        #expect(
            error?.code == .persistentStoreSave && error?.context.objectID == restless.objectID,
            "\(String(describing: error))")
        restless.willSaveBody = nil
        try context.save()
    }

    @Test func objectsMadeInWillSaveAreSavedToo() throws {
        let first = Hooked(context: context)
        let context = context
        first.willSaveBody = { object in
            if object.stamp == 0 {
                object.stamp = 1
                Hooked(context: context).name = "child"
            }
        }
        try context.save()
        #expect(try context.count(for: FetchRequest<Hooked>()) == 2)
    }

    @Test func willSaveThatNeverRestsIsAnError() throws {
        let object = Hooked(context: context)
        object.willSaveBody = { $0.stamp += 1 }
        #expect(thrownError { try context.save() }?.code == .persistentStoreSave)
        object.willSaveBody = { object in
            // A primitive value is set without being told.
            do { try object.setPrimitiveValue(7, forKey: "stamp") } catch { Issue.record(error) }
        }
        try context.save()
        #expect(object.stamp == 7)
    }

    @Test func validateValueMayReplaceTheValue() throws {
        let object = Hooked(context: context)
        object.name = "  spaced "
        try context.save()
        #expect(object.name == "spaced")
    }

    @Test func everyFailureIsToldAtOnceAndNothingIsLost() throws {
        let first = Hooked(context: context)
        first.name = "far too long a name"
        first.count = 10
        let second = Hooked(context: context)
        second.count = -1
        let error = thrownError { try context.save() }
        #expect(error?.code == .validationMultipleErrors)
        #expect(
            error?.details.map(\.code) == [
                .validationStringTooLong, .validationNumberTooLarge, .validationNumberTooSmall,
            ])
        #expect(error?.details.map(\.context.objectID) == [first.objectID, first.objectID, second.objectID])
        #expect(first.count == 10 && context.insertedObjects.count == 2)
        first.name = "short"
        first.count = 9
        second.count = 0
        try context.save()
        #expect(!context.hasChanges)
    }

    @Test func validateForDeleteCanRefuse() throws {
        let object = Hooked(context: context)
        object.name = "kept"
        try context.save()
        context.delete(object)
        let error = thrownError { try context.save() }
        #expect(error?.message == "It must stay." && error?.context.objectID == object.objectID)
        context.rollback()
        #expect(!object.isDeleted && object.name == "kept" && !context.hasChanges)
        object.name = "free"
        context.delete(object)
        #expect(object.isDeleted)
        try context.save()
    }
}
