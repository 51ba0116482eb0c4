import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Values instead of objects: properties, expressions, aggregates and groups.
@Suite struct RowsTests {
    private let count = FetchExpression.function(.count, [.evaluatedObject])

    private func rows(
        _ movies: FetchingTests.Movies, _ columns: [OutputColumn], _ predicate: FetchPredicate? = nil,
        groupBy: [String] = [], having: FetchPredicate? = nil, sort: [SortDescription] = [], limit: Int = 0,
        offset: Int = 0, isDistinct: Bool = false
    ) throws -> [[AttributeValue]] {
        let request = RowsRequest(
            objects: try movies.request(predicate, sort, limit: limit, offset: offset), columns: columns,
            groupBy: groupBy, having: having, isDistinct: isDistinct)
        let fixture = movies.fixture
        return try fixture.store.read(at: try fixture.store.head()) { try $0.rows(request) }.map(Array.init)
    }

    @Test func propertiesAndExpressionsComeAsRowsInOrder() throws {
        let movies = try FetchingTests.Movies()
        let columns = [
            OutputColumn("title"), OutputColumn("owner.name"),
            OutputColumn("twice", .function(.multiply, [.keyPath("rating"), .constant(.integer(2))])),
        ]
        #expect(
            try rows(movies, columns, .greaterThan("rating", 2.5), sort: [SortDescription("rating")], limit: 2) == [
                ["Dune", "Bob", 6.0], ["Caché", "Bob", 7.0],
            ])
        #expect(try rows(movies, columns, .equal("title", "émile")) == [["émile", .null, 4.0]])
    }

    @Test func distinctRowsComeOnceAndLimitsCountThem() throws {
        let movies = try FetchingTests.Movies()
        let owner = [OutputColumn("owner", .keyPath("owner.name"))]
        #expect(try rows(movies, owner, isDistinct: true) == [["Ann"], ["Bob"], [.null]])
        let sort = [SortDescription("owner", isAscending: false, nullPlacement: .first)]
        #expect(try rows(movies, owner, sort: sort, limit: 2, isDistinct: true) == [[.null], ["Bob"]])
        #expect(try rows(movies, owner, sort: sort, offset: 2, isDistinct: true) == [["Ann"]])
    }

    @Test(arguments: [(1, 0), (7, 3), (40, 0), (1000, 5), (Int.max, 2)])
    func aLimitTakesTheFirstOfAllGroups(limit: Int, offset: Int) throws {
        let movies = try FetchingTests.Movies()
        var generator = SeededGenerator(seed: 3)
        var changes = try movies.fixture.changes()
        for number in 0..<900 {
            let year = Int64.random(in: 0..<500, using: &generator)
            _ = try movies.fixture.insert(
                "Movie", ["title": .string("movie \(number)"), "year": .integer(year), "rating": .double(0)],
                into: &changes)
        }
        try movies.fixture.save(changes)
        let columns = [OutputColumn("year"), OutputColumn("n", count)]
        let sort = [SortDescription("n", isAscending: false)]
        let all = try rows(movies, columns, groupBy: ["year"], sort: sort)
        #expect(all.count > 350)
        let part = try rows(movies, columns, groupBy: ["year"], sort: sort, limit: limit, offset: offset)
        #expect(part == Array(all.dropFirst(offset).prefix(limit)))
    }

    @Test func aggregatesOfEverythingMakeOneRow() throws {
        let movies = try FetchingTests.Movies()
        let columns = [
            OutputColumn("count", count), OutputColumn("years", .function(.count, [.keyPath("year")])),
            OutputColumn("first", .function(.min, [.keyPath("year")])),
            OutputColumn("last", .function(.max, [.keyPath("title")])),
            OutputColumn("sum", .function(.sum, [.keyPath("rating")])),
            OutputColumn("average", .function(.average, [.keyPath("rating")])),
            OutputColumn("median", .function(.median, [.keyPath("rating")])),
        ]
        #expect(try rows(movies, columns) == [[5, 4, 1979, "émile", 17.0, 3.4, 3.5]])
        #expect(
            try rows(movies, columns, .equal("title", "none"))
                == [[0, 0, .null, .null, 0.0, .null, .null]])
    }

    @Test func groupsHaveKeysAggregatesAndAConditionOfTheirOwn() throws {
        let movies = try FetchingTests.Movies()
        let best = FetchExpression.function(.max, [.keyPath("rating")])
        let columns = [
            OutputColumn("owner", .keyPath("owner.name")), OutputColumn("n", count), OutputColumn("best", best),
        ]
        #expect(
            try rows(movies, columns, groupBy: ["owner.name"])
                == [[.null, 1, 2.0], ["Ann", 2, 4.5], ["Bob", 2, 3.5]])
        #expect(
            try rows(
                movies, columns, groupBy: ["owner.name"], having: .greaterThan("n", 1), sort: [SortDescription("best")])
                == [["Bob", 2, 3.5], ["Ann", 2, 4.5]])
        let having = FetchPredicate.comparison(ComparisonPredicate(best, .lessThan, .constant(.double(3))))
        #expect(try rows(movies, [OutputColumn("n", count)], groupBy: ["owner.name"], having: having) == [[1]])
    }

    @Test func groupsAreSortedByKeysAndAggregatesThatAreNoColumns() throws {
        let movies = try FetchingTests.Movies()
        let n = [OutputColumn("n", count)]
        let descending = SortDescription("owner.name", isAscending: false)
        #expect(try rows(movies, n, groupBy: ["owner.name"], sort: [descending]) == [[2], [2], [1]])
        let best = SortDescription("max(rating)", isAscending: false)
        #expect(
            try rows(movies, [OutputColumn("owner.name")], groupBy: ["owner.name"], sort: [best], limit: 2)
                == [["Ann"], ["Bob"]])
    }

    @Test func rowsAreSortedByComputedColumnsAndExpressions() throws {
        let movies = try FetchingTests.Movies()
        let columns = [
            OutputColumn("title"),
            OutputColumn("rating", .function(.subtract, [.constant(.integer(0)), .keyPath("rating")])),
        ]
        // A column's name means the column, not the property of that name.
        #expect(
            try rows(movies, columns, sort: [SortDescription("rating")], limit: 2) == [
                ["Alien", -4.5], ["Brazil", -4.0],
            ])
        let length = [OutputColumn("title"), OutputColumn("title.length")]
        #expect(
            try rows(movies, length, sort: [SortDescription("title.length"), SortDescription("title")], offset: 1)
                == [["Alien", 5], ["Caché", 5], ["émile", 5], ["Brazil", 6]])
        #expect(
            try rows(movies, [OutputColumn("title")], sort: [SortDescription("0 - rating")], limit: 1) == [["Alien"]])
    }

    @Test func anObjectIsOnceInTheGroupOfEachValueOfItsMembers() throws {
        let movies = try FetchingTests.Movies()
        let fixture = movies.fixture
        func owners(_ groupBy: [String]) throws -> [[AttributeValue]] {
            let request = RowsRequest(
                objects: StoreRequest(entityID: try fixture.entity("Owner").id),
                columns: groupBy.map { OutputColumn($0) } + [OutputColumn("n", count)], groupBy: groupBy)
            return try fixture.store.read(at: try fixture.store.head()) { try $0.rows(request) }.map(Array.init)
        }
        _ = try fixture.insert("Owner", ["name": .string("Cid")])
        _ = try fixture.insert(
            "Movie", ["title": .string("Alien"), "year": .integer(1986), "owner": .objectID(movies.ids["Ann"]!)])
        #expect(
            try owners(["movies.title"])
                == [[.null, 1], ["Alien", 1], ["Brazil", 1], ["Caché", 1], ["Dune", 1]])
        // Two keys across the same to-many are those of the same member.
        #expect(
            try owners(["movies.title", "movies.year"]) == [
                [.null, .null, 1], ["Alien", 1979, 1], ["Alien", 1986, 1], ["Brazil", 1985, 1], ["Caché", 2005, 1],
                ["Dune", .null, 1],
            ])
    }

    @Test func countsAndExtremesOfIndexedPropertiesComeFromTheIndex() throws {
        let movies = try FetchingTests.Movies()
        let fixture = movies.fixture
        let extremes = ["rating", "title"].flatMap { path in
            [FetchFunction.min, .max].map { OutputColumn("\($0.rawValue)\(path)", .function($0, [.keyPath(path)])) }
        }
        let request = RowsRequest(
            objects: try movies.request(), columns: extremes + [OutputColumn("count", count)])
        for access in [CompiledQuery.Access.scanOnly, .avoidingScans] {
            let rows = try CompiledRows(request, fixture.schema, access: access)
            let found = try fixture.store.read(at: try fixture.store.head()) { try $0.rows(rows) }
            #expect(found.map(Array.init) == [[2.0, 4.5, "Alien", "émile", 5]])
        }
    }

    @Test func whatAGroupHasNoSingleValueOfIsRefused() throws {
        let movies = try FetchingTests.Movies()
        func refusal(_ columns: [OutputColumn], groupBy: [String] = [], sort: [SortDescription] = []) -> StrataError? {
            do {
                _ = try rows(movies, columns, groupBy: groupBy, sort: sort)
                return nil
            } catch { return error as? StrataError }
        }
        #expect(refusal([OutputColumn("title"), OutputColumn("n", count)])?.code == .invalidRequest)
        #expect(refusal([OutputColumn("titel")])?.code == .unknownKey)
        #expect(refusal([OutputColumn("n", .function(.sum, [.keyPath("title")]))])?.code == .wrongType)
        #expect(refusal([])?.code == .invalidRequest)
        #expect(refusal([OutputColumn("tags")])?.code == .invalidRequest)
        #expect(
            refusal([OutputColumn("n", count)], groupBy: ["year"], sort: [SortDescription("title")])?.code
                == .invalidRequest)
    }
}
