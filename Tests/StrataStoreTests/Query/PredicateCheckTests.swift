import StrataModel
import Testing

@testable import StrataStore

/// What a request is refused for when it is made, format string by format string.
@Suite struct PredicateCheckTests {
    private let movies: FetchingTests.Movies

    init() throws { movies = try FetchingTests.Movies() }

    private func refusal(_ format: String) throws -> StrataError? {
        let predicate = try FetchPredicate(format: format)
        do {
            _ = try CompiledQuery(try movies.request(predicate), movies.fixture.schema)
            return nil
        } catch let error as StrataError {
            return error
        }
    }

    @Test(arguments: [
        ("titel == 'x'", "title"), ("length:(titel) > 3", "title"), ("owner.nam == 'x'", "name"),
        ("SUBQUERY(tag, $t, $t.name == 'x').@count > 0", "tags"), ("owner.movies.@sum.ratin + 1 > 3", "rating"),
        ("SUBQUERY(owner.movies, $m, $m.titel == 'x')[SIZE] > 0", "title"),
        ("TERNARY(yeer == 5, 1, 2) == 1", "year"), ("ANY owner.movies.yeer + 1 == 1", "year"),
    ])
    func unknownNamesComeWithTheNearestOne(format: String, nearest: String) throws {
        let error = try #require(try refusal(format))
        #expect(error.code == .unknownKey)
        #expect(error.message.contains("did you mean \(nearest)?"), "\(error.message)")
        #expect(error.context.entityName != nil)
    }

    @Test(arguments: [
        "title == 5", "title.length == 'x'", "year CONTAINS '1'", "title + 1 == 2", "sqrt:(title) > 1",
        "uppercase:(year) == 'X'",
        "length:(year) == 4", "year * 2 == 'x'", "owner.movies.@sum.title > 1", "owner.name - 1 > 0",
        "length:(title) BEGINSWITH '1'", "TERNARY(year > 1, title, 'x') > 5", "SUBQUERY(title, $x, $x == 1).@count > 0",
        "title UNION tags == {1}", "SUBQUERY(owner.movies, $m, $m.year LIKE 'x').@count == 1", "title.@count == 1",
        "year & title == 1", "ANY owner.movies.title + 1 > 2", "year IN FETCH('Movie', nil, TRUE)",
        "tags UNION owner.movies != {1}",
        "tags[title] == nil && year + now() > 5",
    ])
    func wrongTypesAreRefused(format: String) throws {
        let error = try #require(try refusal(format), "\(format)")
        #expect([.wrongType, .unknownKey].contains(error.code), "\(error)")
        #expect(error.context.entityName != nil && error.context.predicate != nil)
    }

    @Test(arguments: [
        "owner.movies.rating + 1 > 2", "ANY owner.movies.rating + owner.movies.year > 2",
        "FETCH({: 'entity': 'Movie', 'predicate': 'tags == nil'}, nil, YES) > 1",
        "tags == nil", "owner.movies.title == 'x'", "year == owner.movies.year",
        "SUBQUERY(owner.movies, $m, $m.year > 1) > 5", "year + 1 BETWEEN 5", "year + 1 BETWEEN {1, 2, 3}",
        "length:(title) == {1, 2}", "$x == 5", "SUBQUERY(owner.movies, $m, $n.year > 1).@count > 5",
        "FUNCTION(title, 'dropTable:', 1) == 2", "title isKindOfClass: 'x'",
        "FUNCTION(year, 'distanceToLocation:fromLocation:', year) == 1",
        "owner.movies.@averge.rating + 1 == 3", "uppercase:(title) MATCHES '('",
    ])
    func whatCannotRunIsRefused(format: String) throws {
        let error = try #require(try refusal(format), "\(format)")
        #expect(error.code == .invalidRequest, "\(error)")
        #expect(error.context.entityName != nil)
    }

    @Test(arguments: [
        "uppercase:(title) BEGINSWITH 'A' AND year + 1 > owner.movies.@count", "ANY owner.movies.title.length == 5",
        "SUBQUERY(owner.movies, $m, $m.year > year AND $m.owner == SELF.owner).@count > 0",
        "TERNARY(year == nil, 0, year) % 2 == 1".replacing("%", with: "%%"), "owner.movies.@max.year - year <= 10",
        "(tags UNION tags) != tags", "owner.movies[FIRST].title == title", "length:(title) IN {3, 4, 5}",
        "FUNCTION(title, 'lowercaseString') == 'alien'", "noindex:(title) LIKE 'a*'",
        "CAST(year, 'NSString') ENDSWITH '9'",
        "max:(year, 1979) == year", "owner.movies.@distinctUnionOfObjects.year.@count >= 1",
        "title.length > 3 || year ** 2 > 0", "ANY owner.movies.rating + 1 > 2", "ALL abs:(owner.movies.year) < 3000",
        "ANY uppercase:(owner.movies.title) BEGINSWITH 'A'", "FETCH('Movie', nil, YES) > 1",
        "SELF IN FETCH({: 'entity': 'Movie', 'predicate': 'year > 1', 'limit': 2}, nil, NO)",
    ])
    func whatMakesSenseIsNotRefused(format: String) throws {
        let error = try refusal(format)
        #expect(error == nil, "\(format): \(error.map { "\($0)" } ?? "")")
        let predicate = try FetchPredicate(format: format)
        _ = try movies.titles(predicate)
    }

    @Test func theLengthOfTextIsAPropertyToo() throws {
        #expect(try movies.titles(try FetchPredicate(format: "title.length == 6")) == ["Brazil"])
        #expect(
            try movies.titles(try FetchPredicate(format: "owner.name.length == 3 AND title.length < 5")) == ["Dune"])
        #expect(
            try movies.titles(try FetchPredicate(format: "ANY owner.movies.title.length == 4")) == ["Caché", "Dune"])
    }
}
