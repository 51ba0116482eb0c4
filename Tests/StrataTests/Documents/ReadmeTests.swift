import Foundation
import Strata
import Testing

/// Makes the container in memory that the page makes on disk.
private func PersistentContainer(name: String, entities: [ManagedObject.Type]) throws -> Strata.PersistentContainer {
    try Strata.PersistentContainer(
        name: name, entities: entities, at: .inMemory, options: .init(durability: .disposable))
}

/// The examples of README, as they stand there.
@Suite struct ReadmeTests {
    @Entity final class Movie: ManagedObject {
        @Attribute(.indexed) var title: String
        @Attribute(.range(0...5)) var rating: Double = 0
    }

    @Test func theFirstExampleSavesAndAsks() throws {
        let container = try PersistentContainer(name: "Movies", entities: [Movie.self])
        try container.loadPersistentStores()
        let context = container.newBackgroundContext()

        let movie = Movie(context: context)
        movie.title = "Alien"
        movie.rating = 4.5
        try context.save()

        let good = try context.fetch(FetchRequest<Movie>().where { $0.rating > 4 })
        let past = try container.context(asOf: .date(.now - 3600))  // the same graph, an hour ago
        #expect(good == [movie])
        #expect(try past.count(for: FetchRequest<Movie>()) == 0)
    }

    private func opened() throws -> (Strata.PersistentContainer, ManagedObjectContext, Movie) {
        let container = try PersistentContainer(name: "Movies", entities: [Movie.self])
        try container.loadPersistentStores()
        let context = container.newBackgroundContext()
        let movie = Movie(context: context)
        movie.title = "Alien"
        movie.rating = 4.5
        try context.save()
        return (container, context, movie)
    }

    @Test func threeWaysAskTheSame() throws {
        let (_, context, movie) = try opened()
        let typed = try FetchRequest<Movie>().where { $0.rating > 4 && $0.title.contains("al", [.caseInsensitive]) }
        let format = try FetchRequest<Movie>(format: "rating > %@ AND title CONTAINS[c] %@", 4, "al")
        let foundation = try FetchRequest(#Predicate<Movie> { $0.rating > 4 && $0.title.contains("Al") })
        print(typed.predicate!)  // rating > 4.0 AND title CONTAINS[c] "al"
        print(try context.explain(typed))  // the plan: indexes, conditions, rows of each step
        #expect(typed.predicate?.description == #"rating > 4.0 AND title CONTAINS[c] "al""#)
        for request in [typed, format, foundation] { #expect(try context.fetch(request) == [movie]) }
    }

    @Test func batchesChangeManyObjects() throws {
        let (container, context, _) = try opened()
        let rows: [[String: AttributeValue]] = [["title": "Solaris", "rating": 5], ["title": "Mirror"]]
        try context.execute(BatchInsertRequest<Movie>(rows))
        try context.execute(BatchUpdateRequest<Movie>().where { $0.rating < 1 }.setting(\.rating) { $0.rating + 0.5 })
        try context.execute(BatchDeleteRequest<Movie>().where { $0.rating == 0.5 })
        #expect(try context.fetch(FetchRequest<Movie>().sorted(by: \.title)).map(\.title) == ["Alien", "Solaris"])
        #expect(try container.verify().isSound)
    }

    @Test func aLoopFollowsEverySave() async throws {
        let (container, _, _) = try opened()
        let following = Task {
            for try await update in container.results(for: try FetchRequest<Movie>().sorted(by: \.title)) {
                print(update.objectIDs.count, update.difference?.insertions.count ?? 0)
            }
        }
        let results = container.results(for: try FetchRequest<Movie>().sorted(by: \.title))
        var updates = results.makeAsyncIterator()
        let first = try await updates.next()
        #expect(first?.objectIDs.count == 1)
        following.cancel()
        try? await following.value
    }

    @Test func changesAreDraftedComparedAndTakenBack() throws {
        let (container, context, movie) = try opened()
        let draft = try context.newChildContext()  // saves into its parent
        let plan = try context.whatIf { draft in  // changes to keep or to drop
            draft.delete(try draft.existingObject(with: movie.objectID))
        }
        context.undoManager = ObjectUndoManager()  // undo and redo, across saves

        try container.setTag("before import")
        for change in try container.changes(from: .tag("before import"), to: .now) { print(change) }
        let newest = try container.history(of: movie.objectID)[0]  // who, when, why, before and after
        print(newest.date, newest.author ?? "-", newest.changes)
        try context.revert(newest.transaction.number)  // as changes, with conflicts checked

        #expect(draft.parent === context)
        #expect(try plan.changes().map(\.kind) == [.deleted])
    }
}
