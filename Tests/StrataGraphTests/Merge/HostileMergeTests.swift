import Foundation
import StrataGraph
import StrataModel
import Testing

/// Uses of merging, undo and children that nobody plans.
@Suite(.verifiesStores) struct HostileMergeTests: TwoContextSuite {
    let container: PersistentContainer
    let mine: ManagedObjectContext
    let theirs: ManagedObjectContext

    init() throws { (container, mine, theirs) = try makeTwoContexts() }

    private struct Refusal: Error {}

    private func same<Object: ManagedObject>(_ object: Object, in context: ManagedObjectContext) throws -> Object {
        try context.existingObject(with: object.objectID, as: Object.self)
    }

    // MARK: Resolvers

    @Test func whatAResolverThrowsTheSaveThrowsAndNothingHasMoved() throws {
        let (a, b) = try sharedMovie()
        let other = Movie(context: mine)
        other.title = "Other"
        try mine.save()
        theirs.refreshAllObjects()
        (a.title, a.rating) = ("Mine", 1)
        (b.title, b.rating) = ("Theirs", 2)
        try same(other, in: theirs).rating = 3
        other.title = "Mine too"
        try theirs.save()
        let place = mine.eventNumber
        mine.mergePolicy = .custom { conflict, _ in
            if conflict.properties.count > 1 { throw Refusal() }
            return .theirs
        }
        #expect(throws: Refusal.self) { try mine.save() }
        #expect(a.title == "Mine" && a.rating == 1 && other.rating == 0 && mine.eventNumber == place)
        #expect(mine.updatedObjects == [a, other])
        mine.mergePolicy = .mergeByPropertyObjectTrump
        try mine.save()
        #expect(a.title == "Mine" && a.rating == 1 && other.rating == 3 && other.title == "Mine too")
        // The first attempt overruled nothing.
        let conflicts = try #require(try container.transactions().last).conflicts
        #expect(
            conflicts.map(\.conflict.objectID) == [a.objectID] && conflicts.map(\.policy) == [mine.mergePolicy.name])
    }

    @Test func valuesOfAResolverThatDoNotFitLeaveTheChangesPending() throws {
        let (a, b) = try sharedMovie()
        a.title = "Mine"
        b.title = "Theirs"
        try theirs.save()
        mine.mergePolicy = .custom { _, _ in .values(["title": .integer(3)]) }
        #expect(thrownError { try mine.save() }?.code == .wrongType)
        #expect(mine.hasChanges && a.title == "Mine")
        mine.mergePolicy = .mergeByPropertyObjectTrump
        try mine.save()
        #expect(try same(a, in: container.newBackgroundContext()).title == "Mine")
    }

    // MARK: Undo

    @Test func aMergeWithinAGroupIsNoPartOfIt() throws {
        let (a, b) = try sharedMovie()
        let undo = ObjectUndoManager()
        mine.undoManager = undo
        undo.beginUndoGrouping()
        a.title = "1"
        b.rating = 4
        try theirs.save()
        mine.refreshAllObjects()
        #expect(a.rating == 4 && a.title == "1")
        a.title = "2"
        undo.endUndoGrouping()
        #expect(undo.undoCount == 1)
        try undo.undo()
        #expect(a.title == "A" && a.rating == 4)
        try undo.redo()
        #expect(a.title == "2" && a.rating == 4)
    }

    @Test func aMergeAmidAnEventLosesNoneOfItsSteps() throws {
        let (a, b) = try sharedMovie()
        let undo = ObjectUndoManager()
        mine.undoManager = undo
        a.title = "1"
        b.rating = 4
        try theirs.save()
        mine.refreshAllObjects()
        a.title = "2"
        mine.processPendingChanges()
        #expect(undo.undoCount == 1)
        try undo.undo()
        #expect(a.title == "A" && a.rating == 4)
    }

    @Test func undoInAChildSurvivesARefreshFromItsParent() throws {
        let (a, _) = try sharedMovie()
        let child = try mine.newChildContext()
        let undo = ObjectUndoManager()
        child.undoManager = undo
        let seen = try same(a, in: child)
        seen.title = "child"
        a.rating = 3
        child.refreshAllObjects()
        child.processPendingChanges()
        #expect(undo.undoCount == 1 && seen.title == "child")
        try undo.undo()
        #expect(seen.title == "A")
        #expect(!undo.canUndo)
    }

    // MARK: Handlers

    @Test func aHandlerMayRefreshAndChangeWhileAMergeIsTold() throws {
        let (a, b) = try sharedMovie()
        var told = 0
        let observation = mine.observe(.didMerge) { changes in
            told += 1
            guard told < 3 else { return }
            #expect(a.rating == Double(told) && changes.eventNumber <= mine.eventNumber)
            // Others go on meanwhile.
            b.rating = Double(told + 1)
            do { try theirs.save() } catch { Issue.record(error) }
            a.title = "told \(told)"
            mine.refreshAllObjects()
        }
        b.rating = 1
        try theirs.save()
        mine.refreshAllObjects()
        #expect(told == 3 && a.rating == 3 && a.title == "told 2")
        try mine.save()
        #expect(try same(a, in: container.newBackgroundContext()).title == "told 2")
        withExtendedLifetime(observation) {}
    }

    @Test func aHandlerMayRefreshWhileASaveMerges() throws {
        let (a, b) = try sharedMovie()
        let other = Movie(context: mine)
        other.title = "Other"
        try mine.save()
        theirs.refreshAllObjects()
        let seen = try same(other, in: theirs)
        mine.mergePolicy = .mergeByPropertyObjectTrump
        let observation = mine.observe(.didMerge) { _ in mine.refreshAllObjects() }
        _ = other.title
        a.title = "Mine"
        (b.title, seen.title) = ("Theirs", "Their other")
        try theirs.save()
        try mine.save()
        #expect(a.title == "Mine" && other.title == "Their other" && !mine.hasChanges)
        withExtendedLifetime(observation) {}
    }

    // MARK: Moves in an ordered relationship

    @Test func bothMoveMembersOfOneList() throws {
        let list = Playlist(context: mine)
        list.name = "list"
        for title in ["a", "b", "c", "d"] {
            let track = Track(context: mine), song = Song(context: mine)
            (track.title, song.title) = (title, title)
            list.tracks.append(track)
            list.songs.append(song)
        }
        try mine.save()
        theirs.refreshAllObjects()
        let seen = try same(list, in: theirs)
        // Different members: both moves are made. The same member: mine stands.
        list.tracks.move(from: 3, to: 0)
        seen.tracks.move(from: 0, to: 3)
        list.songs.move(from: 0, to: 2)
        seen.songs.move(from: 0, to: 3)
        try theirs.save()
        try mine.save()
        for context in [mine, container.newBackgroundContext()] {
            let list = try same(list, in: context)
            #expect(list.tracks.map(\.title) == ["d", "b", "c", "a"])
            #expect(list.songs.map(\.title) == ["b", "c", "a", "d"])
        }
        #expect(try #require(try container.transactions().last).conflicts.isEmpty)
    }

    @Test func oneMovesAMemberThatTheOtherTakesOut() throws {
        let list = Playlist(context: mine)
        list.name = "list"
        for title in ["a", "b", "c"] {
            let track = Track(context: mine), song = Song(context: mine)
            (track.title, song.title) = (title, title)
            list.tracks.append(track)
            list.songs.append(song)
        }
        try mine.save()
        theirs.refreshAllObjects()
        let seen = try same(list, in: theirs)
        list.tracks.move(from: 2, to: 0)
        list.songs.move(from: 2, to: 0)
        seen.tracks.remove(seen.tracks[2])
        seen.songs.remove(seen.songs[2])
        try theirs.save()
        try mine.save()
        for context in [mine, container.newBackgroundContext()] {
            let list = try same(list, in: context)
            #expect(list.tracks.map(\.title) == ["a", "b"] && list.tracks.count == 2)
            #expect(list.songs.map(\.title) == ["a", "b"] && list.songs.count == 2)
        }
    }

    // MARK: Delete rules beside others

    @Test func whatDeniesADeletionMayComeFromOthers() throws {
        let club = Club(context: mine)
        club.title = "club"
        try mine.save()
        theirs.refreshAllObjects()
        let rule = Rule(context: theirs)
        rule.text = "no running"
        rule.club = try same(club, in: theirs)
        mine.delete(club)
        try theirs.save()
        let error = thrownError { try mine.save() }
        #expect(error?.code == .validationRelationshipDeniedDelete, "\(error as Any)")
        mine.rollback()
        mine.refreshAllObjects()
        #expect(club.rules.count == 1)
    }

    // MARK: Children and speculation

    @Test func aTrialInAChildIsKeptThere() throws {
        let (a, _) = try sharedMovie()
        let child = try mine.newChildContext()
        let seen = try same(a, in: child)
        seen.rating = 1
        let plan = try child.whatIf { draft in
            try same(seen, in: draft).title = "trial"
            Movie(context: draft).title = "new"
        }
        #expect(try plan.changes().count == 2 && seen.title == "A")
        try plan.keep()
        #expect(seen.title == "trial" && a.title == "A")
        try child.save()
        #expect(a.title == "trial" && a.rating == 1)
        try mine.save()
        #expect(try container.newBackgroundContext().count(for: FetchRequest<Movie>()) == 2)
        #expect(thrownError { try plan.keep() }?.code == .invalidRequest)
    }

    @Test func aTrialMeetsWhatItsContextChangedMeanwhile() throws {
        let (a, _) = try sharedMovie()
        let plan = try mine.whatIf { draft in try same(a, in: draft).title = "trial" }
        a.title = "mine"
        #expect(thrownError { try plan.keep() }?.code == .merge)
        #expect(a.title == "mine" && !plan.isOver)
        plan.context.mergePolicy = .mergeByPropertyObjectTrump
        try plan.keep()
        #expect(a.title == "trial")
    }

    @Test func aParentMayBeResetUnderItsChild() throws {
        let (a, _) = try sharedMovie()
        let child = try mine.newChildContext()
        let seen = try same(a, in: child)
        seen.title = "child"
        let added = Movie(context: child)
        added.title = "added"
        mine.reset()
        try child.save()
        #expect(try same(a, in: mine).title == "child")
        try mine.save()
        let fresh = container.newBackgroundContext()
        #expect(try same(a, in: fresh).title == "child" && same(added, in: fresh).title == "added")
    }

    @Test func expectationsHoldForAChildToo() throws {
        let (a, b) = try sharedMovie()
        let child = try mine.newChildContext()
        let seen = try same(a, in: child)
        let revision = try child.revision(of: seen)
        b.rating = 3
        try theirs.save()
        Movie(context: child).title = "relies on it"
        let error = thrownError { try child.save(expecting: [seen.objectID: revision]) }
        #expect(error?.code == .persistentStoreSaveConflicts)
        #expect(child.hasChanges && !mine.hasChanges)
    }

    // MARK: Contexts that do not belong together

    @Test func changesOfAnotherStoreDoNotMoveAContextBeyondItsOwn() throws {
        let (otherContainer, other, _) = try makeTwoContexts()
        for number in 0..<20 {
            Movie(context: other).title = "\(number)"
            try other.save()
        }
        let place = mine.eventNumber
        let transaction = try #require(try otherContainer.transactions().last).number
        #expect(thrownError { try mine.mergeChanges(from: transaction) }?.code == .futureEvent)
        #expect(mine.eventNumber == place)
    }
}
