import Foundation
import Strata
import Testing

/// Makes the container in memory that the page makes on disk.
private func PersistentContainer(name: String, entities: [ManagedObject.Type]) throws -> Strata.PersistentContainer {
    try Strata.PersistentContainer(
        name: name, entities: entities, at: .inMemory, options: .init(durability: .disposable))
}

/// The examples of the article "Getting started", run one after the other.
@Suite struct GettingStartedTests {
    @Entity final class Movie: ManagedObject {
        @Attribute(.indexed) var title: String
        @Attribute(.range(0...5)) var rating: Double = 0
        var familyMember: FamilyMember?
    }

    @Entity final class FamilyMember: ManagedObject {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \Movie.familyMember) var favoriteMovies: ToMany<Movie>
    }

    @Test func theWholePageRuns() throws {
        let container = try PersistentContainer(name: "Movies", entities: [Movie.self, FamilyMember.self])
        try container.loadPersistentStores()

        let context = container.newBackgroundContext()
        let ann = FamilyMember(context: context)
        ann.name = "Ann"
        let movie = Movie(context: context)
        movie.title = "Alien"
        movie.rating = 4.5
        movie.familyMember = ann  // ann.favoriteMovies contains the movie from now on
        try context.save()
        #expect(ann.favoriteMovies.contains(movie))

        let good = try FetchRequest<Movie>().where { $0.rating > 4 }.sorted(by: \.title)
        for movie in try context.fetch(good) { print(movie.title, movie.familyMember?.name ?? "-") }
        print(try context.count(for: good))

        let ofAnn = try FetchRequest<Movie>().where { $0.familyMember.name == "Ann" }
        let busy = try FetchRequest<FamilyMember>().where { $0.favoriteMovies.count > 10 }
        #expect(try context.fetch(good) == [movie])
        #expect(try context.count(for: ofAnn) == 1)
        #expect(try context.count(for: busy) == 0)

        let others = container.newBackgroundContext()
        let mirror = Movie(context: others)
        mirror.title = "Mirror"
        try others.save()
        #expect(try context.count(for: FetchRequest<Movie>()) == 1)
        context.refreshAllObjects()  // moves to the newest state
        context.automaticallyMergesChangesFromParent = true  // or moves before each fetch
        #expect(try context.count(for: FetchRequest<Movie>()) == 2)

        let past = try container.context(asOf: .date(.now - 3600))
        print(try past.count(for: FetchRequest<Movie>()))  // how many there were an hour ago
        for event in try container.history(of: movie.objectID) {
            print(event.date, event.author ?? "-", event.changes)
        }
        #expect(try past.count(for: FetchRequest<Movie>()) == 0)
    }
}
