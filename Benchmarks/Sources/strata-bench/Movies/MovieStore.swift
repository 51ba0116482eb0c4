import Foundation

/// A peer's store of movies. Its answers depend on the values it has read, so that peers can be compared.
protocol MovieStore: AnyObject {
    var peer: Peer { get }

    /// Forgets what the last round has read, if the peer caches above its file.
    func beginRound() throws

    /// Makes owners `range` in one durable commit.
    func insertOwners(_ range: Range<Int>) throws
    /// Makes movies in one durable commit.
    func insert(_ rows: [MovieRow]) throws
    /// Inserts each list on a thread of its own, with a durable commit for each row.
    func insertFromThreads(_ lists: [[MovieRow]]) throws

    /// Finds each movie by its id and reads its year.
    func sumOfYears(ofMovies picks: [Int]) throws -> Int
    /// Finds each owner by id, then the owner's movies, and reads their years.
    func sumOfYears(ofOwners picks: [Int]) throws -> Int
    /// For each rating the hundred movies that follow in order of it, as the peer's objects.
    func sumOfYears(fromRatings ratings: [Double]) throws -> Int
    /// How many movies have more votes.
    func count(votesAbove votes: Int32) throws -> Int

    /// Gives movies another rating, in one durable commit.
    func update(_ ratings: [(movie: Int, rating: Double)]) throws
    /// Deletes an owner with all their movies, in one durable commit.
    func deleteOwner(_ owner: Int, movies: [MovieRow]) throws

    /// The number of movies and of owners, and sums over all of the movies' values.
    func summary() throws -> [Int]
}

extension MovieStore {
    func beginRound() throws {}

    /// One list after the other: for peers with one writer at a time.
    func insertFromThreads(_ lists: [[MovieRow]]) throws {
        let lock = NSLock()
        try onThreads(lists) { rows in
            for row in rows { try lock.withLock { try self.insert([row]) } }
        }
    }

    /// Runs `body` for each list on a thread of its own.
    func onThreads(_ lists: [[MovieRow]], _ body: @escaping ([MovieRow]) throws -> Void) throws {
        let shared = Shared(body: body)
        let group = DispatchGroup()
        for list in lists {
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                do { try shared.body(list) } catch { shared.fail(error) }
            }
        }
        group.wait()
        if let error = shared.failure { throw error }
    }
}

/// What the threads of a round share; all of them call `body`, which guards its own state.
private final class Shared: @unchecked Sendable {
    let body: ([MovieRow]) throws -> Void
    private let lock = NSLock()
    private var first: (any Error)?

    init(body: @escaping ([MovieRow]) throws -> Void) { self.body = body }

    func fail(_ error: any Error) { lock.withLock { first = first ?? error } }
    var failure: (any Error)? { lock.withLock { first } }
}

/// A part of a summary that every value of a movie goes into.
func digest(title: Int, year: Int, rating: Double, genre: Int, votes: Int) -> Int {
    title * 31 + year * 7 + Int(rating * 1_000_000) + genre * 131 + votes * 3
}
