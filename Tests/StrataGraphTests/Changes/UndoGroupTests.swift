import Foundation
import StrataGraph
import StrataModel
import Testing

/// Grouping, nesting, levels and names of undo; what survives saves, and what it brings back.
@Suite(.verifiesStores) struct UndoGroupTests {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let undo = ObjectUndoManager()
    let person: Person

    init() throws {
        container = try makeContainer(graphEntities)
        context = container.newBackgroundContext()
        person = Person(context: context)
        person.name = "0"
        try context.save()
        context.undoManager = undo
    }

    /// Renames the person, one event for each name.
    private func rename(_ names: String...) {
        for name in names {
            person.name = name
            context.processPendingChanges()
        }
    }

    private func storedName() throws -> String {
        try container.newBackgroundContext().existingObject(with: person.objectID, as: Person.self).name
    }

    // MARK: By event

    @Test func whatChangesBetweenTwoEventsIsOneStep() throws {
        person.name = "1"
        person.boss = person
        person.name = "2"
        context.processPendingChanges()
        person.name = "3"
        #expect(undo.undoCount == 2)
        try undo.undo()
        #expect(person.name == "2" && person.boss === person)
        try undo.undo()
        #expect(person.name == "0" && person.boss == nil && !undo.canUndo)
        try undo.redo()
        try undo.redo()
        #expect(person.name == "3" && person.boss === person && !undo.canRedo)
    }

    @Test func aSaveEndsAnEventAndAnEventWithoutChangesIsNone() throws {
        person.name = "1"
        try context.save()
        person.name = "2"
        try context.save()
        context.processPendingChanges()
        try context.save()
        #expect(undo.undoCount == 2)
        try undo.undo()
        #expect(person.name == "1")
    }

    @Test func withoutGroupingByEventOnlyOpenGroupsAreSteps() throws {
        undo.groupsByEvent = false
        rename("1")
        #expect(!undo.canUndo)
        undo.beginUndoGrouping()
        rename("2", "3")
        undo.endUndoGrouping()
        rename("4")
        #expect(undo.undoCount == 1)
        try undo.undo()
        // The group set the name from 1 to 3; what came after it has no step of its own.
        #expect(person.name == "1")
    }

    // MARK: Groups

    @Test func groupsNestAndAreUndoneAsOne() throws {
        undo.beginUndoGrouping()
        rename("1")
        undo.beginUndoGrouping()
        #expect(undo.groupingLevel == 2)
        rename("2", "3")
        undo.endUndoGrouping()
        #expect(undo.groupingLevel == 1 && undo.undoCount == 0)
        rename("4")
        undo.endUndoGrouping()
        #expect(undo.groupingLevel == 0 && undo.undoCount == 1)
        try undo.undo()
        #expect(person.name == "0" && undo.redoCount == 1)
        try undo.redo()
        #expect(person.name == "4")
    }

    @Test func undoEndsGroupsThatAreOpen() throws {
        undo.beginUndoGrouping()
        undo.beginUndoGrouping()
        rename("1")
        #expect(undo.canUndo)
        try undo.undo()
        #expect(person.name == "0" && undo.groupingLevel == 0 && undo.redoCount == 1)
    }

    @Test func anEmptyGroupIsNoStep() {
        undo.beginUndoGrouping()
        undo.endUndoGrouping()
        undo.endUndoGrouping()
        #expect(undo.groupingLevel == 0 && !undo.canUndo && undo.undoCount == 0)
    }

    @Test func aGroupMayGoOnOverSaves() throws {
        undo.beginUndoGrouping()
        person.name = "1"
        try context.save()
        person.name = "2"
        try context.save()
        undo.endUndoGrouping()
        #expect(undo.undoCount == 1)
        try undo.undo()
        #expect(person.name == "0")
        try context.save()
        #expect(try storedName() == "0")
    }

    // MARK: Levels and names

    @Test func theOldestGroupsGoWhenThereAreMoreThanLevels() throws {
        undo.levelsOfUndo = 2
        rename("1", "2", "3")
        #expect(undo.undoCount == 2)
        try undo.undo()
        try undo.undo()
        try undo.undo()
        #expect(person.name == "1" && !undo.canUndo && undo.redoCount == 2)
        try undo.redo()
        try undo.redo()
        undo.levelsOfUndo = 1
        #expect(undo.undoCount == 1)
    }

    @Test func actionsHaveNames() throws {
        rename("1")
        undo.setActionName("Rename")
        #expect(undo.undoActionName == "Rename" && undo.redoActionName.isEmpty)
        undo.beginUndoGrouping()
        undo.setActionName("Twice")
        rename("2", "3")
        undo.endUndoGrouping()
        #expect(undo.undoActionName == "Twice")
        try undo.undo()
        #expect(undo.undoActionName == "Rename" && undo.redoActionName == "Twice")
        try undo.undo()
        #expect(undo.undoActionName.isEmpty && undo.redoActionName == "Rename")
        try undo.redo()
        #expect(undo.undoActionName == "Rename" && undo.redoActionName == "Twice")
    }

    @Test func anInnerGroupsNameIsTheOutersWhereThatHasNone() {
        undo.beginUndoGrouping()
        undo.beginUndoGrouping()
        rename("1")
        undo.setActionName("Inner")
        undo.endUndoGrouping()
        undo.endUndoGrouping()
        #expect(undo.undoActionName == "Inner")
    }

    // MARK: What is forgotten

    @Test func aNewChangeEndsWhatCouldBeRedone() throws {
        rename("1", "2")
        try undo.undo()
        #expect(undo.canRedo)
        rename("3")
        #expect(!undo.canRedo)
        try undo.redo()
        #expect(person.name == "3")
        try undo.undo()
        #expect(person.name == "1")
    }

    @Test func whatIsNotRegisteredCannotBeUndone() throws {
        rename("1")
        undo.disableUndoRegistration()
        undo.disableUndoRegistration()
        rename("2")
        undo.enableUndoRegistration()
        #expect(!undo.isUndoRegistrationEnabled)
        undo.enableUndoRegistration()
        #expect(undo.isUndoRegistrationEnabled && undo.undoCount == 1)
        rename("3")
        try undo.undo()
        #expect(person.name == "2")
        try undo.undo()
        #expect(person.name == "0")
    }

    @Test func rollbackAndResetForgetEveryStep() throws {
        rename("1", "2")
        try undo.undo()
        context.rollback()
        #expect(!undo.canUndo && !undo.canRedo && person.name == "0")
        rename("1")
        undo.removeAllActions()
        #expect(!undo.canUndo && person.name == "1")
        rename("2")
        context.reset()
        #expect(!undo.canUndo && !undo.canRedo)
    }

    // MARK: Saves, and what others did

    @Test func stepsSurviveSavesInBothDirections() throws {
        person.name = "1"
        try context.save()
        let friend = Person(context: context)
        friend.name = "friend"
        person.friends.insert(friend)
        try context.save()
        try undo.undo()
        try context.save()
        let count = FetchRequest<Person>()
        #expect(try container.newBackgroundContext().count(for: count) == 1 && person.friends.isEmpty)
        try undo.undo()
        try context.save()
        #expect(try storedName() == "0")
        try undo.redo()
        try undo.redo()
        try context.save()
        #expect(try storedName() == "1")
        let fresh = container.newBackgroundContext()
        #expect(try fresh.count(for: count) == 2)
        let again = try fresh.existingObject(with: person.objectID, as: Person.self)
        #expect(again.friends.map(\.objectID) == [friend.objectID])
    }

    @Test func aCascadeComesBackWithItsMembersInTheirOrder() throws {
        let list = Playlist(context: context)
        list.name = "Mix"
        for title in ["c", "a", "b"] {
            let track = Track(context: context)
            track.title = title
            list.tracks.append(track)
            let song = Song(context: context)
            song.title = title
            list.songs.append(song)
        }
        try context.save()
        undo.removeAllActions()
        let id = list.objectID
        context.delete(list)
        try context.save()
        #expect(try context.count(for: FetchRequest<Track>()) == 0)
        try undo.undo()
        try context.save()
        let fresh = container.newBackgroundContext()
        let again = try fresh.existingObject(with: id, as: Playlist.self)
        #expect(again.tracks.map(\.title) == ["c", "a", "b"] && again.songs.map(\.title) == ["c", "a", "b"])
        try undo.redo()
        try context.save()
        #expect(try context.count(for: FetchRequest<Playlist>()) == 0)
    }

    @Test func undoSetsWhatWasWhateverOthersSaved() throws {
        person.name = "1"
        try context.save()
        let other = container.newBackgroundContext()
        let theirs = try other.existingObject(with: person.objectID, as: Person.self)
        theirs.name = "theirs"
        try other.save()
        context.refreshAllObjects()
        #expect(person.name == "theirs")
        try undo.undo()
        #expect(person.name == "0")
        try context.save()
        #expect(try storedName() == "0")
    }

    @Test func whatOthersDeletedStaysDeleted() throws {
        person.name = "1"
        try context.save()
        let id = person.objectID
        let other = container.newBackgroundContext()
        other.delete(try other.existingObject(with: id))
        try other.save()
        context.refreshAllObjects()
        try undo.undo()
        try context.save()
        #expect(try container.newBackgroundContext().count(for: FetchRequest<Person>()) == 0)
        #expect(!undo.canUndo && undo.redoCount == 1)
    }

    @Test func listenersKnowThatItIsAnUndo() throws {
        rename("1")
        var seen: [String] = []
        let observation = context.observe(.objectsDidChange) { [undo, person] _ in
            seen.append("\(person.name) \(undo.isUndoing) \(undo.isRedoing)")
        }
        try undo.undo()
        try undo.redo()
        rename("2")
        #expect(seen == ["0 true false", "1 false true", "2 false false"])
        withExtendedLifetime(observation) {}
    }
}
