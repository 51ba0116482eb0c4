import Foundation
import StrataGraph
import StrataModel

/// The movies in Strata: every query is a fetch request of a context, with objects made.
final class StrataMovieQueries {
    private let store: StrataMovies
    private let context: ManagedObjectContext
    private let numbers: [ObjectID: Int]

    init(at url: URL, _ movies: Movies) throws {
        store = try StrataMovies(at: url)
        for first in stride(from: 0, to: movies.owners, by: 10_000) {
            try store.insertOwners(first..<min(movies.owners, first + 10_000))
        }
        for first in stride(from: 0, to: movies.count, by: 10_000) {
            try store.insert(movies.rows(first..<min(movies.count, first + 10_000)))
        }
        let pairs = [store.ownerIDs, store.movieIDs].flatMap { ids in zip(ids, ids.indices).map { ($0, $1) } }
        numbers = Dictionary(uniqueKeysWithValues: pairs)
        context = store.container.newBackgroundContext()
    }

    /// The answer in the form in which it is compared with the peer's; not timed.
    func answer(_ found: Found) -> MovieAnswer {
        switch found {
        case .objects(let objects): .objects(objects.map { numbers[$0.objectID] ?? -1 })
        case .number(let number): .number(number)
        case .groups(let groups): .groups(groups)
        }
    }

    enum Found {
        case objects([ManagedObject])
        case number(Int)
        case groups([Int: Int])
    }

    func run(_ query: MovieQuery, _ argument: MovieArgument) throws -> Found {
        switch query {
        case .equality: return .objects(try movies(.equal("title", .string(argument.title))))
        case .range:
            let request = try FetchRequest<Movie>(
                where: .greaterThanOrEqual("rating", .double(argument.rating)), sortedBy: [SortDescription("rating")],
                limit: 100)
            return .objects(try context.fetch(request))
        case .prefix: return .objects(try movies(.beginsWith("title", argument.prefix)))
        case .twoIndexes:
            return .objects(
                try movies(
                    .equal("year", .integer(Int64(argument.year)))
                        .and(.between("rating", .double(argument.rating), .double(argument.rating + 0.05)))))
        case .toManyAny:
            let predicate = FetchPredicate.any("movies.title", .beginsWith, .string(argument.longPrefix))
            return .objects(try context.fetch(FetchRequest<Owner>(where: predicate)))
        case .unindexedCount: return .number(try count(.greaterThan("votes", .integer(Int64(argument.votes)))))
        case .topTen:
            let request = try FetchRequest<Movie>(sortedBy: [SortDescription("votes", isAscending: false)], limit: 10)
            return .objects(try context.fetch(request))
        case .groupCount: return .groups(try groups())
        case .indexedCount:
            let year = Int64(argument.year)
            return .number(try count(.between("year", .integer(year), .integer(year + 3))))
        case .contains:
            return .number(
                try count(.contains("title", .string(argument.part), [.caseInsensitive, .diacriticInsensitive])))
        }
    }

    private func movies(_ predicate: FetchPredicate) throws -> [Movie] {
        try context.fetch(FetchRequest<Movie>(where: predicate))
    }

    private func count(_ predicate: FetchPredicate) throws -> Int {
        try context.count(for: FetchRequest<Movie>(where: predicate))
    }

    private func groups() throws -> [Int: Int] {
        var request = RowsFetchRequest(
            entityName: "Movie",
            columns: [OutputColumn("year"), OutputColumn("movies", .function(.count, [.evaluatedObject]))])
        request.groupBy = ["year"]
        var groups: [Int: Int] = [:]
        for row in try context.fetchRows(request) {
            guard case .integer(let year)? = row.first, case .integer(let count)? = row.last else { continue }
            groups[Int(year)] = Int(count)
        }
        return groups
    }
}
