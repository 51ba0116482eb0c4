import Foundation
import Testing

@Suite struct TransferCommandTests {
    private let store: FilmStore

    init() throws { store = try FilmStore() }

    private func file(_ name: String, _ text: String) throws -> String {
        let path = store.directory.appending(component: name).path(percentEncoded: false)
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    private func take(_ entity: String, _ file: String, _ arguments: String...) throws -> Tool.Result {
        try Tool.run(["import", store.path, entity, file] + arguments)
    }

    private func rows(_ entity: String, _ columns: String, _ arguments: String...) throws -> String {
        try Tool.run(["query", store.path, entity, "--columns", columns, "--format", "csv"] + arguments).output
    }

    private func expectSound() throws {
        let result = try Tool.run("verify", store.path)
        #expect(result.exitCode == 0, "\(result)")
    }

    @Test func csvIsImportedByMappedKeysWithObjectsByTheirNames() throws {
        let path = try file(
            "films.csv",
            "\u{FEFF}Title,Year,\"Made by\",Genres,Comment\r\nSolaris,1972,Mosfilm,drama;fantasy,x\r\n"
                + "\"Nostal\"\"ghia, \",1983,Gaumont,,\r\n")
        #expect(
            try take("Film", path, "--map", "Made by=studio.name", "--map", "Genres=genres.label")
                == .init(
                    output: "",
                    error:
                        "strata: Film has no property 'Comment'. It has title, year, rating, released, studio, genres. "
                        + "Say --map 'Comment=PROPERTY', --map 'Comment=' to leave it out, or --ignore-unknown.\n",
                    exitCode: 2))
        let missing = try take(
            "Film", path, "--map", "Made by=studio.name", "--map", "Genres=genres.label", "--ignore-unknown")
        #expect(missing.exitCode == 1)
        #expect(
            missing.error.contains("line 3: Made by=studio.name") || missing.error.contains("line 3:"), "\(missing)")
        #expect(
            try take(
                "Film", path, "--map", "Made by=studio.name", "--map", "Genres=genres.label", "--map", "Comment=",
                "--missing", "create"
            ).output == "2 records: 2 inserted, 1 created beside them, in 1 transaction\n")
        #expect(
            try rows(
                "Film", "title,year,studio.name,genres.@count", "--where", "year IN {1972, 1983}", "--sort", "year")
                == "title,year,studio.name,genres.@count\nSolaris,1972,Mosfilm,2\n\"Nostal\"\"ghia, \",1983,Gaumont,0\n"
        )
        try expectSound()
    }

    @Test func linksToWhatIsMissingAreLeftOutAndCounted() throws {
        let path = try file(
            "left.csv", "title,year,studio.name,genres.label\nA,1990,Gaumont,drama;war\nB,1991,Mosfilm,noir\n")
        #expect(
            try take("Film", path, "--missing", "leave").output
                == "2 records: 2 inserted, 3 links left out, in 1 transaction\n")
        #expect(try take("Film", path, "--missing", "leave", "--json").output.contains("\"leftOut\" : 3"))
        try expectSound()
    }

    @Test(arguments: ["json", "ndjson", "csv", "plist"])
    func whatIsExportedIsImportedAsItWas(form: String) throws {
        let path = store.path + "/films.\(form)"
        let columns = "title,year,rating,released,studio.name,genres.label"
        let exported = try Tool.run("export", store.path, "Film", path, "--columns", columns)
        #expect(exported == .init(output: "\(path): 4 objects\n", error: "", exitCode: 0))
        try store.expectUntouched()
        let before = try rows("Film", "title,year,rating,released,studio.name,genres.@count", "--sort", "year")
        #expect(try Tool.run("delete", store.path, "Film", "--all").exitCode == 0)
        let imported = try take("Film", path)
        #expect(imported == .init(output: "4 records: 4 inserted, in 1 transaction\n", error: "", exitCode: 0))
        #expect(try rows("Film", "title,year,rating,released,studio.name,genres.@count", "--sort", "year") == before)
        try expectSound()
    }

    @Test func toOnesAreExportedByWhatIsUniqueThere() throws {
        #expect(
            try Tool.run("export", store.path, "Film", "--where", "year = 1979").output
                == """
                {"title":"Stalker","year":1979,"rating":9,"released":"1979-05-21T00:00:00.000Z","studio.name":"Mosfilm"}

                """)
        #expect(try Tool.run("export", store.path, "Film", "--where", "year = 1", "--json").output == "[]\n")
        #expect(
            try Tool.run("export", store.path, "Genre", "--columns", "label,films.title", "--sort", "label").output
                == """
                {"label":"drama","films.title":["Stalker","Mirror"]}
                {"label":"fantasy","films.title":["Stalker","Ponyo"]}

                """)
        #expect(try Tool.run("export", store.path).exitCode == 2)
        try store.expectUntouched()
    }

    @Test func eventsAreExportedAsCloudEvents() throws {
        let identifier = try #require(
            try JSONSerialization.jsonObject(
                with: Data(try Tool.run("inspect", store.path, "--json").output.utf8)) as? [String: Any])["store"]
        let id = try #require(identifier as? String)
        let result = try Tool.run("export", store.path, "--form", "cloudevents", "--since", "t4", "--until", "t4")
        #expect(
            result.output
                == """
                {"specversion":"1.0","id":"14","source":"strata://\(id)","type":"strata.updated","subject":"Film/p5",\
                "time":"2026-01-01T00:00:04.000Z","sequence":"14","stratatransaction":"4","strataauthor":"bob",\
                "datacontenttype":"application/json","data":{"changes":{"rating":{"after":9,"before":8.1},\
                "released":{"after":"1979-05-21T00:00:00.000Z","before":null}}}}

                """)
        try store.expectUntouched()
    }

    @Test func aClashIsAnErrorOrSkippedOrMerged() throws {
        let path = try file("studios.json", #"[{"name": "Ghibli", "country": "Japan"}, {"name": "Toho"}]"#)
        #expect(try take("Studio", path).exitCode == 1)
        #expect(
            try take("Studio", path, "--on-clash", "skip").output
                == "2 records: 1 inserted, 1 skipped, in 1 transaction\n")
        #expect(
            try take("Studio", path, "--on-clash", "merge", "--json").output.contains("\"merged\" : 2"))
        #expect(
            try rows("Studio", "name,country", "--sort", "name")
                == "name,country\nGhibli,Japan\nMosfilm,SU\nToho,\n")
        try expectSound()
    }

    @Test(arguments: ["merge", "replace", "skip"])
    func toManysAreLinkedWhateverBecomesOfAClash(way: String) throws {
        let path = try file(
            "studios.json",
            #"[{"name": "Ghibli", "films": ["Stalker", "Ponyo"]}, {"name": "Toho", "films": ["Mirror"]}]"#)
        #expect(try take("Studio", path, "--map", "films=films.title", "--on-clash", way).exitCode == 0)
        let expected =
            way == "skip"
            ? "title,studio.name\nMirror,Toho\nPonyo,Ghibli\nStalker,Mosfilm\n\"Totoro, \"\"Tonari no\"\"\",Ghibli\n"
            : "title,studio.name\nMirror,Toho\nPonyo,Ghibli\nStalker,Ghibli\n\"Totoro, \"\"Tonari no\"\"\",\n"
        #expect(try rows("Film", "title,studio.name", "--sort", "title") == expected)
        let genres = try file("genres.csv", "label,films\nfantasy,Mirror;Stalker\nwar,Ponyo\n")
        #expect(try take("Genre", genres, "--map", "films=films.title", "--on-clash", way).exitCode == 0)
        #expect(
            try Tool.run(
                "export", store.path, "Genre", "--columns", "label,films.title", "--sort", "label", "--form", "csv"
            )
            .output
                == "label,films.title\ndrama,Stalker;Mirror\n"
                + (way == "skip" ? "fantasy,Stalker;Ponyo" : "fantasy,Stalker;Mirror") + "\nwar,Ponyo\n")
        try expectSound()
    }

    @Test func anImportThatStoppedGoesOnWhereItWas() throws {
        var lines = (1...25).map { #"{"title": "Film \#($0)", "year": 2000}"# }
        lines[17] = #"{"title": "Film 18", "year": "soon"}"#
        let path = try file("many.ndjson", lines.joined(separator: "\n"))
        let stopped = try take("Film", path, "--rows", "5")
        #expect(
            stopped
                == .init(
                    output: "15 records: 15 inserted, in 3 transactions\n",
                    error: "strata: \(path): line 18: year: 'soon' is not a 16-bit integer. Correct it; the same "
                        + "command with --resume goes on after 15 records.\n", exitCode: 1))
        // The same file: what is wrong with it stays wrong, so the rest is not reached twice.
        let again = try take("Film", path, "--rows", "2", "--resume")
        #expect(again.output == "2 records: 2 inserted, in 1 transaction, after 15 of an earlier run\n")
        #expect(again.exitCode == 1)
        #expect(try Tool.run("count", store.path, "Film", "--where", "year = 2000").output == "17\n")
        try expectSound()
    }

    @Test func aRowThatBreaksARuleIsNamedByItsLine() throws {
        let path = try file("old.csv", "title,year,studio\nA,1990,Studio/p1\nB,1700,Studio/p1\n")
        let result = try take("Film", path)
        #expect(result.exitCode == 1)
        #expect(result.error.hasPrefix("strata: \(path): line 3: "), "\(result)")
        #expect(try Tool.run("count", store.path, "Film").output == "4\n")
    }

    @Test(arguments: [
        ("bad.csv", "title,year\n\"A,1\n"), ("bad.csv", "title,year\nA\n"), ("bad.json", "[{\"title\": }]"),
        ("bad.json", "[1]"), ("bad.ndjson", "{\"title\":\"a\",\"title\":\"b\"}"), ("bad.plist", "<plist"),
        ("bad.csv", "title,title\n"),
    ])
    func aFileThatIsNotWhatItsNameSaysIsToldWithAPlace(name: String, text: String) throws {
        let result = try take("Film", try file(name, text), "--ignore-unknown")
        #expect(result.exitCode == 1 && result.error.hasPrefix("strata: "), "\(result)")
        #expect(try Tool.run("count", store.path, "Film").output == "4\n")
    }

    @Test func datesMayBeWrittenInSeveralForms() throws {
        let cases = [
            ("iso", "2020-02-03 04:05:06"), ("iso", "1580702706"), ("unix-ms", "1580702706000"),
            ("reference", "602395506"), ("dd.MM.yyyy HH:mm:ss", "03.02.2020 04:05:06"),
            ("iso", "2020-02-03T05:05:06+01:00"),
        ]
        for (number, (form, text)) in cases.enumerated() {
            let path = try file("d.csv", "title,year,released,studio\nD,\(2010 + number),\(text),Studio/p1\n")
            let result = try take("Film", path, "--dates", form)
            #expect(result.exitCode == 0, "\(form): \(result)")
        }
        let found = try rows("Film", "released", "--where", "year BETWEEN {2010, 2016}")
        #expect(found == "released\n" + String(repeating: "2020-02-03T04:05:06.000Z\n", count: cases.count))
    }

    @Test func aDayWithoutHyphensIsNotTakenForSeconds() throws {
        let path = try file("d.csv", "title,year,released,studio\nD,2010,20200203,Studio/p1\n")
        let refused = try take("Film", path)
        #expect(refused.exitCode == 1 && refused.error.contains("'20200203' may be a day"), "\(refused)")
        #expect(refused.error.contains("2020-02-03") && refused.error.contains("--dates yyyyMMdd"), "\(refused)")
        let insert = try Tool.run(
            "insert", store.path, "Film", "title=D", "year=2010", "released=20200203", "studio=Studio/p1")
        #expect(insert.exitCode != 0 && insert.error.contains("may be a day"), "\(insert)")
        #expect(try Tool.run("count", store.path, "Film").output == "4\n")
        for form in ["yyyyMMdd", "unix"] { #expect(try take("Film", path, "--dates", form).exitCode == 0) }
        // February has no 99th day, and one has said that it is seconds.
        let others = try file(
            "e.csv", "title,year,released,studio\nD,2010,20200299,Studio/p1\nE,2010,20200203.0,Studio/p1\n")
        #expect(try take("Film", others).exitCode == 0)
        #expect(
            try rows("Film", "released", "--where", "year = 2010") == """
                released
                2020-02-03T00:00:00.000Z
                1970-08-22T19:10:03.000Z
                1970-08-22T19:11:39.000Z
                1970-08-22T19:10:03.000Z

                """)
        try expectSound()
    }

    @Test func aSignalBetweenTransactionsLeavesTheStoreSound() throws {
        let lines = (1...12_000).map { #"{"title": "Film \#($0)", "year": 2000, "studio": "Studio/p1"}"# }
        let path = try file("many.ndjson", lines.joined(separator: "\n"))
        let result = try Tool.shell(
            """
            $strata import '\(store.path)' Film '\(path)' --rows 200 > /dev/null & p=$!
            while [ "$($strata count '\(store.path)' Film)" -lt 300 ]; do :; done
            kill -INT $p; wait $p; echo "code $?"
            """)
        #expect(result.output == "code 130\n" || result.output == "code 0\n", "\(result)")
        try expectSound()
        let done = try Tool.run("import", store.path, "Film", path, "--resume", "--rows", "20000")
        #expect(done.exitCode == 0, "\(done)")
        #expect(try Tool.run("count", store.path, "Film", "--where", "year = 2000").output == "12000\n")
    }

    // MARK: Corrected files

    private func films() throws -> String { try Tool.run("count", store.path, "Film").output }

    /// Thirty films, of which the one with this number has no year. No attribute is unique, so a record that is imported
    /// twice is two films.
    private func text(_ form: String, wrong: Int?) -> String {
        let years = (0..<30).map { $0 == wrong ? "\"never\"" : "\(1900 + $0)" }
        switch form {
        case "csv": return "title,year\n" + years.enumerated().map { "Film \($0),\($1)\n" }.joined()
        case "ndjson": return years.enumerated().map { #"{"title": "Film \#($0)", "year": \#($1)}"# + "\n" }.joined()
        default:
            return "["
                + years.enumerated().map { #"{"title": "Film \#($0)", "year": \#($1)}"# }.joined(separator: ",\n")
                + "]"
        }
    }

    @Test(arguments: ["csv", "ndjson", "json"])
    func aCorrectedFileGoesOnBehindTheRecordsThatAreSaved(form: String) throws {
        let path = try file("films.\(form)", text(form, wrong: 25))
        let stopped = try take("Film", path, "--rows", "10")
        #expect(stopped.exitCode == 1 && stopped.error.contains("with --resume goes on after 20 records"), "\(stopped)")
        #expect(try films() == "24\n")
        _ = try file("films.\(form)", text(form, wrong: nil))
        let done = try take("Film", path, "--rows", "10", "--resume")
        #expect(done.exitCode == 0 && done.error.isEmpty, "\(done)")
        #expect(done.output == "10 records: 10 inserted, in 1 transaction, after 20 of an earlier run\n", "\(done)")
        #expect(try films() == "34\n")
        // Records that were added at the end are imported alone.
        if form == "json" { return }
        _ = try file("films.\(form)", text(form, wrong: nil) + text(form, wrong: nil).split(separator: "\n")[3] + "\n")
        #expect(try take("Film", path, "--resume").output.hasPrefix("1 record: 1 inserted"))
        #expect(try films() == "35\n")
        #expect(try Tool.run("verify", store.path).exitCode == 0)
    }

    /// A file whose saved records were changed is another one. A longer last record is a changed one.
    @Test(arguments: ["year,title\n1990,A\n1992,B\n", "year,title\n1991,A\n1992,Bo\n"])
    func aFileThatBeginsOtherwiseBeginsAnew(text: String) throws {
        #expect(try take("Film", try file("a.csv", "year,title\n1991,A\n1992,B")).exitCode == 0)
        let again = try take("Film", try file("a.csv", text), "--resume")
        #expect(again.error.contains("the log has no import of this file as Film"), "\(again)")
        #expect(try films() == "8\n")
    }
}
