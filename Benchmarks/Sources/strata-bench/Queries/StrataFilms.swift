import Foundation
import StrataGraph
import StrataModel

/// The films in Strata: every query is a fetch request of a context, with objects made.
final class StrataFilms {
    private let container: PersistentContainer
    private let context: ManagedObjectContext
    private let numbers: [ObjectID: Int]
    private static let batch = 10_000

    init(at url: URL, _ rows: FilmRows) throws {
        container = try PersistentContainer(name: "films", entities: [Film.self, Director.self], at: .url(url))
        try container.loadPersistentStores()
        numbers = try Self.fill(container, rows)
        context = container.newBackgroundContext()
    }

    /// - Returns: which number each object was made with.
    private static func fill(_ container: PersistentContainer, _ rows: FilmRows) throws -> [ObjectID: Int] {
        var numbers: [ObjectID: Int] = [:]
        var directors: [ObjectID] = []
        for first in stride(from: 0, to: rows.directors, by: batch) {
            let context = container.newBackgroundContext()
            for index in first..<min(rows.directors, first + batch) {
                let director = Director(context: context)
                director.name = "Director \(index)"
                directors.append(director.objectID)
                numbers[director.objectID] = index
            }
            try context.save()
        }
        for first in stride(from: 0, to: rows.count, by: batch) {
            let context = container.newBackgroundContext()
            for index in first..<min(rows.count, first + batch) {
                let row = rows[index]
                let film = Film(context: context)
                film.title = row.title
                film.year = row.year
                film.rating = row.rating
                film.votes = row.votes
                film.director = context.object(with: directors[row.director]) as? Director
                numbers[film.objectID] = index
            }
            try context.save()
        }
        return numbers
    }

    /// What was found, as it is compared with the peer's; not part of what is timed.
    func answer(_ found: Found) -> FilmAnswer {
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

    func run(_ query: FilmQuery, _ argument: FilmArgument) throws -> Found {
        switch query {
        case .equality: return .objects(try films(.equal("title", .string(argument.title))))
        case .range:
            let request = try FetchRequest<Film>(
                where: .greaterThanOrEqual("rating", .double(argument.rating)), sortedBy: [SortDescription("rating")],
                limit: 100)
            return .objects(try context.fetch(request))
        case .prefix: return .objects(try films(.beginsWith("title", argument.prefix)))
        case .twoIndexes:
            return .objects(
                try films(
                    .equal("year", .integer(Int64(argument.year)))
                        && .between("rating", .double(argument.rating), .double(argument.rating + 0.05))))
        case .toManyAny:
            let predicate = FetchPredicate.any("films.title", .beginsWith, .string(argument.longPrefix))
            return .objects(try context.fetch(FetchRequest<Director>(where: predicate)))
        case .unindexedCount: return .number(try count(.greaterThan("votes", .integer(Int64(argument.votes)))))
        case .topTen:
            let request = try FetchRequest<Film>(sortedBy: [SortDescription("votes", isAscending: false)], limit: 10)
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

    private func films(_ predicate: FetchPredicate) throws -> [Film] {
        try context.fetch(FetchRequest<Film>(where: predicate))
    }

    private func count(_ predicate: FetchPredicate) throws -> Int {
        try context.count(for: FetchRequest<Film>(where: predicate))
    }

    private func groups() throws -> [Int: Int] {
        var request = RowsFetchRequest(
            entityName: "Film",
            columns: [OutputColumn("year"), OutputColumn("films", .function(.count, [.evaluatedObject]))])
        request.groupBy = ["year"]
        var groups: [Int: Int] = [:]
        for row in try context.fetchRows(request) {
            guard case .integer(let year)? = row.first, case .integer(let count)? = row.last else { continue }
            groups[Int(year)] = Int(count)
        }
        return groups
    }
}
