import Foundation
import StrataGraph
import StrataModel
import Testing

/// Requests from outside end: with the answer, in a number of steps that is bounded by the objects, or with an error
/// that says what took too much.
@Suite(.verifiesStores) struct RequestBudgetTests {
    private let container: PersistentContainer
    private let context: ManagedObjectContext
    private static let movies = 600
    /// A hundred steps for each row, as the standard budget has for ten million rows.
    private static let honest = RequestBudget(steps: 100 * movies)

    init() throws {
        container = try makeContainer()
        context = container.newBackgroundContext()
        let owners = (0..<2).map { number in
            let owner = FamilyMember(context: context)
            owner.name = "Owner \(number)"
            return owner
        }
        for number in 0..<Self.movies {
            let movie = Movie(context: context)
            (movie.title, movie.rating) = ("Movie \(number)", Double(number % 50) / 10)
            movie.familyMember = owners[number % 2]
        }
        try context.save()
    }

    private func request(_ format: String, _ budget: RequestBudget?) throws -> FetchRequest<Movie> {
        var request = try FetchRequest<Movie>(format: format)
        request.budget = budget
        return request
    }

    @discardableResult private func exceeded<R>(
        _ body: () throws -> R, sourceLocation: SourceLocation = #_sourceLocation
    ) -> StrataError? {
        let error = #expect(throws: StrataError.self, sourceLocation: sourceLocation) { _ = try body() }
        #expect(error?.code == .budgetExceeded, "\(error?.description ?? "")", sourceLocation: sourceLocation)
        return error
    }

    // MARK: Honest requests

    @Test(arguments: [
        "TRUEPREDICATE", "rating > 2 AND title CONTAINS[cd] 'movie 1'",
        "familyMember.name BEGINSWITH 'Owner' OR rating < 1",
        "title LIKE '*ovie*5?'", "title MATCHES 'Movie [0-9]+'", "rating * 2 + 1 > 3 AND length(title) > 4",
        "familyMember.favoriteMovies.@count > 10", "rating IN {1, 2, 3, 4.5} AND NOT title ENDSWITH '9'",
    ])
    func honestRequestsNeedFarLessThanTheStandardBudget(format: String) throws {
        #expect(try context.count(for: request(format, Self.honest)) > 0)
    }

    @Test func theStandardBudgetIsOnByDefault() throws {
        #expect(PersistentStoreOptions().requestBudget == .standard)
        #expect(RequestBudget.standard == RequestBudget(steps: 1_000_000_000, memoryInBytes: 1 << 30))
    }

    /// Such paths reach each object by ways whose numbers multiply: 300 to the third power here.
    @Test func pathsThatLeadBackAndForthReadEachObjectOnceAStep() throws {
        let path = "familyMember.favoriteMovies.familyMember.favoriteMovies.familyMember.favoriteMovies"
        let steps = RequestBudget(steps: 3_000_000)
        let found = try context.count(for: request("\(path).@count == 27000000", steps))
        #expect(found == Self.movies)
        #expect(try context.count(for: request("ANY \(path).title == 'none'", steps)) == 0)
        #expect(try context.count(for: request("ANY \(path).rating > 4.7", steps)) == Self.movies)
        #expect(try context.count(for: request("ALL \(path).rating < 1", steps)) == 0)
    }

    // MARK: Requests that take too much

    @Test(arguments: [
        "SUBQUERY(familyMember.favoriteMovies, $a, SUBQUERY($a.familyMember.favoriteMovies, $b, $b.rating > 99).@count > 0)"
            + ".@count > 0",
        "familyMember.favoriteMovies.familyMember.favoriteMovies.@sum.rating > 0",
        "ANY familyMember.favoriteMovies.familyMember.favoriteMovies.title == title",
        "SELF IN (familyMember.favoriteMovies.familyMember.favoriteMovies UNION familyMember.favoriteMovies)",
    ])
    func whatTakesTooManyStepsIsNamed(part: String) throws {
        let request = try request("rating >= 0 AND (title == 'x' OR \(part))", RequestBudget(steps: 100_000))
        let error = exceeded { try context.fetch(request) }
        #expect(error?.message.contains("100000 steps") == true)
        #expect(error?.context.entityName == "Movie")
        let named = try FetchPredicate(format: part).description
        #expect(error?.context.predicate == named)
        exceeded { try context.count(for: request) }
        exceeded { try context.explain(request) }
        exceeded { try context.fetch(context.compiled(request)) }
    }

    @Test func longTextAndLongListsCount() throws {
        let text = String(repeating: "a", count: 100_000)
        let budget = RequestBudget(steps: 200_000)
        for predicate in try [
            FetchPredicate(format: "%@ CONTAINS title OR length(%@) < rating", text, text),
            FetchPredicate(format: "FUNCTION(%@, 'stringByAppendingString:', title) CONTAINS 'b'", text),
            FetchPredicate(format: "rating + 0.5 IN %@", Array(repeating: 99, count: 1000)),
        ] {
            var request = try FetchRequest<Movie>(where: predicate)
            request.budget = budget
            exceeded { try context.count(for: request) }
        }
    }

    @Test func rowsAndTheirAggregatesHaveABudgetToo() throws {
        var request = try RowsFetchRequest(of: Movie.self, columns: [OutputColumn("title"), OutputColumn("rating")])
        request.budget = RequestBudget(steps: 500)
        exceeded { try context.fetchRows(request) }
        request = try RowsFetchRequest(
            of: Movie.self, columns: [OutputColumn("n", .function(.average, [.keyPath("rating")]))])
        request.budget = RequestBudget(steps: 500)
        exceeded { try context.fetchRows(request) }
    }

    @Test func memoryIsBounded() throws {
        let small = RequestBudget(memoryInBytes: 8_000)
        var sorted = try FetchRequest<Movie>().sorted(by: \.rating)
        sorted.budget = small
        let error = exceeded { try context.fetch(sorted) }
        #expect(error?.message.contains("8000 bytes") == true)
        sorted.fetchLimit = 3
        sorted.budget = RequestBudget(memoryInBytes: 100_000)
        #expect(try context.fetch(sorted).count == 3)
        for groupBy in [[], ["title"]] {
            for function in [FetchFunction.median, .mode] where !groupBy.isEmpty || function == .median {
                var rows = try RowsFetchRequest(
                    of: Movie.self, columns: [OutputColumn("m", .function(function, [.keyPath("rating")]))],
                    groupBy: groupBy)
                rows.budget = small
                exceeded { try context.fetchRows(rows) }
            }
        }
        var titles = try RowsFetchRequest(of: Movie.self, columns: [OutputColumn("title")])
        titles.budget = small
        exceeded { try context.fetchRows(titles) }
        let listing = "(familyMember.favoriteMovies UNION familyMember.favoriteMovies)[SIZE] > 0"
        exceeded { try context.count(for: request(listing, small)) }
    }

    @Test func theContainersBudgetIsForEveryRequest() throws {
        let small = try PersistentContainer(
            name: "Small", entities: [Movie.self, FamilyMember.self], at: .inMemory,
            options: PersistentStoreOptions(requestBudget: RequestBudget(steps: 10)))
        try small.loadPersistentStores()
        let context = small.newBackgroundContext()
        for number in 0..<50 { Movie(context: context).title = "\(number)" }
        try context.save()
        let request = try FetchRequest<Movie>(format: "rating >= 0")
        exceeded { try context.fetch(request) }
        exceeded { try context.execute(BatchDeleteRequest<Movie>().where { $0.rating < 1 }) }
        exceeded {
            try context.execute(
                BatchUpdateRequest<Movie>(where: request.predicate, setting: ["rating": .constant(.double(2))]))
        }
        var wide = request
        wide.budget = .unlimited
        #expect(try context.fetch(wide).count == 50)
    }

    // MARK: Long paths

    @Test(arguments: [65, 5_000]) func keyPathsHaveABoundedLength(steps: Int) throws {
        let path = (0..<steps).map { $0.isMultiple(of: 2) ? "familyMember" : "favoriteMovies" }.joined(separator: ".")
        for format in ["ANY \(path) == nil", "\(path).@count > 1", "\(path).@count + 1 > 1"] {
            let error = #expect(throws: StrataError.self) {
                try context.count(for: FetchRequest<Movie>(format: format))
            }
            #expect(error?.code == .invalidRequest && error?.message.contains("64 is the maximum") == true, "\(format)")
            #expect(error?.description.utf8.count ?? 0 < 200_000)
        }
        #expect(throws: StrataError.self) { try FetchRequest<Movie>(sortedBy: [SortDescription(path)]) }
        #expect(throws: StrataError.self) { try RowsFetchRequest(of: Movie.self, columns: [OutputColumn(path)]) }
    }
}
