import Foundation
import StrataGraph
import StrataModel
import Testing

/// `changedValuesForCurrentEvent()`: what the present event changed, with the values before it.
@Suite(.verifiesStores) struct CurrentEventTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        container = try makeContainer()
        context = container.newBackgroundContext()
    }

    private func savedMovie() throws -> Movie {
        let movie = Movie(context: context)
        movie.title = "A"
        try context.save()
        return movie
    }

    @Test func anEventEndsWithProcessPendingChanges() throws {
        let movie = try savedMovie()
        let other = try savedMovie()
        #expect(movie.changedValuesForCurrentEvent().isEmpty)
        movie.title = "B"
        movie.title = "C"
        #expect(movie.changedValuesForCurrentEvent() == ["title": "A"])
        context.processPendingChanges()
        #expect(movie.changedValuesForCurrentEvent().isEmpty && movie.changedValues == ["title": "C"])
        movie.rating = 2
        movie.title = "D"
        other.title = "X"
        #expect(movie.changedValuesForCurrentEvent() == ["title": "C", "rating": 0.0])
        #expect(other.changedValuesForCurrentEvent() == ["title": "A"])
        // A fetch amid the event ends nothing.
        _ = try context.fetch(FetchRequest<Movie>())
        movie.title = "E"
        movie.rating = 0
        #expect(movie.changedValuesForCurrentEvent() == ["title": "C"])
        context.processPendingChanges()
        context.processPendingChanges()
        #expect(movie.changedValuesForCurrentEvent().isEmpty && other.changedValuesForCurrentEvent().isEmpty)
        movie.title = "E"
        #expect(movie.changedValuesForCurrentEvent().isEmpty, "It has the value that it had.")
    }

    @Test func aNewObjectBeginsWithItsDefaults() throws {
        let early = Movie(context: context)
        early.title = "early"
        #expect(early.changedValuesForCurrentEvent() == ["title": .null])
        context.processPendingChanges()
        #expect(early.changedValuesForCurrentEvent().isEmpty)
        let late = Movie(context: context)
        late.title = "late"
        early.rating = 1
        #expect(late.changedValuesForCurrentEvent() == ["title": .null])
        #expect(early.changedValuesForCurrentEvent() == ["rating": 0.0])
    }

    @Test func aSaveAndARollbackBeginAnew() throws {
        let movie = try savedMovie()
        movie.title = "B"
        context.processPendingChanges()
        movie.title = "C"
        try context.save()
        #expect(movie.changedValuesForCurrentEvent().isEmpty)
        movie.title = "D"
        #expect(movie.changedValuesForCurrentEvent() == ["title": "C"])
        context.processPendingChanges()
        context.rollback()
        #expect(movie.changedValuesForCurrentEvent().isEmpty)
        movie.title = "E"
        #expect(movie.changedValuesForCurrentEvent() == ["title": "C"])
    }

    @Test func toOnesAreAmongThem() throws {
        let movie = try savedMovie()
        let owner = FamilyMember(context: context)
        movie.familyMember = owner
        context.processPendingChanges()
        movie.familyMember = nil
        #expect(movie.changedValuesForCurrentEvent() == ["familyMember": .objectID(owner.objectID)])
    }
}
