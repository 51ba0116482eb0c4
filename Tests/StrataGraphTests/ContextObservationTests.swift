import Foundation
import StrataGraph
import StrataModel
import Testing

@Suite(.verifiesStores) struct ContextObservationTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        container = try makeContainer()
        context = container.newBackgroundContext()
    }

    private final class Heard {
        var all: [ContextChanges] = []
        var events: [ContextEvent] { all.map(\.event) }
    }

    private func listen(_ heard: Heard) -> [ContextObservation] {
        ContextEvent.allCases.map { event in context.observe(event) { heard.all.append($0) } }
    }

    @Test func aSaveIsAnnouncedWithItsObjects() throws {
        let heard = Heard()
        let observations = listen(heard)
        let kept = Movie(context: context), gone = Movie(context: context)
        (kept.title, gone.title) = ("A", "B")
        try context.save()
        #expect(heard.events == [.objectsDidChange, .willSave, .didSave])
        #expect(heard.all.allSatisfy { $0.inserted == [kept, gone] && $0.updated.isEmpty && $0.deleted.isEmpty })
        #expect(heard.all.last?.eventNumber == context.eventNumber)
        heard.all = []
        kept.rating = 2
        context.delete(gone)
        try context.save()
        #expect(heard.events == [.objectsDidChange, .willSave, .didSave])
        #expect(heard.all.allSatisfy { $0.updated == [kept] && $0.deletedObjectIDs == [gone.objectID] })
        withExtendedLifetime(observations) {}
    }

    @Test func eachChangeIsAnnouncedOnce() {
        let heard = Heard()
        let observations = listen(heard)
        let movie = Movie(context: context)
        context.processPendingChanges()
        #expect(heard.all.map(\.inserted) == [[movie]])
        context.processPendingChanges()
        #expect(heard.all.count == 1)
        movie.title = "A"
        movie.rating = 1
        context.processPendingChanges()
        #expect(heard.all.count == 2 && heard.all.last?.updated == [movie])
        context.delete(movie)
        context.processPendingChanges()
        #expect(heard.all.last?.deleted == [movie])
        withExtendedLifetime(observations) {}
    }

    @Test func rollbackAndWhatOthersSavedAreAnnounced() throws {
        let movie = Movie(context: context)
        movie.title = "A"
        try context.save()
        let heard = Heard()
        let observations = listen(heard)
        movie.rating = 3
        context.rollback()
        #expect(heard.all.last?.refreshed == [movie])
        let other = container.newBackgroundContext()
        try other.existingObject(with: movie.objectID, as: Movie.self).rating = 4
        try other.save()
        context.refreshAllObjects()
        #expect(heard.events.last == .didMerge && heard.all.last?.refreshedObjectIDs == [movie.objectID])
        #expect(movie.rating == 4)
        withExtendedLifetime(observations) {}
    }

    @Test func aHandlerMaySaveAgain() throws {
        let movie = Movie(context: context)
        movie.title = "A"
        var count = 0
        let observation = context.observe(.didSave) { [context] _ in
            count += 1
            if count == 1 {
                movie.rating = 1
                do { try context.save() } catch { Issue.record(error) }
            }
        }
        try context.save()
        #expect(count == 2 && !context.hasChanges)
        withExtendedLifetime(observation) {}
    }

    @Test func whoLetsGoHearsNothing() throws {
        let heard = Heard()
        var observations = listen(heard)
        observations.removeAll()
        let cancelled = context.observe(.didSave) { heard.all.append($0) }
        cancelled.cancel()
        Movie(context: context).title = "A"
        try context.save()
        #expect(heard.all.isEmpty)
    }
}
