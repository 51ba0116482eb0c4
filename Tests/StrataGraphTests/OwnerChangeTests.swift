import Foundation
import StrataGraph
import StrataModel
import Testing

/// An object whose to-many changed because of its other end is updated, as in Core Data.
@Suite(.verifiesStores) struct OwnerChangeTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        container = try makeContainer([Crew.self, Sailor.self])
        context = container.newBackgroundContext()
    }

    private func crew(_ name: String, _ sailors: [String] = []) -> Crew {
        let crew = Crew(context: context)
        crew.name = name
        for name in sailors { sailor(name).crew = crew }
        return crew
    }

    private func sailor(_ name: String) -> Sailor {
        let sailor = Sailor(context: context)
        sailor.name = name
        return sailor
    }

    private func savedCrew(_ sailors: String...) throws -> Crew {
        let crew = crew("A", sailors)
        try context.save()
        crew.calls = []
        return crew
    }

    @Test func aNewMemberUpdatesItsOwner() throws {
        let crew = try savedCrew()
        let sailor = sailor("Ann")
        #expect(!crew.isUpdated)
        sailor.crew = crew
        #expect(crew.isUpdated && crew.hasChanges && context.updatedObjects == [crew])
        #expect(!crew.hasPersistentChangedValues)
        try context.save()
        #expect(crew.calls == ["willSave", "validateForUpdate"])
        #expect(!crew.isUpdated && !context.hasChanges)
    }

    @Test func bothOwnersOfAMovedMemberAreUpdated() throws {
        let first = try savedCrew("Ann"), second = try savedCrew()
        let ann = try #require(first.sailors.first)
        try ann.setValue(second, forKey: "crew")
        #expect(context.updatedObjects == [ann, first, second])
        try context.save()
        #expect(first.calls == ["willSave", "validateForUpdate"] && second.calls == first.calls)
    }

    @Test func anOwnerThatIsNotInMemoryIsUpdatedWithoutBeingRead() throws {
        let first = try savedCrew("Ann")
        let other = container.newBackgroundContext()
        let ann = try #require(try other.fetch(FetchRequest<Sailor>()).first)
        ann.crew = nil
        let owner = try #require(other.registeredObject(for: first.objectID) as? Crew)
        #expect(owner.isUpdated && owner.isFault)
        try other.save()
        #expect(owner.calls.contains("willSave"))
    }

    @Test func reorderingUpdatesTheOwner() throws {
        let crew = try savedCrew("Ann", "Bob")
        crew.sailors.move(from: 1, to: 0)
        #expect(crew.isUpdated && context.updatedObjects.contains(crew))
        try context.save()
        #expect(crew.calls == ["willSave", "validateForUpdate"])
        #expect(crew.sailors.map(\.name) == ["Bob", "Ann"])
    }

    @Test func theOwnersOwnRuleIsChecked() throws {
        let crew = try savedCrew("Ann", "Bob", "Cy")
        sailor("Dee").crew = crew
        let error = thrownError { try context.save() }
        #expect(error?.cause as? TooManySailors == TooManySailors())
        #expect(error?.message == "TooManySailors(): Crew is not valid.")
        #expect(error?.context.objectID == crew.objectID)
        context.rollback()
        #expect(!crew.isUpdated && crew.sailors.count == 3)
    }

    @Test func theOwnerIsAnnouncedWithItsMembers() throws {
        let crew = try savedCrew()
        var announced: [ContextEvent: Set<ManagedObject>] = [:]
        let observations = [ContextEvent.objectsDidChange, .willSave, .didSave].map { event in
            context.observe(event) { announced[event, default: []].formUnion($0.updated) }
        }
        sailor("Ann").crew = crew
        context.processPendingChanges()
        #expect(announced[.objectsDidChange] == [crew])
        try context.save()
        #expect(announced[.willSave] == [crew] && announced[.didSave] == [crew])
        withExtendedLifetime(observations) {}
    }

    @Test func aDeletedMemberUpdatesItsOwners() throws {
        let crew = try savedCrew("Ann")
        let ann = try #require(crew.sailors.first)
        ann.watches.insert(crew)
        try context.save()
        crew.calls = []
        context.delete(ann)
        #expect(context.updatedObjects == [crew])
        try context.save()
        #expect(crew.calls == ["willSave", "validateForUpdate"])
        #expect(crew.sailors.isEmpty && crew.watch.isEmpty)
    }

    @Test func aDeletedOwnerIsNotUpdated() throws {
        let crew = try savedCrew("Ann")
        let ann = try #require(crew.sailors.first)
        context.delete(crew)
        #expect(context.updatedObjects == [ann] && context.deletedObjects == [crew])
        let new = self.crew("B")
        ann.crew = new
        context.delete(new)
        #expect(!context.updatedObjects.contains(new) && !new.hasChanges)
        try context.save()
        #expect(ann.crew == nil)
    }

    @Test func membersOfAChildContextUpdateTheOwnerInTheParent() throws {
        let crew = try savedCrew()
        let child = try context.newChildContext()
        let ann = Sailor(context: child)
        ann.crew = child.object(with: crew.objectID) as? Crew
        try child.save()
        #expect(crew.isUpdated && crew.sailors.count == 1)
        try context.save()
        #expect(crew.calls == ["willSave", "validateForUpdate"])
    }

    @Test func validateForUpdateChecksBoundsToo() throws {
        let crew = try savedCrew("Ann", "Bob")
        for sailor in crew.sailors { sailor.watches.insert(crew) }
        let code = StrataError.Code.validationRelationshipExceedsMaximumCount
        #expect(thrownError { try crew.validateForUpdate() }?.code == code)
        let error = thrownError { try context.save() }
        #expect(error?.code == code && error?.context.objectID == crew.objectID && error?.context.key == "watch")
        let new = self.crew("B")
        for sailor in crew.sailors { new.watch.insert(sailor) }
        #expect(thrownError { try new.validateForInsert() }?.code == code)
        context.rollback()
    }

    // MARK: New objects that are deleted, and changes that are taken back

    @Test func aNewObjectThatIsDeletedIsGone() throws {
        let crew = crew("A")
        let id = crew.objectID
        context.delete(crew)
        #expect(crew.isDeleted && !crew.isInserted && !crew.hasChanges)
        #expect(context.registeredObject(for: id) == nil && !context.registeredObjects.contains(crew))
        #expect(!context.hasChanges && context.insertedObjects.isEmpty && context.deletedObjects.isEmpty)
        try context.save()
        #expect(!crew.isDeleted && crew.managedObjectContext == nil)
    }

    @Test func aDeletedNewObjectThatComesBackIsThere() throws {
        context.undoManager = ObjectUndoManager()
        let crew = crew("A")
        context.processPendingChanges()
        context.delete(crew)
        try context.undoManager?.undo()
        #expect(!crew.isDeleted && crew.isInserted && context.registeredObject(for: crew.objectID) === crew)
    }

    @Test func undoToTheSavedStateLeavesNoChanges() throws {
        let crew = try savedCrew("Ann", "Bob"), other = try savedCrew()
        let undo = ObjectUndoManager()
        context.undoManager = undo
        let ann = crew.sailors[0]
        crew.name = "B"
        ann.crew = other
        crew.sailors.insert(sailor("Dee"), at: 0)
        #expect(try context.fetch(FetchRequest<Crew>().where { $0.name == "B" }).count == 1)
        try undo.undo()
        #expect(!crew.isUpdated && !other.isUpdated && !ann.isUpdated)
        #expect(!context.hasChanges && context.updatedObjects.isEmpty)
        #expect(try context.fetch(FetchRequest<Crew>().where { $0.name == "B" }).isEmpty)
        #expect(crew.sailors.map(\.name) == ["Ann", "Bob"] && crew.name == "A")
        try undo.redo()
        #expect(crew.isUpdated && other.isUpdated && ann.isUpdated && crew.name == "B")
        #expect(crew.sailors.map(\.name) == ["Dee", "Bob"])
        try context.save()
        try undo.undo()
        #expect(context.hasChanges && crew.isUpdated)
        try context.save()
        #expect(crew.sailors.map(\.name) == ["Ann", "Bob"])
    }

    @Test func undoAmidOtherChangesKeepsThem() throws {
        let crew = try savedCrew(), other = try savedCrew()
        let undo = ObjectUndoManager()
        context.undoManager = undo
        other.name = "C"
        context.processPendingChanges()
        crew.name = "B"
        try undo.undo()
        #expect(!crew.isUpdated && other.isUpdated && context.hasChanges)
    }
}
