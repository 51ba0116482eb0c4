import Foundation
import StrataGraph
import StrataModel
import Testing

@Suite(.verifiesStores) struct FirstSliceTests {
    @Test func insertSaveAndReadInAnotherContext() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        let movie = Movie(context: context)
        movie.title = "Stalker"
        movie.rating = 4.5
        #expect(movie.isInserted && context.hasChanges)
        try context.save()
        #expect(!movie.isInserted && !context.hasChanges && movie.title == "Stalker")

        let other = container.newBackgroundContext()
        let same = try other.existingObject(with: movie.objectID, as: Movie.self)
        #expect(same !== movie)
        #expect(same.title == "Stalker" && same.rating == 4.5)
    }

    @Test func linksAgreeAtBothEndsAtOnce() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        let owner = FamilyMember(context: context)
        owner.name = "Ann"
        let first = Movie(context: context)
        first.title = "A"
        first.familyMember = owner
        #expect(owner.favoriteMovies.count == 1 && owner.favoriteMovies.contains(first))
        let second = Movie(context: context)
        second.title = "B"
        owner.favoriteMovies.insert(second)
        #expect(second.familyMember === owner)
        #expect(Array(owner.favoriteMovies) == [first, second])
        owner.favoriteMovies.remove(first)
        #expect(first.familyMember == nil && owner.favoriteMovies.count == 1)
        try context.save()

        let other = container.newBackgroundContext()
        let read = try other.existingObject(with: owner.objectID, as: FamilyMember.self)
        #expect(read.favoriteMovies.count == 1)
        #expect(read.favoriteMovies.first?.title == "B")
        #expect(read.favoriteMovies.first?.familyMember === read)
    }

    @Test func fetchCountsUnsavedChanges() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        for number in 0..<5 {
            let movie = Movie(context: context)
            movie.title = "M\(number)"
        }
        #expect(try context.count(for: FetchRequest<Movie>()) == 5)
        try context.save()
        let movies = try context.fetch(FetchRequest<Movie>())
        #expect(movies.count == 5)
        context.delete(movies[0])
        #expect(try context.count(for: FetchRequest<Movie>()) == 4)
    }

    @Test func theErrorOfARangeNamesObjectKeyAndValue() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        let movie = Movie(context: context)
        movie.title = "Too good"
        movie.rating = 6
        let error = thrownError { try context.save() }
        #expect(error?.code == .validationNumberTooLarge)
        #expect(error?.message == "rating is too large.")
        #expect(error?.context.objectID == movie.objectID && error?.context.key == "rating")
        #expect(error?.context.value == .double(6))
        #expect(error?.context.objectValues?["title"] == .string("Too good"))
        #expect(context.hasChanges)
        movie.rating = 5
        try context.save()
    }
}
