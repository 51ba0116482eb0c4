import Foundation
import Testing

/// Files that are cut, odd or wrong: each is taken as it is meant, or refused with a location, and what was done before
/// stays whole.
@Suite struct HostileImportTests {
    private let store: FilmStore

    init() throws { store = try FilmStore() }

    private func file(_ name: String, _ bytes: Data) throws -> String {
        let path = store.directory.appending(component: name).path(percentEncoded: false)
        try bytes.write(to: URL(filePath: path))
        return path
    }

    private func file(_ name: String, _ text: String) throws -> String { try file(name, Data(text.utf8)) }

    private func take(_ entity: String, _ file: String, _ arguments: String...) throws -> Tool.Result {
        try Tool.run(["import", store.path, entity, file] + arguments)
    }

    private func expectSound(studios: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try Tool.run("count", store.path, "Studio").output == "\(studios)\n", sourceLocation: sourceLocation)
        #expect(try Tool.run("verify", store.path).exitCode == 0, sourceLocation: sourceLocation)
    }

    // MARK: Encodings

    /// With the mark of its byte order it says what it is; a property list is read as it is encoded.
    @Test(arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian]) func utf16IsNamed(encoding: String.Encoding)
        throws
    {
        func encoded(_ text: String) throws -> Data { try #require("\u{FEFF}\(text)".data(using: encoding)) }
        for (name, text) in [
            ("a.csv", "name\nÅ\n"), ("a.json", #"[{"name": "Å"}]"#), ("a.ndjson", #"{"name": "Å"}"#), ("empty.csv", ""),
        ] {
            let result = try take("Studio", try file(name, try encoded(text)))
            #expect(result.exitCode == 1, "\(result)")
            #expect(
                result.error.hasSuffix(
                    "\(name): It is UTF-16, and UTF-8 is needed: iconv -f UTF-16 -t UTF-8 makes it.\n"), "\(result)")
        }
        try expectSound(studios: 2)
    }

    // MARK: References

    /// A record whose relationship leads to an object that is not there is named, with the relationship.
    @Test(arguments: [
        (
            "a.csv", "title,year,studio\nA,2000,Studio/p1\n\"B\n2\",2000,Studio/p99\nC,2000,\n",
            "line 3: studio leads to Studio/p99, which is not in the store."
        ),
        (
            "a.csv", "title,year,genres\nA,2000,Genre/p3;Genre/p98\n",
            "line 2: genres leads to Genre/p98, which is not in the store."
        ),
        (
            "a.json",
            "[{\"title\": \"A\", \"year\": 2000},\n {\"title\": \"B\", \"year\": 2000, \"studio\": \"Studio/p99\"}]",
            "studio leads to Studio/p99, which is not in the store."
        ),
        (
            "a.ndjson",
            "{\"title\": \"A\", \"year\": 2000}\n\n{\"title\": \"B\", \"year\": 2000, \"genres\": [\"Genre/p99\"]}",
            "line 3: genres leads to Genre/p99, which is not in the store."
        ),
        ("a.csv", "title,year,studio\nA,2000,Mosfilm\n", "line 2: studio: 'Mosfilm' names no object."),
        (
            "a.csv", "title,year,studio\nA,2000,Stduio/p1\n",
            "line 2: studio: The store has no entity 'Stduio'. Did you mean 'Studio'?"
        ),
        (
            "a.csv", "title,year,studio.name\nA,2000,Nope\n",
            "line 2: studio.name: there is no Studio whose name is 'Nope'."
        ),
    ])
    func aReferenceToNothingNamesItsRecordAndItsProperty(name: String, text: String, fault: String) throws {
        let result = try take("Film", try file(name, text))
        #expect(result.exitCode == 1 && result.error.contains(fault), "\(result)")
        #expect(try Tool.run("count", store.path, "Film").output == "4\n")
    }

    @Test func aToManyWhoseMembersAreRowsNamesTheRecordToo() throws {
        let path = try file("a.csv", "name,films\nNew,Film/p5\nOther,Film/p6;Film/p77\n")
        let result = try take("Studio", path)
        let fault = "line 3: films leads to Film/p77, which is not in the store."
        #expect(result.exitCode == 1 && result.error.contains(fault), "\(result)")
        try expectSound(studios: 2)
    }

    @Test func aReferenceToNothingCanBeLeftOut() throws {
        let path = try file("a.csv", "title,year,studio,genres\nA,2000,Studio/p99,Genre/p3;Genre/p98\n")
        let result = try take("Film", path, "--missing", "leave")
        #expect(result.exitCode == 0 && result.output.contains("2 links left out"), "\(result)")
        let row = try Tool.run(
            "query", store.path, "Film", "--where", "title == 'A'", "--columns", "studio, genres.label", "--format",
            "csv")
        #expect(row.output == "studio,genres.label\n,drama\n", "\(row)")
    }

    // MARK: Cut and broken files

    /// Whole, each form is taken; cut at any offset, it is refused with exit code 1, and nothing traps.
    @Test(arguments: ["json", "plist", "csv", "binary.plist"])
    func aFileThatWasCutIsRefusedOrReadToTheCut(form: String) throws {
        let records = (0..<20).map { ["name": "Studio \($0)", "country": "a \"b\", c"] }
        let whole: Data =
            switch form {
            case "json": try JSONSerialization.data(withJSONObject: records)
            case "csv":
                Data(("name,country\n" + records.map { "\($0["name"] ?? ""),\"a \"\"b\"\", c\"\n" }.joined()).utf8)
            default:
                try PropertyListSerialization.data(
                    fromPropertyList: records, format: form == "plist" ? .xml : .binary, options: 0)
            }
        for part in [1, 7, 31, 50, 63, 99] {
            let path = try file("cut.\(form)", whole.prefix(whole.count * part / 100))
            let result = try take("Studio", path, "--on-clash", "skip")
            // A text that ends between two lines of CSV is a shorter one.
            if form != "csv" { #expect(result.exitCode == 1, "\(part): \(result)") }
            #expect([0, 1, 2].contains(result.exitCode), "\(part): \(result)")
            if result.exitCode == 1 { #expect(result.error.hasPrefix("strata: \(path): "), "\(result)") }
            #expect(!result.error.contains("could not be completed"), "\(result)")
        }
        let result = try take("Studio", try file("whole.\(form)", whole), "--on-clash", "skip")
        #expect(result.exitCode == 0, "\(result)")
        try expectSound(studios: 22)
    }

    @Test(arguments: [
        ("[{\"name\": \"A\"}, {\"name\": \"B\", \"name\": \"C\"}]", "the key 'name' occurs twice (line 1, byte 42)"),
        ("[{\"name\": \"A\"}\n{\"name\": \"B\"}]", "there is more after the value (line 2, byte 16)"),
        ("[{\"name\": \"A\"},]", "it ends too soon (line 1, byte 16)"),
        ("[{\"name\": \"A\"}] x", "there is more after the array (line 1, byte 17)"),
        ("{\"name\": \"\\ud800\"}", "half a surrogate pair (line 1, byte 17)"),
        ("[{\"name\": 01}]", "there is no value (line 1, byte 13)"),
        ("[{\"name\": NaN}]", "there is no value (line 1, byte 11)"),
        (String(repeating: "[", count: 100_000), "it is nested more than 200 levels deep"),
        ("[" + String(repeating: "{\"a\":", count: 100_000), "it is nested more than 200 levels deep"),
        ("", "it ends too soon (line 1, byte 1)"), ("[{\"name\": \"A\u{0}\"}]", "text contains a control character"),
    ])
    func textThatIsNotJSONIsReportedWithItsLocation(text: String, fault: String) throws {
        let result = try take("Studio", try file("a.json", text))
        #expect(result.exitCode == 1 && result.error.contains(fault), "\(result)")
        try expectSound(studios: 2)
    }

    @Test(arguments: ["skip", "merge"])
    func aBrokenLineInTheMiddleLeavesWholeTransactionsAndResumeGoesOnBehindThem(way: String) throws {
        var lines = (0..<40).map { #"{"name": "Studio \#($0 % 30)", "country": "X\#($0)"}"# }
        lines[0] = #"{"name": "Ghibli", "country": "X"}"#
        let broken = lines.enumerated().map { $0.offset == 24 ? String($0.element.dropLast(9)) : $0.element }
        let path = try file("many.ndjson", broken.joined(separator: "\r\n"))
        let stopped = try take("Studio", path, "--rows", "10", "--on-clash", way)
        #expect(stopped.exitCode == 1, "\(stopped)")
        #expect(stopped.error.hasPrefix("strata: \(path): line 25: This is not JSON: "), "\(stopped)")
        try expectSound(studios: 21)
        #expect(stopped.error.contains("with --resume goes on after 20 records"), "\(stopped)")
        // The same file again is refused at the same record; mended, it goes on behind the records that are saved.
        let again = try take("Studio", path, "--rows", "2", "--on-clash", way, "--resume")
        #expect(again.exitCode == 1 && again.output.contains("after 20 of an earlier run"), "\(again)")
        try expectSound(studios: 25)
        let mended = try file("many.ndjson", lines.joined(separator: "\r\n"))
        let done = try take("Studio", mended, "--rows", "10", "--on-clash", way, "--resume")
        #expect(done.exitCode == 0 && done.output.contains("after 24 of an earlier run"), "\(done)")
        try expectSound(studios: 32)
        let studio = try Tool.run(
            "query", store.path, "Studio", "--where", "name = 'Ghibli' OR name = 'Studio 5'", "--columns", "country",
            "--sort",
            "name", "--format", "csv")
        // Of two records with one name the later one is merged into the first.
        #expect(studio.output == (way == "skip" ? "country\nJP\nX5\n" : "country\nX\nX35\n"))
        let nothing = try take("Studio", mended, "--rows", "10", "--on-clash", way, "--resume", "--json")
        // A step that skips every record is no transaction, which could say that they are done.
        let after = "\"resumedAfter\" : \(way == "skip" ? 34 : 40)"
        #expect(nothing.exitCode == 0 && nothing.output.contains(after), "\(nothing)")
        try expectSound(studios: 32)
    }

    // MARK: CSV

    @Test func csvOfSpreadsheetsIsReadAsItIsMeant() throws {
        let text =
            "\u{FEFF}\"name\",\"country\"\r\n\"A, \"\"quoted\"\"\r\nand two lines\",\"\"\r\nB,\r\n\r\nC,\"\u{FEFF}x\"\r\n"
        let result = try take("Studio", try file("s.csv", text))
        #expect(result.output == "3 records: 3 inserted, in 1 transaction\n", "\(result)")
        let rows = try Tool.run(
            "query", store.path, "Studio", "--where", "NOT name IN {'Mosfilm', 'Ghibli'}", "--sort", "name", "--format",
            "ndjson",
            "--columns", "name, country")
        #expect(
            rows.output == """
                {"name":"A, \\"quoted\\"\\r\\nand two lines","country":""}
                {"name":"B","country":null}
                {"name":"C","country":"\u{FEFF}x"}

                """)
        let old = try take("Studio", try file("mac.csv", "name;country\rD;x\rE;y"), "--separator", ";")
        #expect(old.output == "2 records: 2 inserted, in 1 transaction\n", "\(old)")
        let tabs = try take("Studio", try file("t.tsv", "name\tcountry\nF, G\ty\n"))
        #expect(tabs.output == "1 record: 1 inserted, in 1 transaction\n", "\(tabs)")
    }

    @Test(arguments: ["json", "ndjson"])
    func aMarkAtTheBeginningIsNoPartOfJSON(form: String) throws {
        let result = try take("Studio", try file("m.\(form)", "\u{FEFF}{\"name\": \"A\"}\n"))
        #expect(result.exitCode == 0, "\(result)")
        try expectSound(studios: 3)
    }

    @Test(arguments: [
        ("name,country\nA,B\nC\n", "line 3: It has 1 field, the heading has 2."),
        ("name,country\nA,B,C\n", "line 2: It has 3 fields, the heading has 2."),
        ("name,country\n\"A\"x,B\n", "line 2: There is text after a closing quote."),
        ("name,country\nA,B\n\n\"C,\nD\n", "line 4: A quote is not closed."),
        ("name,name\nA,B\n", "line 1: Two columns have the name 'name'."),
    ])
    func csvThatIsNoneIsToldWithItsLine(text: String, fault: String) throws {
        let path = try file("a.csv", text)
        let result = try take("Studio", path)
        #expect(
            result
                == .init(
                    output: "0 records: 0 inserted, in 0 transactions\n", error: "strata: \(path): \(fault)\n",
                    exitCode: 1))
        try expectSound(studios: 2)
    }

    @Test func bytesThatAreNoUTF8AreToldWithTheirLine() throws {
        let latin =
            Data("name,country\nA,B\nKöln,".utf8.map { $0 == 0xC3 ? 0xF6 : $0 }.filter { $0 != 0xB6 })
            + Data("x\n".utf8)
        let result = try take("Studio", try file("latin.csv", latin))
        #expect(result.exitCode == 1 && result.error.contains("line 3: It is not UTF-8."), "\(result)")
        let wide = try take(
            "Studio", try file("wide.csv", Data([0xFF, 0xFE]) + Data("name\n".utf8).flatMap { [$0, 0] }))
        #expect(wide.exitCode == 1 && wide.error.contains("It is UTF-16, and UTF-8 is needed"), "\(wide)")
    }

    // MARK: Keys and values

    @Test func anUnknownColumnNamesTheNearest() throws {
        for (name, text) in [
            ("a.csv", "nmae,country\nA,B\n"), ("a.json", #"{"nmae": "A"}"#), ("a.ndjson", #"{"nmae": "A"}"#),
        ] {
            let result = try take("Studio", try file(name, text))
            #expect(
                result
                    == .init(
                        output: "",
                        error:
                            "strata: Studio has no property 'nmae'. Did you mean 'name'? It has name, country, films. "
                            + "Say --map 'nmae=PROPERTY', --map 'nmae=' to leave it out, or --ignore-unknown.\n",
                        exitCode: 2))
        }
        let mapped = try take("Studio", try file("a.csv", "x\nA\n"), "--map", "x=contry")
        #expect(mapped.exitCode == 2 && mapped.error.contains("Did you mean 'country'?"), "\(mapped)")
        try expectSound(studios: 2)
    }

    @Test func aMappingOfAKeyThatTheFileLacksIsTold() throws {
        let path = try file("a.csv", "Name,Land\nA,B\n")
        let typed = try take("Studio", path, "--map", "Naem=name", "--map", "Land=country", "--map", "Old=")
        #expect(
            typed
                == .init(
                    output: "",
                    error:
                        "strata: --map 'Naem=…': the file has no column 'Naem'. Did you mean 'Name'? It has Name, Land.\n",
                    exitCode: 2))
        let twice = try take("Studio", path, "--map", "Land=country", "--map", "Land=name")
        #expect(twice.exitCode == 2 && twice.error == "strata: --map has two mappings for 'Land'.\n", "\(twice)")
        try expectSound(studios: 2)
        // Records that name their own keys are known when they have been read.
        let records = try file("a.ndjson", #"{"name": "A"}"#)
        let read = try take("Studio", records, "--map", "Land=country")
        #expect(read.exitCode == 0 && read.error == "strata: --map 'Land=…': no record has 'Land'.\n", "\(read)")
        try expectSound(studios: 3)
    }

    @Test func twoKeysOfOnePropertyAreAFault() throws {
        let path = try file("a.json", #"[{"name": "A", "Name": "B"}]"#)
        let result = try take("Studio", path)
        #expect(result.exitCode == 1, "\(result)")
        #expect(result.error == "strata: \(path): element 1 (line 1): 'Name' and 'name' both go to name.\n")
        try expectSound(studios: 2)
    }

    @Test(arguments: [
        ("year", "99999999999999999999"), ("year", "1e400"), ("year", "32768"), ("year", "1999.5"),
        ("year", "\"0x7CF\""),
        ("year", "true"), ("rating", "1e400"), ("rating", "-1e999"), ("rating", "\"many\""),
        ("rating", "\"1e400\""), ("released", "\"2020-02-30\""), ("released", "\"soon\""), ("title", "[1]"),
        ("title", "{}"),
    ])
    func aValueThatDoesNotFitIsToldWithItsKey(key: String, value: String) throws {
        var record = ["title": "\"A\"", "year": "2000", "studio": "\"Studio/p1\""]
        record[key] = value
        let path = try file("a.json", "{" + record.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", ") + "}")
        let result = try take("Film", path)
        #expect(result.exitCode == 1, "\(result)")
        #expect(result.error.hasPrefix("strata: \(path): ") && result.error.contains(key), "\(result)")
        #expect(try Tool.run("count", store.path, "Film").output == "4\n")
    }

    @Test func hugeNumbersKeepTheirDigitsOrAreRefused() throws {
        let other = try AwkwardStore(isFilled: false)
        func take(_ text: String) throws -> Tool.Result {
            try Tool.run("import", other.path, "Größe", try file("n.ndjson", text))
        }
        let digits = "12345678901234567890123456789012345678"
        let fine = try take(
            """
            {"naïve": "a", "decimal": \(digits), "i64": -9223372036854775808, "double": 1.7976931348623157e308}
            {"naïve": "b", "decimal": 0.\(digits)\(digits), "i64": 9223372036854775807, "double": 5e-324}
            {"naïve": "c", "decimal": 1e127, "i64": 1e3, "float": "Infinity", "double": "-inf"}
            """)
        #expect(fine.exitCode == 0, "\(fine)")
        let rows = try Tool.run(
            "query", other.path, "Größe", "--sort", "naïve", "--columns", "decimal, i64, double, float", "--format",
            "csv")
        #expect(
            rows.output == """
                decimal,i64,double,float
                \(digits),-9223372036854775808,1.7976931348623157e+308,
                0.\(digits)1,9223372036854775807,5e-324,
                1\(String(repeating: "0", count: 127)),1000,-inf,inf

                """)
        for text in [
            "\"decimal\": \(digits)\(digits)", "\"decimal\": 1e200", "\"float\": 1e39", "\"i64\": 9223372036854775808",
        ] {
            let result = try take("{\"naïve\": \"d\", \(text)}")
            #expect(result.exitCode == 1 && result.error.contains(" is not a"), "\(text): \(result)")
        }
        #expect(try Tool.run("count", other.path, "Größe").output == "3\n")
    }

    @Test func aDirectoryIsNoFile() throws {
        let result = try take("Studio", store.path, "--form", "json")
        #expect(result.exitCode == 2, "\(result)")
        #expect(result.error == "strata: \(store.path) cannot be read: Is a directory.\n")
    }

    @Test func aPipeWithANameIsReadOnce() throws {
        let line = "$strata import '\(store.path)' Studio <(echo '{\"name\": \"A\"}') --form ndjson"
        #expect(try Tool.shell(line).output == "1 record: 1 inserted, in 1 transaction\n")
        #expect(try Tool.shell(line + " --resume 2> /dev/null || echo $?").output == "2\n")
        try expectSound(studios: 3)
    }
}
