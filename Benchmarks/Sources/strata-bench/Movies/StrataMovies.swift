import Foundation
import StrataGraph
import StrataModel

/// Movies in Strata, through contexts and objects as an app uses them.
final class StrataMovies: MovieStore {
    let peer = Peer.strata
    let url: URL
    private(set) var container: PersistentContainer
    private var context: ManagedObjectContext
    /// The ids of movies, by the numbers they were made with.
    private(set) var movieIDs: [ObjectID] = []
    private(set) var ownerIDs: [ObjectID] = []
    private let insertsByBatch: Bool

    /// - Parameter insertsByBatch: whether movies are made by batch requests instead of as objects.
    init(at url: URL, insertsByBatch: Bool = false, durability: PersistentStoreDurability = .full) throws {
        self.url = url
        self.insertsByBatch = insertsByBatch
        container = try Self.open(url, durability)
        context = container.newBackgroundContext()
    }

    static func open(_ url: URL, _ durability: PersistentStoreDurability = .full) throws -> PersistentContainer {
        let container = try PersistentContainer(
            name: "movies", entities: [Movie.self, Owner.self], at: .url(url), options: .init(durability: durability))
        try container.loadPersistentStores()
        return container
    }

    func reopen(_ durability: PersistentStoreDurability) throws {
        close()
        container = try Self.open(url, durability)
        context = container.newBackgroundContext()
    }

    func close() {
        guard container.isLoaded else { return }
        context.reset()
        container.close()
    }

    /// Makes a new context for each round, so that every object is a fault again.
    func beginRound() throws { context = container.newBackgroundContext() }

    // MARK: Inserting

    func insertOwners(_ range: Range<Int>) throws {
        let context = container.newBackgroundContext()
        for index in range {
            let owner = Owner(context: context)
            owner.name = MovieRow.ownerName(index)
            ownerIDs.append(owner.objectID)
        }
        try context.save()
    }

    func insert(_ rows: [MovieRow]) throws {
        if insertsByBatch { return try insertByBatch(rows) }
        let made = try insert(rows, container.newBackgroundContext())
        if rows.first?.index == movieIDs.count { movieIDs += made }
    }

    /// - Returns: the ids of the movies.
    private func insert(_ rows: [MovieRow], _ context: ManagedObjectContext) throws -> [ObjectID] {
        var made: [ObjectID] = []
        made.reserveCapacity(rows.count)
        for row in rows {
            let movie = Movie(context: context)
            movie.title = row.title
            movie.year = row.year
            movie.rating = row.rating
            movie.genre = row.genre
            movie.votes = row.votes
            movie.owner = context.object(with: ownerIDs[row.owner]) as? Owner
            made.append(movie.objectID)
        }
        try context.save()
        return made
    }

    private func insertByBatch(_ rows: [MovieRow]) throws {
        var place = 0
        var request = BatchInsertRequest<Movie> { [ownerIDs] values in
            guard place < rows.count else { return true }
            let row = rows[place]
            values["title"] = .string(row.title)
            values["year"] = .integer(Int64(row.year))
            values["rating"] = .double(row.rating)
            values["genre"] = .string(row.genre)
            values["votes"] = .integer(Int64(row.votes))
            values["owner"] = .objectID(ownerIDs[row.owner])
            place += 1
            return false
        }
        request.stepSize = BulkInsert.batch
        try container.newBackgroundContext().execute(request)
    }

    func insertFromThreads(_ lists: [[MovieRow]]) throws {
        try onThreads(lists) { rows in
            let context = self.container.newBackgroundContext()
            for row in rows { _ = try self.insert([row], context) }
        }
    }

    // MARK: Reading

    func sumOfYears(ofMovies picks: [Int]) throws -> Int {
        var sum = 0
        // Looking ids up in memory is not measured, since the peers use the movies' numbers.
        let ids = picks.map { movieIDs[$0] }
        for id in ids { sum += Int(try context.existingObject(with: id, as: Movie.self).year) }
        return sum
    }

    func sumOfYears(ofOwners picks: [Int]) throws -> Int {
        var sum = 0
        let ids = picks.map { ownerIDs[$0] }
        for id in ids {
            let owner = try context.existingObject(with: id, as: Owner.self)
            for movie in owner.movies { sum += Int(movie.year) }
        }
        return sum
    }

    func sumOfYears(fromRatings ratings: [Double]) throws -> Int {
        var sum = 0
        for rating in ratings {
            var request = try FetchRequest<Movie>(
                where: .greaterThanOrEqual("rating", .double(rating)), sortedBy: [SortDescription("rating")],
                limit: 100)
            request.returnsObjectsAsFaults = false
            for movie in try context.fetch(request) { sum += Int(movie.year) }
        }
        return sum
    }

    func count(votesAbove votes: Int32) throws -> Int {
        try context.count(for: FetchRequest<Movie>(where: .greaterThan("votes", .integer(Int64(votes)))))
    }

    func summary() throws -> [Int] {
        let context = container.newBackgroundContext()
        var sum = 0
        for movie in try context.fetch(FetchRequest<Movie>()) {
            sum &+= digest(
                title: movie.title.utf8.count, year: Int(movie.year), rating: movie.rating,
                genre: movie.genre.utf8.count, votes: Int(movie.votes))
        }
        return [
            try context.count(for: FetchRequest<Movie>()), try context.count(for: FetchRequest<Owner>()), sum,
        ]
    }

    // MARK: Changing

    func update(_ ratings: [(movie: Int, rating: Double)]) throws {
        for (movie, rating) in ratings {
            try context.existingObject(with: movieIDs[movie], as: Movie.self).rating = rating
        }
        try context.save()
    }

    func deleteOwner(_ owner: Int, movies: [MovieRow]) throws {
        context.delete(try context.existingObject(with: ownerIDs[owner]))
        try context.save()
    }
}
