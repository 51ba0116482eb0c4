import Foundation
import StrataModel
import StrataStore
import Testing

@Suite struct FetchingTests {
    /// Four movies of two owners, and a fifth of nobody.
    struct Movies {
        let fixture: StoreFixture
        var ids: [String: ObjectID] = [:]

        init() throws {
            fixture = try StoreFixture()
            let ann = try fixture.insert("Owner", ["name": .string("Ann")])
            let bob = try fixture.insert("Owner", ["name": .string("Bob")])
            (ids["Ann"], ids["Bob"]) = (ann, bob)
            let rows: [(String, Int64?, Double, ObjectID?)] = [
                ("Alien", 1979, 4.5, ann), ("Brazil", 1985, 4, ann), ("Caché", 2005, 3.5, bob), ("Dune", nil, 3, bob),
                ("émile", 1990, 2, nil),
            ]
            var changes = try fixture.changes()
            for (title, year, rating, owner) in rows {
                ids[title] = try fixture.insert(
                    "Movie",
                    [
                        "title": .string(title), "year": year.map { .integer($0) } ?? .null,
                        "rating": .double(rating), "owner": owner.map { .objectID($0) } ?? .null,
                    ], into: &changes)
            }
            try fixture.save(changes)
        }

        func request(
            _ predicate: FetchPredicate? = nil, _ sort: [SortDescription] = [], limit: Int = 0, offset: Int = 0
        ) throws -> StoreRequest {
            StoreRequest(
                entityID: try fixture.entity("Movie").id, predicate: predicate, sort: sort, limit: limit,
                offset: offset)
        }

        /// Titles of what is found; the count must agree.
        func titles(
            _ predicate: FetchPredicate? = nil, _ sort: [SortDescription] = [], limit: Int = 0, offset: Int = 0
        ) throws -> [String] {
            let request = try request(predicate, sort, limit: limit, offset: offset)
            let (found, count) = try fixture.store.read(at: try fixture.store.head()) {
                (try $0.fetch(request), try $0.count(request))
            }
            #expect(found.count == count)
            return try found.map { id in
                guard case .string(let title)? = try fixture.values(id)?["title"] else { return "?" }
                return title
            }
        }
    }

    @Test func fetchWithoutPredicateFindsEveryObjectInTheOrderOfIds() throws {
        #expect(try Movies().titles() == ["Alien", "Brazil", "Caché", "Dune", "émile"])
    }

    @Test func comparisonsOfNumbersFindWhatTheySay() throws {
        let movies = try Movies()
        #expect(try movies.titles(.greaterThan("rating", 3.5)) == ["Alien", "Brazil"])
        #expect(try movies.titles(.greaterThanOrEqual("rating", 3.5)) == ["Alien", "Brazil", "Caché"])
        #expect(try movies.titles(.lessThan("year", 1985)) == ["Alien"])
        #expect(try movies.titles(.lessThan("year", .double(1985.5))) == ["Alien", "Brazil"])
        #expect(try movies.titles(.equal("year", .double(1985.5))) == [])
        #expect(try movies.titles(.between("year", 1980, 1990)) == ["Brazil", "émile"])
        #expect(try movies.titles(.isIn("rating", [2, 3, 9])) == ["Dune", "émile"])
    }

    @Test func aComparisonWithAMissingValueIsFalse() throws {
        let movies = try Movies()
        #expect(try movies.titles(.notEqual("year", 1985)) == ["Alien", "Caché", "émile"])
        #expect(try movies.titles(.isNil("year")) == ["Dune"])
        #expect(try movies.titles(.isNotNil("year")).count == 4)
        #expect(try movies.titles(!.equal("year", 1985)) == ["Alien", "Caché", "Dune", "émile"])
        #expect(try movies.titles(.isIn("year", [.null, 1979])) == ["Alien", "Dune"])
        #expect(try movies.titles(.equal("owner.name", .null)) == ["émile"])
        #expect(try movies.titles(.notEqual("owner.name", "Ann")) == ["Caché", "Dune"])
    }

    @Test func textIsComparedWholeInPartAndFolded() throws {
        let movies = try Movies()
        #expect(try movies.titles(.equal("title", "Cache\u{301}")) == ["Caché"])
        #expect(try movies.titles(.equal("title", "cache", [.caseInsensitive, .diacriticInsensitive])) == ["Caché"])
        #expect(try movies.titles(.beginsWith("title", "e", .diacriticInsensitive)) == ["émile"])
        #expect(try movies.titles(.endsWith("title", "e")) == ["Dune", "émile"])
        #expect(try movies.titles(.contains("title", "I", .caseInsensitive)) == ["Alien", "Brazil", "émile"])
        #expect(try movies.titles(.like("title", "?a*")) == ["Caché"])
        #expect(try movies.titles(.matches("title", "[A-C].*[nl]")) == ["Alien", "Brazil"])
        #expect(try movies.titles(.lessThan("title", "Caché")) == ["Alien", "Brazil"])
    }

    @Test func keyPathsCrossToOnesAndToManys() throws {
        let movies = try Movies()
        let ann = try #require(movies.ids["Ann"])
        #expect(try movies.titles(.equal("owner.name", "Ann")) == ["Alien", "Brazil"])
        #expect(try movies.titles(.equal("owner", .objectID(ann))) == ["Alien", "Brazil"])
        #expect(try movies.titles(.any("owner.movies.title", .equalTo, "Dune")) == ["Caché", "Dune"])
        #expect(try movies.titles(.all("owner.movies.rating", .greaterThan, 3.9)) == ["Alien", "Brazil", "émile"])
        #expect(try movies.titles(.equal("owner.movies.@count", 2)).count == 4)
        let alien = try #require(movies.ids["Alien"])
        #expect(try movies.titles(.contains("owner.movies", .objectID(alien))) == ["Alien", "Brazil"])
        #expect(try movies.titles(.equal("SELF", .objectID(alien))) == ["Alien"])
    }

    @Test func valuesOfTwoPathsAreCompared() throws {
        let movies = try Movies()
        let test = FetchPredicate.comparison(
            ComparisonPredicate(.keyPath("title"), .lessThan, .keyPath("owner.name")))
        #expect(try movies.titles(test) == ["Alien"])
    }

    @Test func orderLimitAndOffsetApplyToWhatIsFound() throws {
        let movies = try Movies()
        let byYear = [SortDescription("year")]
        #expect(try movies.titles(nil, byYear) == ["Dune", "Alien", "Brazil", "émile", "Caché"])
        #expect(try movies.titles(nil, [SortDescription("year", isAscending: false)], limit: 2) == ["Caché", "émile"])
        #expect(try movies.titles(nil, byYear, limit: 2, offset: 1) == ["Alien", "Brazil"])
        #expect(try movies.titles(nil, byYear, offset: 9) == [])
        let byOwner = [SortDescription("owner.name", isAscending: false), SortDescription("title")]
        #expect(try movies.titles(nil, byOwner) == ["Caché", "Dune", "Alien", "Brazil", "émile"])
        #expect(
            try movies.titles(nil, [SortDescription("title", folding: [.caseInsensitive, .diacriticInsensitive])]).last
                == "émile")
    }

    @Test func aRequestThatCannotRunIsRefusedWhenItIsMade() throws {
        let movies = try Movies()
        func refusal(_ predicate: FetchPredicate?, _ sort: [SortDescription] = []) throws -> StrataError? {
            do {
                _ = try CompiledQuery(try movies.request(predicate, sort), movies.fixture.schema)
                return nil
            } catch let error as StrataError {
                return error
            }
        }
        let unknown = try #require(try refusal(.equal("titel", "x")))
        #expect(unknown.code == .unknownKey)
        #expect(unknown.message.contains("title"))
        #expect(try refusal(.equal("owner.nam", "x"))?.code == .unknownKey)
        #expect(try refusal(.equal("title", 5))?.code == .wrongType)
        #expect(try refusal(.contains("year", 5))?.code == .wrongType)
        #expect(try refusal(.equal("tags", .null))?.code == .invalidRequest)
        #expect(try refusal(.comparison(.init(.keyPath("year"), .between, .constant(5))))?.code == .invalidRequest)
        #expect(try refusal(.matches("title", "[a"))?.code == .invalidRequest)
        #expect(try refusal(nil, [SortDescription("tags")])?.code == .invalidRequest)
        #expect(try refusal(nil, [SortDescription("rank")])?.code == .unknownKey)
    }
}
