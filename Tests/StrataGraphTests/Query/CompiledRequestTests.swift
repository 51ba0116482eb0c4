import StrataGraph
import StrataModel
import Testing

/// A request held and run again answers as a new one does.
@Suite(.verifiesStores) struct CompiledRequestTests {
    @Test func aCompiledRequestFollowsTheContext() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        let request = try FetchRequest<Movie>(
            where: .greaterThan("rating", 3) && .beginsWith("title", "M"), sortedBy: [SortDescription(\Movie.title)],
            limit: 3)
        let compiled = try context.compiled(request)
        #expect(try context.fetch(compiled).isEmpty)
        for index in 0..<6 {
            let movie = Movie(context: context)
            (movie.title, movie.rating) = ("M\(5 - index)", Double(index))
        }
        // Unsaved, saved, changed elsewhere: M0 and M1 are rated 5 and 4.
        #expect(try context.fetch(compiled).map(\.title) == ["M0", "M1"])
        #expect(try context.count(for: compiled) == 2)
        try context.save()
        #expect(try context.fetch(compiled).map(\.title) == ["M0", "M1"])
        let other = container.newBackgroundContext()
        let third = try #require(try other.fetch(FetchRequest<Movie>(where: .equal("title", "M4"))).first)
        third.rating = 4.5
        #expect(try other.fetch(compiled).map(\.title) == ["M0", "M1", "M4"])
        try other.save()
        let fresh = container.newBackgroundContext()
        #expect(try fresh.fetch(compiled).map(\.title) == ["M0", "M1", "M4"])
        #expect(try context.fetch(compiled).map(\.title) == (try context.fetch(request).map(\.title)))
    }

    /// The plan was made for an empty store; a scan would be right there.
    @Test func aCompiledRequestIsPlannedAnewWhenTheStoreHasGrown() throws {
        let container = try makeContainer()
        let context = container.newBackgroundContext()
        let compiled = try context.compiled(
            try FetchRequest<Movie>(where: .beginsWith("title", "M1") && .lessThan("rating", 1)))
        #expect(try context.count(for: compiled) == 0)
        for round in 0..<3 {
            for index in 0..<400 {
                let movie = Movie(context: context)
                (movie.title, movie.rating) = ("M\(round)\(index)", index.isMultiple(of: 2) ? 0.5 : 2)
            }
            try context.save()
            #expect(try context.count(for: compiled) == (round == 0 ? 0 : 200))
            #expect(try context.fetch(compiled).count == (round == 0 ? 0 : 200))
        }
    }

    @Test func aRequestOfAnotherContainersModelIsBoundAnew() throws {
        let films = try makeContainer()
        let graph = try makeContainer([FamilyMember.self, Movie.self] + graphEntities)
        let compiled = try films.newBackgroundContext().compiled(try FetchRequest<Movie>(where: .equal("title", "A")))
        let context = graph.newBackgroundContext()
        Movie(context: context).title = "A"
        #expect(try context.fetch(compiled).map(\.title) == ["A"])
        let people = try makeContainer([Person.self, Employee.self, Passport.self, Club.self, Rule.self])
        let refusal = thrownError { _ = try people.newBackgroundContext().fetch(compiled) }
        #expect(refusal?.code == .unknownEntity)
    }

    @Test func requestsAreRefusedWhenTheyAreCompiled() throws {
        let context = try makeContainer().newBackgroundContext()
        var request = FetchRequest<Movie>()
        request.predicate = .equal("titel", "A")
        let refusal = thrownError { _ = try context.compiled(request) }
        #expect(refusal?.code == .unknownKey)
    }
}
