import Foundation
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataGraph

/// Faults of a list that is gone through are read several at a time, and nobody can tell but by the clock.
@Suite(.verifiesStores) struct FaultRunTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        container = try makeContainer()
        let writer = container.newBackgroundContext()
        let owner = FamilyMember(context: writer)
        owner.name = "Anna"
        for number in 0..<200 {
            let movie = Movie(context: writer)
            movie.title = "film \(number)"
            movie.familyMember = owner
        }
        try writer.save()
        context = container.newBackgroundContext()
    }

    private func fetched() throws -> [Movie] { try context.fetch(FetchRequest<Movie>()) }

    private func readCount(_ movies: [Movie]) -> Int { movies.count { !$0.isFault } }

    @Test func whoLooksAtOneObjectReadsOne() throws {
        let movies = try fetched()
        #expect(movies[0].title == "film 0")
        #expect(readCount(movies) == 1)
        #expect(movies[150].title == "film 150")
        #expect(readCount(movies) == 2)
    }

    /// How many are read after each fault that fires, when all are gone through.
    private func walk(_ movies: [Movie]) -> [Int] {
        var counts: [Int] = []
        for (number, movie) in movies.enumerated() {
            let isFault = movie.isFault
            #expect(movie.title == "film \(number)")
            if isFault { counts.append(readCount(movies)) }
        }
        return counts
    }

    @Test func whoGoesOnReadsMoreAndMoreAtOnce() throws {
        // Each fault that fires reads itself and 0, 8, 16, 32, 64 and again 64 that follow, as far as there are any.
        #expect(walk(try fetched()) == [1, 10, 27, 60, 125, 190, 200])
    }

    private func owner() throws -> FamilyMember { try #require(try context.fetch(FetchRequest<FamilyMember>()).first) }

    @Test func whoGoesThroughMembersReadsMoreFromTheFirstOn() throws {
        // Itself and 16, 32, 64 and again 64 that follow.
        #expect(walk(Array(try owner().favoriteMovies)) == [17, 50, 115, 180, 200])
    }

    @Test func aWalkOverMembersBeginsWithTheFirstFault() throws {
        let movies = try owner().favoriteMovies
        let known = movies.prefix(40)
        for movie in known { #expect(movie.title.hasPrefix("film")) }
        context.memory.faultRuns.removeAll()
        let before = readCount(context.registeredObjects.compactMap { $0 as? Movie })
        var titles: [String] = []
        for movie in movies {
            titles.append(movie.title)
            if titles.count == before + 1 { break }
        }
        #expect(titles.last == "film \(before)")
        #expect(readCount(context.registeredObjects.compactMap { $0 as? Movie }) == before + 17)
        withExtendedLifetime(known) {}
    }

    @Test func whoLooksAtOneMemberOrAtIDsReadsNoMore() throws {
        let movies = try owner().favoriteMovies
        #expect(movies.objectIDs.count == 200)
        #expect(movies[3].title == "film 3")
        #expect(readCount(context.registeredObjects.compactMap { $0 as? Movie }) == 1)
    }

    @Test func someOutOfOrderReadNothingMore() throws {
        let movies = try fetched()
        for number in stride(from: 199, to: 99, by: -7) { #expect(movies[number].title == "film \(number)") }
        #expect(readCount(movies) == 15)
    }

    @Test func whatWasChangedMeanwhileIsLeftAlone() throws {
        let movies = try fetched()
        movies[3].title = "another"
        context.delete(movies[4])
        let other = container.newBackgroundContext()
        let theirs = try other.existingObject(with: movies[5].objectID, as: Movie.self)
        theirs.title = "of others"
        try other.save()
        let titles = movies.prefix(9).filter { !$0.isDeleted }.map(\.title)
        #expect(
            titles
                == ["film 0", "film 1", "film 2", "another", "film 5", "film 6", "film 7", "film 8"])
        #expect(movies[3].hasChanges && movies[4].isDeleted)
        context.rollback()
        #expect(movies[3].title == "film 3" && movies[4].title == "film 4")
    }

    @Test func nestedWalksDoNotDisturbEachOther() throws {
        let movies = try fetched()
        for (number, movie) in movies.enumerated() where number < 40 {
            #expect(movie.title == "film \(number)")
            for other in try context.fetch(FetchRequest<Movie>()).dropFirst(150).prefix(3) {
                #expect(other.title.hasPrefix("film 15"))
            }
        }
    }

    @Test func aListIsKeptUntilItsEndIsRead() throws {
        _ = walk(try fetched())
        #expect(context.memory.faultRuns.count == 0)
        let movies = try fetched()
        #expect(context.memory.faultRuns.count == 1)
        // Those in memory are not asked for again: this list stays until others take its place.
        for _ in 0..<10 { _ = try fetched() }
        #expect(context.memory.faultRuns.count == 4)
        withExtendedLifetime(movies) {}
    }

    @Test func longListsAreNotKept() {
        var runs = FaultRuns()
        let ids = (1...FaultRuns.longestList + 1).map { ObjectID(rawValue: UInt64($0)) }
        runs.begin(ids)
        #expect(runs.count == 0)
        runs.begin(ids, from: 3)
        #expect(runs.isEmpty)
        runs.begin(Array(ids.dropLast()))
        #expect(runs.count == 1 && runs.following(ids[0]).isEmpty && runs.following(ids[1]).count == 8)
    }

    @Test func theListsGoWithReset() throws {
        let movies = try fetched()
        #expect(movies[0].title == "film 0" && movies[1].title == "film 1")
        context.reset()
        let again = try context.existingObject(with: movies[10].objectID, as: Movie.self)
        #expect(again.title == "film 10")
        #expect(context.registeredObjects.count == 1)
    }
}
