import Foundation
import StrataGraph
import StrataModel
import Testing

@Suite(.verifiesStores) struct ChildContextTests {
    let container: PersistentContainer
    let parent: ManagedObjectContext

    init() throws {
        container = try makeContainer([Movie.self, FamilyMember.self] + graphEntities)
        parent = container.newBackgroundContext()
    }

    private func savedMovie() throws -> Movie {
        let movie = Movie(context: parent)
        movie.title = "A"
        try parent.save()
        return movie
    }

    @Test func aChildShowsWhatItsParentHasNotSaved() throws {
        let movie = try savedMovie()
        movie.title = "B"
        let new = Movie(context: parent)
        new.title = "C"
        let child = try parent.newChildContext()
        #expect(try child.fetch(FetchRequest<Movie>()).map(\.title).sorted() == ["B", "C"])
        #expect(try child.existingObject(with: movie.objectID, as: Movie.self).title == "B")
        #expect(try child.count(for: FetchRequest<Movie>(format: "title == 'B'")) == 1)
        #expect(!child.hasChanges)
    }

    @Test func aSaveGoesToTheParentAndNoFurther() throws {
        let movie = try savedMovie()
        let child = try parent.newChildContext()
        try child.existingObject(with: movie.objectID, as: Movie.self).title = "B"
        let new = Movie(context: child)
        new.title = "C"
        let head = try container.head()
        try child.save()
        #expect(!child.hasChanges)
        #expect(try container.head() == head)
        #expect(movie.title == "B" && movie.isUpdated)
        let copy = try parent.existingObject(with: new.objectID, as: Movie.self)
        #expect(copy.title == "C" && copy.isInserted)
        try parent.save()
        let fresh = container.newBackgroundContext()
        #expect(try fresh.fetch(FetchRequest<Movie>()).map(\.title).sorted() == ["B", "C"])
        #expect(try fresh.existingObject(with: new.objectID, as: Movie.self).title == "C")
    }

    @Test func aChildIsIsolatedUntilItIsRefreshed() throws {
        let movie = try savedMovie()
        let child = try parent.newChildContext()
        movie.title = "B"
        #expect(try child.existingObject(with: movie.objectID, as: Movie.self).title == "A")
        child.refreshAllObjects()
        #expect(try child.existingObject(with: movie.objectID, as: Movie.self).title == "B")
        try parent.save()
        movie.title = "C"
        child.reset()
        #expect(try child.existingObject(with: movie.objectID, as: Movie.self).title == "C")
    }

    @Test func childrenGoThreeDeep() throws {
        let one = try parent.newChildContext()
        let two = try one.newChildContext()
        let three = try two.newChildContext()
        let movie = Movie(context: three)
        movie.title = "deep"
        try three.save()
        #expect(try one.count(for: FetchRequest<Movie>()) == 0)
        try two.save()
        try one.save()
        #expect(try parent.fetch(FetchRequest<Movie>()).map(\.title) == ["deep"])
        #expect(three.parent === two && two.parent === one && one.parent === parent && parent.parent == nil)
    }

    @Test func differentPropertiesMergeAndTheSameConflict() throws {
        let movie = try savedMovie()
        let child = try parent.newChildContext()
        let draft = try child.existingObject(with: movie.objectID, as: Movie.self)
        draft.rating = 3
        movie.title = "B"
        try child.save()
        #expect(movie.title == "B" && movie.rating == 3)
        draft.title = "mine"
        movie.title = "theirs"
        let error = try #require(throws: StrataError.self) { try child.save() }
        #expect(error.code == .merge)
        let property = try #require(error.context.conflicts.first?.properties.first)
        #expect(property.name == "title" && property.base == .string("B"))
        #expect(property.theirs == .string("theirs") && property.mine == .string("mine"))
        #expect(movie.title == "theirs" && draft.title == "mine" && child.hasChanges)
        child.mergePolicy = .mergeByPropertyObjectTrump
        try child.save()
        #expect(movie.title == "mine")
        try parent.save()
        let record = try #require(try container.transactions().last?.conflicts.first)
        #expect(record.winner == .mine && record.conflict.objectID == movie.objectID)
    }

    @Test func whatTheParentDeletedIsMadeAgainOnlyIfThePolicySaysSo() throws {
        let movie = try savedMovie()
        let id = movie.objectID
        let child = try parent.newChildContext()
        let draft = try child.existingObject(with: id, as: Movie.self)
        draft.rating = 4
        parent.delete(movie)
        #expect(throws: StrataError.self) { try child.save() }
        child.mergePolicy = .mergeByPropertyObjectTrump
        try child.save()
        let again = try parent.existingObject(with: id, as: Movie.self)
        #expect(again.title == "A" && again.rating == 4)
        try parent.save()
    }

    @Test func validationFailsInTheChild() throws {
        let child = try parent.newChildContext()
        let movie = Movie(context: child)
        movie.title = "A"
        movie.rating = 6
        let error = try #require(throws: StrataError.self) { try child.save() }
        #expect(error.code == .validationNumberTooLarge)
        #expect(!parent.hasChanges)
    }

    @Test func membersMoveWithTheChild() throws {
        let playlist = Playlist(context: parent)
        playlist.name = "L"
        for title in ["1", "2", "3"] {
            let track = Track(context: parent)
            track.title = title
            playlist.tracks.append(track)
        }
        try parent.save()
        let child = try parent.newChildContext()
        let copy = try child.existingObject(with: playlist.objectID, as: Playlist.self)
        copy.tracks.move(from: 2, to: 0)
        copy.tracks.remove(at: 1)
        try child.save()
        #expect(playlist.tracks.map(\.title) == ["3", "2"])
        try parent.save()
        #expect(playlist.tracks.map(\.title) == ["3", "2"])
    }

    @Test func aChildOfThePastIsRefusedAndAScratchContextIsNot() throws {
        let movie = try savedMovie()
        let then = parent.eventNumber
        movie.title = "B"
        try parent.save()
        let past = try container.context(asOf: .event(then))
        #expect(throws: StrataError.self) { try past.newChildContext() }
        let scratch = try past.newScratchContext()
        let draft = try scratch.existingObject(with: movie.objectID, as: Movie.self)
        #expect(draft.title == "A")
        draft.title = "what if"
        #expect(try scratch.count(for: FetchRequest<Movie>(format: "title == 'what if'")) == 1)
        #expect(try scratch.changes().map(\.objectID) == [movie.objectID])
        #expect(throws: StrataError.self) { try scratch.save() }
        #expect(draft.title == "what if")
    }
}

@Suite(.verifiesStores) struct SpeculationTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        container = try makeContainer([Movie.self, FamilyMember.self])
        context = container.newBackgroundContext()
        for number in 0..<4 {
            let movie = Movie(context: context)
            movie.title = "m\(number)"
            movie.rating = Double(number)
        }
        try context.save()
    }

    private func low(_ context: ManagedObjectContext) throws -> [Movie] {
        try context.fetch(FetchRequest<Movie>(format: "rating < 2"))
    }

    @Test func triedChangesAreSeenAndDropped() throws {
        let plan = try context.whatIf { draft in
            for movie in try low(draft) { draft.delete(movie) }
            return try draft.count(for: FetchRequest<Movie>())
        }
        #expect(plan.value == 2)
        #expect(try plan.changes().map(\.kind) == [.deleted, .deleted])
        #expect(try plan.changes().first?["title"]?.before == .string("m0"))
        #expect(try low(context).count == 2 && !context.hasChanges)
        try plan.drop()
        #expect(throws: StrataError.self) { try plan.keep() }
        #expect(try low(context).count == 2 && !context.hasChanges)
    }

    @Test func triedChangesAreKept() throws {
        let plan = try context.whatIf { draft in try low(draft).forEach { $0.rating = 5 } }
        try plan.validate()
        for movie in try low(plan.context) { plan.context.delete(movie) }
        try plan.keep()
        #expect(try context.changes().count == 2)
        try context.save()
        #expect(try low(container.newBackgroundContext()).isEmpty)
    }

    @Test func triedChangesAreValidated() throws {
        let plan = try context.whatIf { draft in try low(draft).forEach { $0.rating = 9 } }
        let error = try #require(throws: StrataError.self) { try plan.validate() }
        #expect(error.code == .validationMultipleErrors && error.details.count == 2)
        #expect(throws: StrataError.self) { try plan.keep() }
        #expect(!context.hasChanges && !plan.isOver)
    }
}
