import Foundation
import Strata
import Testing

/// What the articles for people from Core Data and SwiftData say, statement by statement.
@Suite struct StatementTests {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let others: ManagedObjectContext
    let alien: Movie

    init() throws {
        container = try makeOpenContainer([Movie.self, FamilyMember.self])
        context = container.newBackgroundContext()
        alien = Movie(context: context)
        alien.title = "Alien"
        try context.save()
        others = container.newBackgroundContext()
    }

    private func theirs() throws -> Movie { try others.existingObject(with: alien.objectID, as: Movie.self) }

    @discardableResult
    private func insertElsewhere(_ title: String) throws -> ObjectID {
        let movie = Movie(context: others)
        movie.title = title
        try others.save()
        return movie.objectID
    }

    @Test func aContextDoesNotSeeWhatOthersSavedUntilItMoves() throws {
        let all = FetchRequest<Movie>()
        try insertElsewhere("Solaris")
        #expect(try context.count(for: all) == 1)
        #expect(try context.fetch(all) == [alien])
        alien.rating = 3
        try context.save()
        #expect(try context.count(for: all) == 2)
        try insertElsewhere("Mirror")
        context.automaticallyMergesChangesFromParent = true
        #expect(try context.count(for: all) == 3)
    }

    @Test func refreshingKeepsUnsavedChangesAndTakesOtherProperties() throws {
        try theirs().title = "Aliens"
        try others.save()
        alien.rating = 3
        context.refreshAllObjects()
        #expect(alien.title == "Aliens")
        #expect(alien.rating == 3)
        #expect(alien.hasChanges)
    }

    @Test func refreshingLeavesMineWhereBothChangedTheSame() throws {
        try theirs().rating = 5
        try others.save()
        alien.rating = 3
        context.refreshAllObjects()
        #expect(alien.rating == 3)
        let error = #expect(throws: StrataError.self) { try context.save() }
        #expect(error?.code == .merge)
    }

    @Test func refreshingMakesNoFaultsOfObjectsThatNoOneChanged() throws {
        try insertElsewhere("Solaris")
        #expect(alien.title == "Alien")
        context.refreshAllObjects()
        #expect(!alien.isFault)
    }

    @Test func refreshingDoesNotFetchAgain() throws {
        let movies = try context.fetch(FetchRequest<Movie>())
        try insertElsewhere("Solaris")
        others.delete(try theirs())
        try others.save()
        context.refreshAllObjects()
        #expect(movies.count == 1)
        #expect(movies[0].isDeleted)
    }

    @Test func refreshingMovesNoPinnedContextAndNoParent() throws {
        let child = try context.newChildContext()
        context.pin()
        try insertElsewhere("Solaris")
        context.refreshAllObjects()
        child.refreshAllObjects()
        #expect(try context.count(for: FetchRequest<Movie>()) == 1)
        #expect(try child.count(for: FetchRequest<Movie>()) == 1)
        context.unpin()
        child.refreshAllObjects()
        #expect(try context.count(for: FetchRequest<Movie>()) == 1)
    }

    @Test func aBatchShowsInItsContextAtOnce() throws {
        try context.execute(BatchUpdateRequest<Movie>().setting(\.rating, to: 4))
        #expect(alien.rating == 4)
    }

    @Test func aRequiredTextReadsEmptyUntilItIsSet() throws {
        let movie = Movie(context: context)
        #expect(movie.title == "")
        let error = #expect(throws: StrataError.self) { try context.save() }
        #expect(error?.code == .validationMissingMandatoryProperty)
    }
}
