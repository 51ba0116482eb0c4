import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// Rows of a view as they change.
@Suite(.verifiesStores) struct LiveViewRowsTests {
    private func made() throws -> PersistentContainer {
        let source = ViewSource(Movie.self, named: "Titles")
            .grouped(by: \.title).counting(as: "movies").averaging(\.rating, as: "mean")
            .last(by: \.rating, as: "best").ordered(by: "movies", ascending: false)
        return try ViewMovies.container(source)
    }

    @discardableResult
    private func movie(_ title: String, _ rating: Double, _ context: ManagedObjectContext) -> Movie {
        ViewMovies.movie(title, rating, context)
    }

    @MainActor @Test func insertedChangedAndRemovedRowsAreTold() async throws {
        let container = try made()
        let context = container.viewContext
        context.automaticallyMergesChangesFromParent = true
        movie("A", 1, context)
        let second = movie("B", 2, context)
        try context.save()
        var count = 0
        var before: [AttributeValue?] = []
        for try await update in context.rows(for: ViewFetchRequest("Titles")) {
            count += 1
            let difference = update.difference
            let titles = update.rows.map(\.first)
            if count == 1 {
                #expect(difference == nil && titles == [.string("A"), .string("B")])
                // Unsaved changes count as elsewhere.
                movie("AA", 3, context)
                second.rating = 5
                context.processPendingChanges()
            } else if count == 2 {
                #expect(difference?.inserted == [1] && difference?.changed == [2] && difference?.removed == [])
                #expect(difference?.isReordered == false && titles == [.string("A"), .string("AA"), .string("B")])
                try context.save()
                // Another context removes a group and changes another one.
                let other = container.newBackgroundContext()
                for movie in try other.fetch(FetchRequest<Movie>()) where movie.title == "A" { other.delete(movie) }
                movie("B", 1, other)
                try other.save()
            }
            let isGone = difference?.removed.map { before[$0] } == [.string("A")]
            before = titles
            guard isGone else { continue }
            #expect(titles == [.string("AA"), .string("B")])
            break
        }
        #expect(count > 2)
    }

    @MainActor @Test func orderedRowsAndTheirOrderAreFollowed() async throws {
        let context = try made().viewContext
        for title in ["A", "A", "B"] { movie(title, 1, context) }
        try context.save()
        let top = ViewFetchRequest("Titles").sorted(by: "movies", ascending: false).prefix(2)
        var count = 0
        for try await update in context.rows(for: top) {
            count += 1
            if count == 1 {
                #expect(update.rows.map(\.first) == [.string("A"), .string("B")])
                for _ in 0..<2 { movie("B", 1, context) }
                context.processPendingChanges()
                continue
            }
            #expect(update.rows.map(\.first) == [.string("B"), .string("A")])
            #expect(update.difference?.isReordered == true && update.difference?.changed == [0])
            break
        }
        #expect(count == 2)
        await #expect(throws: StrataError.self) {
            for try await _ in context.rows(for: ViewFetchRequest("Titels")) { break }
        }
    }

    /// A number that is none is equal to no number, but a row that has it stays the same row.
    @MainActor @Test func rowsWithNumbersThatAreNoneStayWhatTheyAre() async throws {
        let view = ViewDescription(
            name: "Ratings", entityName: "Film", keys: [ViewKey("rating")],
            aggregates: [ViewAggregate("films", .count), ViewAggregate("heaviest", .max, "weight")])
        let context = try ViewMovies.films(["rating": .double, "weight": .float], view).viewContext
        func make(_ rating: Double, _ weight: Float) throws {
            let film = try context.insertNewObject(forEntityName: "Film")
            try film.setValue(rating, forKey: "rating")
            try film.setValue(weight, forKey: "weight")
            context.processPendingChanges()
        }
        try make(.nan, 1)
        try make(1, .nan)
        try context.save()
        var count = 0
        for try await update in context.rows(for: ViewFetchRequest("Ratings")) {
            count += 1
            if count == 1 {
                #expect(update.rows.count == 2)
                try make(2, 2)
                continue
            }
            #expect(update.difference?.inserted.map { update.rows[$0].first } == [.double(2)])
            #expect(update.difference?.changed == [] && update.difference?.removed == [])
            break
        }
        #expect(count == 2)
    }
}
