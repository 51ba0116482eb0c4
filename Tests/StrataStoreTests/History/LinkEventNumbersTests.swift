import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// The numbers of an object's link events, found by the records of its pairs, are those that reading the log finds.
@Suite struct LinkEventNumbersTests {
    private let fixture: StoreFixture
    private let movies: [ObjectID]
    private let tags: [ObjectID]

    init() throws {
        let fixture = try StoreFixture()
        movies = try (0..<6).map { try fixture.insert("Movie", ["title": .string("movie \($0)")]) }
        tags = try (0..<4).map { try fixture.insert("Tag", ["label": .string("tag \($0)")]) }
        self.fixture = fixture
    }

    private func expectTheSame(after start: EventNumber = .zero) throws {
        for id in movies + tags {
            let expected = try fixture.store.linkHistory(of: id, after: start).map(\.eventNumber)
            #expect(try fixture.store.linkEventNumbers(of: id, after: start) == expected)
        }
    }

    @Test(arguments: 1...8) func theyAreThoseOfTheLog(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        var linked: Set<[Int]> = []
        for step in 0..<60 {
            let numbers = (
                movies.indices.randomElement(using: &generator)!, tags.indices.randomElement(using: &generator)!
            )
            let (movie, tag, pair) = (movies[numbers.0], tags[numbers.1], [numbers.0, numbers.1])
            if !linked.contains(pair) {
                try fixture.link(movie, "tags", tag, place: Int64(step))
                linked.insert(pair)
            } else if Bool.random(using: &generator) {
                try fixture.move(movie, "tags", tag, place: Int64(step))
            } else {
                try fixture.unlink(movie, "tags", tag)
                linked.remove(pair)
            }
            if step % 15 == 14 { try expectTheSame() }
        }
        try expectTheSame(after: EventNumber(rawValue: 30))
    }

    @Test func linksOfMembersAndOfFormerMembersAreFound() throws {
        for movie in movies { try fixture.link(movie, "tags", tags[0]) }
        try fixture.unlink(movies[0], "tags", tags[0])
        let numbers = try fixture.store.linkEventNumbers(of: tags[0])
        #expect(numbers.count == movies.count + 1)
        try expectTheSame()
    }

    @Test func theyEndWhereHistoryBegins() throws {
        for tag in tags { try fixture.link(movies[0], "tags", tag) }
        let last = try fixture.store.head()
        try fixture.unlink(movies[0], "tags", tags[0])
        try fixture.move(movies[0], "tags", tags[1], place: 9)
        _ = try fixture.store.truncateHistory(through: last, MaintenanceNote(author: nil))
        #expect(try fixture.store.linkEventNumbers(of: movies[0]).count == 2)
        try expectTheSame()
    }

    @Test func anObjectWithoutSuchLinksHasNone() throws {
        let owner = try fixture.insert("Owner", ["name": .string("ann")])
        #expect(try fixture.store.linkEventNumbers(of: owner).isEmpty)
    }
}
