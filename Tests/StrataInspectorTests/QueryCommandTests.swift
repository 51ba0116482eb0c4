import Foundation
import Testing

@Suite struct QueryCommandTests {
    private let store: FilmStore

    init() throws { store = try FilmStore() }

    private func query(_ arguments: String...) throws -> Tool.Result {
        let result = try Tool.run(["query", store.path] + arguments)
        try store.expectUntouched()
        return result
    }

    @Test func aTableHasTheObjectItsAttributesAndItsToOnes() throws {
        #expect(
            try query("Film", "--sort", "year")
                == .init(
                    output: """
                        object   title                year  rating  released                  studio
                        Film/p6  Mirror               1975       8  nil                       Studio/p1 (Mosfilm)
                        Film/p5  Stalker              1979       9  1979-05-21T00:00:00.000Z  Studio/p1 (Mosfilm)
                        Film/p8  Totoro, "Tonari no"  1988     nil  nil                       Studio/p2 (Ghibli)
                        Film/p7  Ponyo                2008     7.6  nil                       Studio/p2 (Ghibli)
                        4 rows

                        """, error: "", exitCode: 0))
    }

    /// `count` in a condition on groups is the number of objects, whatever the columns are and are called.
    @Test(arguments: [
        ("year > 0", "studio.name", "count > 1 AND max(year) < 1980", "Mosfilm"),
        ("year > 0", "studio.name, count AS films", "count > 1 AND films < 3 AND min(year) > 1980", "Ghibli,2"),
        ("year > 0", "max(year)", "NOT count < 2 AND studio.name BEGINSWITH 'M'", "1979"),
    ])
    func aConditionOnGroupsCountsTheirObjects(condition: String, columns: String, having: String, row: String) throws {
        let result = try query(
            "Film", "--where", condition, "--group-by", "studio.name", "--columns", columns, "--having", having,
            "--format", "csv")
        #expect(result.exitCode == 0 && result.output.split(separator: "\n").dropFirst() == [row[...]], "\(result)")
    }

    /// What the article on the format language says of a list behind a missing object, and of `ANY … NOT IN`.
    @Test(arguments: [
        ("studio.films.@count == 0", 0), ("studio.films.@count == nil", 1),
        ("SUBQUERY(studio.films, $f, $f.year > 0).@count == 0", 1), ("ANY studio.films.year > 0", 4),
        ("SUBQUERY(studio.films, $f, $f.year > 0)[SIZE] == 0", 1), ("ANY genres.label NOT IN {'drama'}", 3),
        ("SUBQUERY(studio.films, $f, $f.year > 0 OR TRUEPREDICATE).@count + 0 == 0", 1),
        ("NOT (ANY genres.label IN {'drama'})", 3), ("ANY genres.label != 'drama'", 2),
        ("SUBQUERY(genres, $g, NOT $g.label IN {'drama'}).@count > 0", 2),
    ])
    func listsBehindNothingAreAsTheArticleSays(condition: String, count: Int) throws {
        let missing = try Tool.run("insert", store.path, "Film", "title=Lone", "year=2000")
        #expect(missing.exitCode == 0)
        let result = try Tool.run("count", store.path, "Film", "--where", condition)
        #expect(result.output == "\(count)\n", "\(result)")
    }

    @Test func whereSortLimitAndColumnsSayWhatIsPrinted() throws {
        let result = try query(
            "Film", "--where", "studio.name = 'Mosfilm' OR ANY genres.label BEGINSWITH 'fan'", "--sort",
            "studio.name,-year", "--limit", "2", "--columns", "title, studio.name, genres.@count, rating * 10",
            "--format", "csv")
        #expect(
            result
                == .init(
                    output: """
                        title,studio.name,genres.@count,rating * 10
                        Ponyo,Ghibli,1,76
                        Stalker,Mosfilm,2,90

                        """, error: "", exitCode: 0))
        #expect(
            try query("Film", "--sort", "year", "--offset", "3", "--columns", "year", "--format", "csv").output
                == "year\n2008\n")
        #expect(try query("Film", "--limit", "0", "--columns", "year", "--json").output == "[]\n")
    }

    @Test func whatBeginsWithAMinusIsAValue() throws {
        let films = try query(
            "Film", "--where", "-year < %@", "--argument", "-1980", "--columns", "-year", "--sort", "-year",
            "--format", "csv")
        #expect(films == .init(output: "-year\n-2008\n-1988\n", error: "", exitCode: 0))
        let groups = try query(
            "Film", "--group-by", "studio.name", "--columns", "studio.name,count", "--having", "-count < -1", "--sort",
            "studio.name", "--format", "csv")
        #expect(groups == .init(output: "studio.name,count\nGhibli,2\nMosfilm,2\n", error: "", exitCode: 0))
    }

    @Test(arguments: [
        "released = '1979-05-21'", "released >= '1979-05-21T00:00:00Z' AND released < \"1979-05-21T02:00:01+02:00\"",
        "released == CAST('1979-05-21', 'NSDate')", "released BETWEEN {'1979-01-01', '1980-01-01'}",
        "'1979-05-20' < released",
    ])
    func datesAreWrittenAsText(format: String) throws {
        let films = try query("Film", "--where", format, "--columns", "title", "--format", "csv")
        #expect(films == .init(output: "title\nStalker\n", error: "", exitCode: 0))
    }

    @Test func textThatIsNoDateIsToldWithDatesThatAre() throws {
        for text in ["'21.5.1979'", "1979", "'soon'"] {
            let error = try query("Film", "--where", "released = \(text)").error
            #expect(
                error.contains("released is a date and cannot be compared with")
                    && error.contains("Write a date as '2026-11-21' or '2026-11-21T18:30:00Z'"), "\(error)")
        }
    }

    @Test func whatAFormatCannotAskForIsToldWithWhatCan() throws {
        #expect(
            try query("Studio", "--where", "films == nil").error
                == "strata: films has many values; compare it with ANY, ALL or CONTAINS. To test whether it has members, "
                + "write films.@count == 0.\n")
        #expect(
            try query("Studio", "--where", "entity.name == 'Studio'").error
                == "strata: Studio has no property named entity; the request itself says which entity it is for, and "
                + "whether subentities are included.\n")
    }

    @Test func rowsComeAsJSONAndNDJSONInTheOrderOfTheColumns() throws {
        #expect(
            try query("Film", "--where", "rating = nil", "--columns", "title,studio,rating,year", "--json").output
                == """
                [
                  {"title":"Totoro, \\"Tonari no\\"","studio":"Studio/p2","rating":null,"year":1988}
                ]

                """)
        #expect(
            try query("Genre", "--columns", "object,label", "--format", "ndjson", "--sort", "-label").output
                == """
                {"object":"Genre/p4","label":"fantasy"}
                {"object":"Genre/p3","label":"drama"}

                """)
    }

    @Test func csvQuotesWhatNeedsItAndLeavesNilEmpty() throws {
        #expect(
            try query("Film", "--where", "year = 1988", "--columns", "title,rating,year", "--format", "csv").output
                == "title,rating,year\n\"Totoro, \"\"Tonari no\"\"\",,1988\n")
    }

    @Test func groupsHaveCountsAndAggregatesAndAreChosenByHaving() throws {
        #expect(
            try query("Film", "--group-by", "studio.name").output
                == """
                studio.name  count
                Ghibli           2
                Mosfilm          2
                2 rows

                """)
        #expect(
            try query(
                "Film", "--group-by", "studio.name", "--columns", "studio.name, max(year), average(rating)", "--having",
                "max(year) < 2000", "--format", "ndjson"
            ).output == "{\"studio.name\":\"Mosfilm\",\"max(year)\":1979,\"average(rating)\":8.5}\n")
        #expect(
            try query("Film", "--columns", "studio.name", "--distinct", "--sort", "-studio.name", "--format", "csv")
                .output
                == "studio.name\nMosfilm\nGhibli\n")
    }

    @Test func aColumnAcrossAToManyIsAList() throws {
        #expect(
            try query("Film", "--columns", "title, genres.label, genres", "--sort", "year", "--limit", "2").output
                == """
                title    genres.label    genres
                Mirror   drama           Genre/p3 (drama)
                Stalker  drama, fantasy  Genre/p3 (drama), Genre/p4 (fantasy)
                2 rows

                """)
        #expect(
            try query("Film", "--columns", "genres.label,title", "--where", "year = 1979", "--format", "ndjson").output
                == "{\"genres.label\":[\"drama\",\"fantasy\"],\"title\":\"Stalker\"}\n")
        #expect(
            try query("Genre", "--columns", "films.genres.label", "--sort", "label", "--limit", "1", "--format", "csv")
                .output.hasPrefix("films.genres.label\ndrama;"))
        // Lists go with rows that are sorted by what they hold.
        #expect(
            try query(
                "Film", "--columns", "title.length AS n, genres.label", "--sort", "-n", "--where",
                "genres.@count > 0", "--limit", "1", "--format", "csv"
            ).output == "n,genres.label\n7,drama;fantasy\n")
        let refused = try query("Film", "--columns", "genres.label", "--distinct")
        #expect(refused.exitCode == 2 && refused.error.contains("genres.label has many values"), "\(refused)")
    }

    @Test func aColumnHasTheNameAfterAS() throws {
        #expect(
            try query(
                "Film", "--group-by", "studio.name", "--columns",
                "studio.name AS studio, count as films, max(year) AS 'last year'", "--sort", "-films,'last year'",
                "--having", "films > 1", "--format", "csv"
            ).output == "studio,films,last year\nMosfilm,2,1979\nGhibli,2,2008\n")
        let wrong = try query("Film", "--columns", "title AS a name")
        #expect(wrong.exitCode == 2 && wrong.error.contains("title AS 'a name'"), "\(wrong)")
    }

    @Test func groupsCrossToManysAndAreSortedByWhatIsNoColumn() throws {
        #expect(
            try query("Film", "--group-by", "genres.label", "--sort", "-count,genres.label").output
                == """
                genres.label  count
                drama             2
                fantasy           2
                nil               1
                3 rows

                """)
        #expect(
            try query(
                "Film", "--group-by", "studio.name", "--columns", "count", "--sort", "-studio.name,-count", "--format",
                "csv"
            ).output == "count\n2\n2\n")
        #expect(
            try query(
                "Film", "--group-by", "studio.name", "--columns", "studio.name", "--sort", "-average(year)", "--format",
                "csv"
            ).output == "studio.name\nGhibli\nMosfilm\n")
    }

    @Test(arguments: ["t3", "first cut", "tag:first cut", "2026-01-01T00:00:03Z"])
    func thePastIsAskedByEventNumberTransactionTagOrDate(moment: String) throws {
        #expect(
            try query("Film", "--where", "rating > 8", "--columns", "title,rating", "--at", moment, "--format", "csv")
                .output == "title,rating\nStalker,8.1\n")
    }

    @Test func anArgumentMayBeAnObject() throws {
        #expect(
            try query(
                "Film", "--where", "studio = %@ AND year > %@", "--argument", "Studio/p2", "--argument", "2000",
                "--columns",
                "title", "--format", "csv"
            ).output == "title\nPonyo\n")
    }

    @Test func explainCountsTheRowsOfAScanOnce() throws {
        let text = try query("Film", "--explain").output
        #expect(text.contains("scan of all rows of Film  rows 4 (estimated 4.0)"), "\(text)")
    }

    @Test func explainTellsThePlanAndNoRows() throws {
        let text = try query("Film", "--where", "year BETWEEN {1970, 1980}", "--explain")
        #expect(text.exitCode == 0)
        #expect(text.output.hasPrefix("objects of Film  rows 2 "), "\(text.output)")
        #expect(text.output.contains("index byYear"))
        let json = try query("Film", "--where", "year = 1975", "--explain", "--json")
        #expect(json.output.contains("\"index\" : \"byYear\""))
    }

    @Test func questionsThatCannotBeAskedFailWithALocationAndExitCodeTwo() throws {
        #expect(
            try query("Film", "--where", "year = = 3")
                == .init(
                    output: "",
                    error: "strata: Column 8: expected a value, found \"=\".\nyear = = 3\n       ^\n", exitCode: 2))
        let unknown = try query("Film", "--where", "yaer = 1975")
        #expect(unknown.exitCode == 2 && unknown.error.contains("year") && unknown.output.isEmpty, "\(unknown)")
        let column = try query("Film", "--columns", "tilte", "--format", "csv")
        #expect(column.exitCode == 2 && column.error.contains("title") && column.output.isEmpty, "\(column)")
        #expect(
            try query("Flim").error
                == "strata: The store has no entity 'Flim'. Did you mean 'Film'? It has Film, Studio, Genre, Still.\n")
        #expect(try query("Film", "--format", "xml").exitCode == 2)
        #expect(try query("Film", "--argument", "3").exitCode == 2)
        #expect(try query("Film", "--at", "tag:nothing").error.hasSuffix("It has first cut.\n"))
    }

    @Test func countPrintsTheNumberAlone() throws {
        #expect(try Tool.run("count", store.path, "Film") == .init(output: "4\n", error: "", exitCode: 0))
        #expect(try Tool.run("count", store.path, "Film", "--where", "rating != nil").output == "3\n")
        #expect(try Tool.run("count", store.path, "Film", "--at", "t2").output == "0\n")
        #expect(
            try Tool.run("count", store.path, "Film", "--json").output
                == "{\n  \"count\" : 4,\n  \"entity\" : \"Film\",\n  \"eventNumber\" : 15\n}\n")
        try store.expectUntouched()
    }

    @Test func aClosedPipeEndsItQuietly() throws {
        let result = try Tool.shell("$strata query '\(store.path)' Film | true; echo ${PIPESTATUS[0]}")
        #expect(result.output == "0\n")
    }
}
