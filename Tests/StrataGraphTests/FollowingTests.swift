import Foundation
import StrataGraph
import StrataModel
import Testing

/// Contexts that move on, and contexts that stay.
@Suite(.verifiesStores) struct FollowingTests {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let other: ManagedObjectContext
    let person: Person

    init() throws {
        container = try makeContainer(graphEntities)
        context = container.newBackgroundContext()
        other = container.newBackgroundContext()
        person = Person(context: context)
        person.name = "a"
        try context.save()
        other.refreshAllObjects()
    }

    private func saveElsewhere(_ name: String) throws {
        try other.existingObject(with: person.objectID, as: Person.self).name = name
        try other.save()
    }

    @Test func aPinnedContextStaysUntilItIsTold() throws {
        context.automaticallyMergesChangesFromParent = true
        context.pin()
        let before = context.eventNumber
        try saveElsewhere("b")
        _ = try context.fetch(FetchRequest<Person>())
        context.refreshAllObjects()
        context.refresh(person, mergeChanges: false)
        #expect(context.eventNumber == before && person.name == "a")
        context.unpin()
        #expect(context.eventNumber > before && person.name == "b")
    }

    @Test func mergeChangesMovesToWhatAnotherContextSaved() throws {
        var saved: ContextChanges?
        let observation = other.observe(.didSave) { saved = $0 }
        try saveElsewhere("b")
        let first = try #require(saved)
        try saveElsewhere("c")
        try context.mergeChanges(from: first)
        #expect(context.eventNumber == first.eventNumber && person.name == "b")
        let newest = try #require(try container.transactions().last)
        try context.mergeChanges(from: newest.number)
        #expect(context.eventNumber == newest.lastEvent && person.name == "c")
        // Never back.
        try context.mergeChanges(from: first)
        #expect(context.eventNumber == newest.lastEvent)
        try saveElsewhere("d")
        try context.mergeChanges(fromObjectIDs: [person.objectID])
        #expect(person.name == "d")
        withExtendedLifetime(observation) {}
    }

    @Test func aContextOfThePastIsNotMoved() throws {
        let past = try container.context(asOf: .event(context.eventNumber))
        #expect(thrownError { try past.mergeChanges(fromObjectIDs: []) }?.code == .readOnly)
    }

    /// Different properties of one object: theirs is shown beside mine at once, and nothing is in conflict.
    @Test func aChangedObjectTakesWhatOthersSavedInOtherProperties() throws {
        person.name = "mine"
        let boss = try other.existingObject(with: person.objectID, as: Person.self)
        boss.boss = boss
        try other.save()
        context.refreshAllObjects()
        #expect(person.name == "mine" && person.boss === person && person.reports.count == 1)
        try context.save()
        #expect(person.name == "mine" && person.boss === person)
    }

    /// The same property: mine stays, and the save finds the conflict.
    @Test func aConflictIsKeptForTheSave() throws {
        person.name = "mine"
        try saveElsewhere("theirs")
        context.refreshAllObjects()
        #expect(person.name == "mine")
        #expect(thrownError { try context.save() }?.code == .merge)
        context.rollback()
        #expect(person.name == "theirs")
    }

    /// A clean object that others deleted is told as deleted, and is; one that comes back is there again.
    @Test func whatOthersDeletedIsDeletedAfterTheMerge() throws {
        var heard: [ContextChanges] = []
        let observation = context.observe(.didMerge) { heard.append($0) }
        let child = try context.newChildContext()
        let copy = try child.existingObject(with: person.objectID, as: Person.self)
        #expect(copy.name == "a" && !person.isFault)
        other.delete(try other.existingObject(with: person.objectID))
        try other.save()
        #expect(!person.isDeleted && person.name == "a")
        context.refreshAllObjects()
        #expect(heard.count == 1 && heard.first?.deleted == [person] && heard.first?.refreshed == [])
        #expect(heard.first?.deletedObjectIDs == [person.objectID])
        #expect(person.isDeleted && !person.hasChanges && !context.hasChanges)
        #expect(person.name == "a")
        #expect(thrownError { _ = try context.existingObject(with: person.objectID) }?.code == .referentialIntegrity)
        var told: ContextChanges?
        let childObservation = child.observe(.didMerge) { told = $0 }
        child.refreshAllObjects()
        #expect(copy.isDeleted && told?.deleted == [copy])
        withExtendedLifetime((observation, childObservation)) {}
    }

    /// What the parent takes back is there again in the child.
    @Test func aChildSeesADeletionThatIsTakenBack() throws {
        let child = try context.newChildContext()
        let copy = try child.existingObject(with: person.objectID, as: Person.self)
        context.delete(person)
        child.refreshAllObjects()
        #expect(copy.isDeleted)
        context.rollback()
        child.refreshAllObjects()
        #expect(!copy.isDeleted && copy.name == "a")
    }

    /// Both take the same member out: it counts as gone once.
    @Test func aMemberThatBothTakeOutIsGoneOnce() throws {
        let friend = Person(context: context)
        friend.name = "f"
        person.friends.insert(friend)
        friend.boss = person
        try context.save()
        other.refreshAllObjects()
        person.friends.remove(friend)
        friend.boss = nil
        let theirs = try other.existingObject(with: person.objectID, as: Person.self)
        theirs.friends.removeAll()
        theirs.reports.removeAll()
        try other.save()
        context.refreshAllObjects()
        #expect(person.friends.isEmpty && person.friends.count == 0 && friend.friends.count == 0)
        #expect(person.reports.isEmpty && person.reports.count == 0)
        try context.save()
    }

    // MARK: Expected revisions

    @Test func aSaveThatExpectsARevisionIsRefusedWhenOthersMovedIt() throws {
        let seen = try context.revision(of: person)
        let mine = Person(context: context)
        mine.name = "depends on the other"
        try saveElsewhere("b")
        let error = thrownError { try context.save(expecting: [person.objectID: seen]) }
        #expect(error?.code == .persistentStoreSaveConflicts)
        #expect(error?.context.conflictingObjectIDs == [person.objectID])
        #expect(context.hasChanges)
        context.refreshAllObjects()
        try context.save(expecting: [person.objectID: try context.revision(of: person)])
        #expect(!context.hasChanges)
    }

    @Test func expectationsHoldForTheirSaveOnlyAndWithoutChangesToo() throws {
        let seen = try context.revision(of: person)
        try context.save(expecting: [person.objectID: seen])
        try saveElsewhere("b")
        #expect(
            thrownError { try context.save(expecting: [person.objectID: seen]) }?.code
                == .persistentStoreSaveConflicts)
        Person(context: context).name = "free"
        try context.save()
    }

    @Test func theContextsOwnSavesMoveARevision() throws {
        let first = try context.revision(of: person)
        person.name = "b"
        #expect(try context.revision(of: person) == first)
        try context.save(expecting: [person.objectID: first])
        let second = try context.revision(of: person)
        #expect(second != first && second == context.eventNumber)
        person.name = "c"
        try context.save(expecting: [person.objectID: second])
    }

    @Test func anObjectThatMustNotBeThere() throws {
        try other.delete(other.existingObject(with: person.objectID))
        try other.save()
        Person(context: context).name = "x"
        try context.save(expecting: [person.objectID: nil])
    }

    // MARK: Frozen objects

    @Test func aFrozenObjectStaysAsItWas() async throws {
        let friend = Employee(context: context)
        friend.name = "f"
        friend.salary = 12
        friend.boss = person
        let frozen = try friend.frozen()
        let ofBoss = try person.frozen()
        try context.save()
        friend.name = "other"
        context.delete(person)
        try context.save()
        let read = await Task.detached {
            (frozen.name, frozen.salary, frozen.boss, ofBoss.name)
        }.value
        #expect(read == ("f", 12, person.objectID, "a"))
        // Members that were pending then are still what they were.
        #expect(try ofBoss.objectIDs(of: \.reports) == [friend.objectID])
        #expect(try frozen.value(forKey: "name") == .string("f"))
        #expect(try frozen.value(forKey: "boss") == .objectID(person.objectID))
        #expect(try ofBoss.objectIDs(forKey: "reports") == [friend.objectID])
        #expect(thrownError { _ = try frozen.value(forKey: "nothing") }?.code == .unknownKey)
        #expect(thrownError { _ = try person.frozen() }?.code == .deletedObject)
        #expect(frozen == frozen && frozen.entityName == "Employee")
    }

    // MARK: Ported code

    @Test func performRunsAtOnceWhereTheContextIs() async throws {
        var order: [Int] = []
        context.performAndWait { order.append(1) }
        await context.perform { order.append(2) }
        let count = try await container.performBackgroundTask { context in
            try context.performAndWait { try context.count(for: FetchRequest<Person>()) }
        }
        let actor = ContextActor(adopting: container.newBackgroundContext())
        let again = try await actor.perform { context in
            try context.performAndWait { try context.count(for: FetchRequest<Person>()) }
        }
        #expect(order == [1, 2] && count == 1 && again == 1)
    }
}
