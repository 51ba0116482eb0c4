import Foundation
import Strata
import Testing

/// The examples of the documentation, as they stand there.
@Suite struct ExampleTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        container = try makeOpenContainer([Movie.self, FamilyMember.self])
        context = container.newBackgroundContext()
        let ann = FamilyMember(context: context)
        ann.name = "Ann"
        for (title, rating) in [("Stalker", 5.0), ("Solaris", 4.5), ("Alien", 3)] {
            let movie = Movie(context: context)
            movie.title = title
            movie.rating = rating
            movie.familyMember = title == "Alien" ? nil : ann
        }
        try context.save()
    }

    @Test func requests() throws {
        let request = try FetchRequest<Movie>()
            .where { $0.rating > 4 && $0.title.contains("stalk", [.caseInsensitive]) }
            .sorted(by: \.title)
        #expect(try context.fetch(request).map(\.title) == ["Stalker"])

        let owned = try FetchRequest<Movie>().where { $0.familyMember.name == "Ann" || $0.familyMember == nil }
        #expect(try context.count(for: owned) == 3)

        let busy = try FetchRequest<FamilyMember>().where {
            $0.favoriteMovies.any { $0.rating > 4 } && $0.favoriteMovies.count < 10
        }
        #expect(try context.count(for: busy) == 1)

        let isGood = FetchPredicate(for: Movie.self) { $0.rating >= 4 && $0.title != "" }
        #expect(isGood.description == #"rating >= 4.0 AND title != """#)

        let best = 4.5
        let predicate = #Predicate<Movie> { $0.rating >= best && $0.title.contains("Stalker") }
        #expect(try context.count(for: FetchRequest<Movie>(where: try FetchPredicate(predicate))) == 1)
        #expect(try context.count(for: FetchRequest(predicate)) == 1)

        let format = try FetchRequest<Movie>(
            format: "rating > %@ AND familyMember.name BEGINSWITH[cd] %@", 4, "ann")
        #expect(try context.count(for: format) == 2)

        var batched = try FetchRequest<Movie>().sorted(by: \.title)
        batched.fetchBatchSize = 100
        var titles: [String] = []
        for movie in try context.fetchInBatches(batched) { titles.append(movie.title) }
        #expect(titles == ["Alien", "Solaris", "Stalker"])
    }

    @Test func batches() throws {
        let rows = BatchInsertRequest<Movie>([["title": "Stalker", "rating": 5], ["title": "Mirror"]])
        #expect(try context.execute(rows).count == 2)

        var titles = ["Stalker", "Mirror"][...]
        let handled = BatchInsertRequest<Movie> { row in
            guard let title = titles.popFirst() else { return true }
            row[\.title] = title
            return false
        }
        #expect(try context.execute(handled).count == 2)

        let update = try BatchUpdateRequest<Movie>()
            .where { $0.rating < 4.5 }
            .setting(\.rating) { $0.rating + 0.5 }
        #expect(try context.execute(update).count == 4)

        #expect(try context.execute(BatchDeleteRequest<Movie>().where { $0.rating < 1 }).count == 3)
        #expect(try container.verify().isSound)
    }
}
