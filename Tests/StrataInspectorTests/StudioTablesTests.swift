import Foundation
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataInspector

/// What Studio offers around a table: files of it, names to type, and ranges of values.
@Suite struct StudioTablesTests {
    private let visit: StudioVisit

    init() throws { visit = try StudioVisit() }

    // MARK: Export

    @Test func aTableIsSavedAsCommaSeparatedValues() throws {
        let answer = visit.answer(
            "export/Film", ["where": "year > 1976", "sort": "-year", "columns": "title, year, genres.label"])
        #expect(answer.contentType == "text/csv; charset=utf-8" && answer.fileName == "Film.csv")
        let lines = String(decoding: answer.body, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(lines.count == 4)
        #expect(lines[0] == "object,title,year,genres.label")
        #expect(lines[1] == "Film/p7,Ponyo,2008,fantasy")
        #expect(lines[2] == "Film/p8,\"Totoro, \"\"Tonari no\"\"\",1988,")
        try visit.store.expectUntouched()
    }

    @Test func aTableIsSavedAsJSONOfTheMoment() throws {
        let answer = visit.answer("export/Film", ["as": "json", "columns": "rating", "sort": "title", "at": "3"])
        #expect(answer.contentType == "application/json; charset=utf-8" && answer.fileName == "Film.json")
        let rows = try JSONNode(answer.body)
        #expect(rows.items.map { $0["object"].text } == ["Film/p6", "Film/p7", "Film/p5", "Film/p8"])
        #expect(rows[2]["rating"].number == 8.1)
        let none = visit.answer("export/Film", ["as": "json", "where": "year = 1"])
        #expect(try JSONNode(none.body).items.isEmpty)
    }

    @Test(arguments: [["as": "xml"], ["where": "year >"], ["columns": "nothing"], ["sort": "nothing"]])
    func aWrongExportIsAProblemOfItsParameter(query: [String: String]) throws {
        #expect(try visit.page("export/Film", query, status: 400)["error"]["field"].text == query.keys.first)
    }

    // MARK: Names

    @Test func namesAreCompletedAlongKeyPaths() throws {
        func paths(_ text: String) throws -> [String?] {
            try visit.page("names/Film", ["text": text])["names"].items.map { $0["path"].text }
        }
        #expect(try paths("ra") == ["rating"])
        #expect(try paths("year > 1976 AND studio.n") == ["studio.name"])
        #expect(try paths("genres.@") == ["genres.@count"])
        #expect(try paths("-rat") == ["rating"])
        #expect(try paths("nothing").isEmpty)
        let name = try visit.page("names/Film", ["text": "studio.n"])["names"][0]
        #expect(name["type"].text == "string")
        #expect(try visit.page("names/Film", ["text": "stu"])["names"][0]["type"].text == "to-one Studio")
        #expect(try visit.page("names/Film", ["text": "year > 1 AND stu"])["replaced"].text == "stu")
    }

    @Test(arguments: ["title = 'ra", "title = \"ra", "title = 'it\\'s ra", "title = '\"ra"])
    func nothingIsCompletedInsideAQuotedValue(text: String) throws {
        #expect(try visit.page("names/Film", ["text": text])["names"].items.isEmpty)
    }

    @Test func completionGoesOnAfterAQuotedValue() throws {
        #expect(try visit.page("names/Film", ["text": "title = 'x' AND ra"])["names"].items.count == 1)
    }

    // MARK: Ranges

    /// The ranges of some values as text, each with its count.
    private func ranges(_ values: [AttributeValue]) -> [String] {
        ValueRanges(values.map { ($0, 1) }).list.map { "\($0.from) \($0.to) \($0.count)" }
    }

    @Test func rangesOfWholeNumbersBeginAtRoundNumbers() {
        let list = ValueRanges((1903...2017).map { (.integer($0), 2) }).list
        #expect(list.first?.from == .integer(1900) && list.last?.to == .integer(2020))
        #expect(list.map(\.count).reduce(0, +) == 115 * 2)
        #expect(list.first?.to == .integer(1910) && list.first?.count == 14)
        #expect(ValueRanges((0...5).map { (.integer($0), 1) }).list.map(\.count) == [1, 1, 1, 1, 1, 1])
    }

    @Test func everyValueIsInOneRange() {
        let samples: [[AttributeValue]] = [
            [.double(0.1), .double(0.2), .double(0.3), .double(-7)],
            [.double(1e300), .double(-1e300), .double(0)], [.double(1e-300), .double(2e-300)],
            [.integer(.min), .integer(.max), .integer(0)], [.float(1), .float(2.5)],
            [.decimal(1), .decimal(99)], [.date(.distantPast), .date(.distantFuture)],
            [.date(Date(timeIntervalSince1970: 0)), .date(Date(timeIntervalSince1970: 1))],
        ]
        for values in samples {
            let list = ValueRanges(values.map { ($0, 1) }).list
            #expect(list.map(\.count).reduce(0, +) == values.count, "\(values)")
            #expect(list.count <= 26, "\(values)")
        }
    }

    /// Neighbours, smallest numbers, and dates at the ends of time.
    @Test func valuesOfAnySizeMakeRangesOrNone() {
        var generator = SeededGenerator(seed: RandomTesting.seeds(unlessAsked: [7])[0])
        for round in 0..<4000 {
            let first = Double(bitPattern: .random(in: .min ... .max, using: &generator))
            guard first.isFinite else { continue }
            let near = [first.nextUp, first.nextUp.nextUp, first * 1.5, first + 1, -first]
            let last = near[round % near.count]
            guard last.isFinite, first != last else { continue }
            func make(_ number: Double) -> AttributeValue {
                switch round % 3 {
                case 0: .double(number)
                case 1: .date(Date(timeIntervalSinceReferenceDate: number))
                default: number.magnitude < 1e120 ? .decimal(Decimal(number)) : .double(number)
                }
            }
            let list = ValueRanges([(make(first), 1), (make(last), 1)]).list
            #expect(list.isEmpty || list.map(\.count).reduce(0, +) == 2 && list.count <= 26, "\(first) \(last)")
        }
    }

    @Test func rangesOfDatesAreYearsAndMonths() {
        func date(_ text: String) -> AttributeValue { .date(Date(iso8601Text: text) ?? .distantPast) }
        let years = ValueRanges([(date("1951-03-04"), 1), (date("2009-10-11"), 3)]).list
        #expect(years.first?.from == date("1950-01-01") && years.first?.to == date("1955-01-01"))
        #expect(years.last?.to == date("2010-01-01") && years.last?.count == 3)
        let months = ValueRanges([(date("2025-11-04"), 1), (date("2026-10-11"), 1)]).list
        #expect(months.count == 12 && months.first?.from == date("2025-11-01"))
    }

    @Test func whatHasNoPlaceOnALineMakesNoRanges() {
        #expect(ranges([.null, .string("a"), .string("b")]).isEmpty)
        #expect(ranges([.double(.nan), .double(.infinity)]).isEmpty)
        #expect(ranges([.integer(3)]).isEmpty)
        #expect(ranges([.null, .double(.nan), .double(1), .double(2)]).isEmpty == false)
    }

    @Test func aRangeNarrowsTheFilter() throws {
        let rows = (0..<40).map { "{\"title\":\"Film \($0)\",\"year\":\(1900 + $0),\"studio\":\"Studio/p1\"}" }
        let file = FileManager.default.temporaryDirectory.appending(component: "films-\(UUID().uuidString).ndjson")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(rows.joined(separator: "\n").utf8).write(to: file)
        let made = try Tool.run("import", visit.store.path, "Film", file.path(percentEncoded: false))
        #expect(made.exitCode == 0, "\(made.error)")
        let page = try visit.page("facet/Film/year")
        let ranges = page["ranges"].items
        #expect(ranges.compactMap { $0["count"].number }.reduce(0, +) == 44)
        for range in ranges {
            let condition = try #require(range["condition"].text)
            #expect(try visit.page("objects/Film", ["where": condition])["count"].number == range["count"].number)
        }
        #expect(try visit.page("facet/Film/title")["ranges"].items.isEmpty)
    }

    // MARK: Transactions by time

    @Test func transactionsAreChosenByTime() throws {
        func numbers(_ query: [String: String]) throws -> [Double?] {
            try visit.page("transactions", query)["transactions"].items.map { $0["number"].number }
        }
        #expect(try numbers(["since": "4"]) == [5, 4])
        #expect(try numbers(["until": "2"]) == [2, 1])
        #expect(try numbers(["since": "2", "until": "3", "limit": "1"]) == [3])
        #expect(try visit.page("transactions", ["since": "2", "until": "3", "limit": "2"])["next"].number == nil)
        let time = try #require(try visit.page("transaction/3")["transaction"]["time"].text)
        #expect(try numbers(["until": time]) == [3, 2, 1])
        #expect(try numbers(["since": "first cut"]) == [5, 4])
        #expect(try numbers(["since": "2999-01-01"]).isEmpty)
        #expect(try visit.page("transactions", ["since": "never"], status: 400)["error"]["field"].text == "since")
    }

    // MARK: Health

    @Test func aVerificationSaysWhatItReads() async throws {
        let steps = try #require(visit.studio.verification(of: visit.name, isQuick: false))
        var last = ""
        for await step in steps { last = step }
        let end = try JSONNode(Data(last.utf8))
        #expect(end["isSound"].flag == true && end["problems"].items.isEmpty)
        #expect(end["text"].text?.contains("5 transactions") ?? false)
        #expect(visit.studio.verification(of: "Other", isQuick: true) == nil)
        try visit.store.expectUntouched()
    }

    @Test func healthListsSubscriptionsWithTheirLag() throws {
        let page = try visit.page("health")
        #expect(page["views"].items.isEmpty && page["subscriptions"].items.isEmpty)
    }
}
