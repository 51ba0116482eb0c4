import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataInspector
@testable import StrataStore

/// What someone who does not know the tool yet types, and what it answers.
@Suite struct NewcomerTests {
    private let store: FilmStore

    init() throws { store = try FilmStore() }

    private func run(_ command: String, _ arguments: String...) throws -> Tool.Result {
        try Tool.run([command, store.path] + arguments)
    }

    private func csv(_ command: String, _ arguments: String...) throws -> String {
        let result = try Tool.run([command, store.path] + arguments)
        #expect(result.exitCode == 0 && result.error.isEmpty, "\(result)")
        return result.output
    }

    private func refusal(_ result: Tool.Result, exitCode: Int32 = 2) -> String {
        #expect(result.exitCode == exitCode && result.output.isEmpty, "\(result)")
        return result.error
    }

    // MARK: Averages

    /// The years of Mosfilm are 1979 and 1975, whose average 1977 is whole; 1998 is that of Ghibli.
    @Test func anAverageIsARealNumberInArithmetic() throws {
        #expect(
            try csv(
                "query", "Studio", "--columns", "name, films.@avg.year / 2", "--sort", "name", "--format", "csv",
                "--where", "films.@avg.year / 2 > 988.2")
                == "name,films.@avg.year / 2\nGhibli,999\nMosfilm,988.5\n")
        #expect(
            try csv(
                "query", "Film", "--group-by", "studio.name", "--columns", "average(year) / 2", "--sort",
                "-average(year) / 2", "--having", "average(year) / 2 > 988.2", "--format", "csv")
                == "average(year) / 2\n999\n988.5\n")
        #expect(
            try csv("query", "Genre", "--columns", "10 / average:({3, 5})", "--limit", "1", "--format", "csv")
                == "\"10 / average:({3, 5})\"\n2.5\n")
    }

    // MARK: Orders

    @Test(arguments: [("@sum", "3954"), ("@max", "1979"), ("@min", "1975"), ("@avg", "1977")])
    func rowsAreSortedByWhatACollectionOperatorMakes(name: String, mosfilm: String) throws {
        let key = "films.\(name).year"
        #expect(
            try csv("query", "Studio", "--sort", key, "--columns", "name, \(key)", "--format", "csv")
                .hasPrefix("name,\(key)\nMosfilm,\(mosfilm)\nGhibli,"))
        #expect(
            try csv("query", "Studio", "--sort", "-\(key)", "--columns", "name", "--format", "csv")
                == "name\nGhibli\nMosfilm\n")
        #expect(
            try csv("export", "Studio", "--sort", "-\(key)", "--columns", "name", "--form", "csv")
                == "name\nGhibli\nMosfilm\n")
    }

    @Test func rowsAreSortedByACount() throws {
        #expect(
            try csv(
                "query", "Film", "--sort", "-genres.@count,title", "--columns", "title", "--limit", "2", "--format",
                "csv")
                == "title\nStalker\nMirror\n")
        #expect(
            refusal(try run("query", "Film", "--sort", "year desc"))
                == "strata: --sort has no 'desc'; write -year. A - before a key sorts it descending.\n")
    }

    // MARK: What to do next

    /// What a message says to do, beside what is wrong.
    @Test(arguments: [
        (["query", "STORE", "Film", "--group-by", "year", "--columns", "avg(rating)"], "did you mean average?"),
        (["query", "STORE", "Film", "--where", "studio == 'Mosfilm'"], "such as studio.name."),
        (["query", "STORE", "Studio", "--columns", "films.count"], "did you mean @count?"),
        (["update", "STORE", "Film/p5", "released=May 3"], "One is written 1999-12-31 or"),
        (["views", "STORE"], "It is one of list, show, query,"),
        (["import", "STORE", "Film", "nowhere.films"], "There is no file nowhere.films."),
        (["import", "films.csv", "--into", "New.strata"], "strata import STORE ENTITY films.csv."),
    ])
    func aMessageSaysWhatToDo(words: [String], sentence: String) throws {
        let error = refusal(try Tool.run(words.map { $0 == "STORE" ? store.path : $0 }))
        #expect(error.contains(sentence), "\(error)")
        try store.expectUntouched()
    }

    @Test func aFileWithOtherDatesSaysHowTheyAreNamed() throws {
        let record = "title,year,studio,released\\nSolaris,1972,Mosfilm,May 3 1972\\n"
        let command =
            "printf '\(record)' | $strata import '\(store.path)' Film - --form csv --map studio=studio.name"
        let plain = try Tool.shell(command)
        #expect(plain.exitCode == 1 && plain.output.contains("--dates names another form"), "\(plain)")
        let wrong = try Tool.shell(command + " --dates 'dd.MM.yyyy'")
        #expect(wrong.output.contains("the form that --dates says, 'dd.MM.yyyy'"), "\(wrong)")
        #expect(try Tool.shell(command + " --dates 'MMM d yyyy'").exitCode == 0)
    }

    @Test func aConflictOfARevertSaysHowItIsDecided() throws {
        let changed = try run("update", "Film/p5", "title=A").output
        let number = try #require(changed.firstMatch(of: #/transaction ([0-9]+)/#)?.output.1)
        #expect(try run("update", "Film/p5", "title=B").exitCode == 0)
        let result = try run("revert", "t\(number)")
        #expect(result.exitCode == 1 && result.error.contains("--conflicts keep"), "\(result)")
    }

    @Test(arguments: [
        ("Flim year > 2000", "There is no entity and no command 'Flim'. Did you mean 'Film'?"),
        ("select * from Film", "There is no entity and no command 'select'. A line is an entity and a condition"),
        ("cuont Film", "There is no entity and no command 'cuont'. Did you mean 'count'?"),
    ])
    func theShellKnowsEntitiesAndCommands(line: String, sentence: String) throws {
        let result = try Tool.shell("echo '\(line)' | $strata shell '\(store.path)'")
        #expect(result.exitCode == 2 && result.output.contains(sentence), "\(result)")
    }

    // MARK: Moments

    @Test(arguments: ["now", "2 hours ago", "2026-01-01", "12", "t12"])
    func aTagThatIsAMomentByItselfIsRefused(name: String) throws {
        let error = refusal(try run("tag", name))
        #expect(error.hasPrefix("strata: '\(name)' is a moment by itself and can be no tag"), "\(error)")
        try store.expectUntouched()
    }

    /// The library may have made such a tag.
    @Test func aMomentIsNotHiddenByATag() throws {
        let opened = try Store.open(.directory(store.directory), model: nil)
        let container = try PersistentContainer(over: opened)
        for name in ["now", "2026-01-02"] {
            try container.setTag(name, at: .transaction(TransactionNumber(rawValue: 1)))
        }
        opened.close()
        for moment in ["now", "2026-01-02"] { #expect(try csv("count", "Film", "--at", moment) == "4\n") }
        #expect(try csv("count", "Film", "--at", "tag:now") == "0\n")
        #expect(try csv("tag", "now", "--remove") == "removed now\n")
    }

    @Test(arguments: ["log", "stats", "timeline"])
    func aListingSinceATransactionThatIsNotThereIsRefused(command: String) throws {
        #expect(refusal(try run(command, "--since", "t99")) == "strata: The log has no transaction 99.\n")
        #expect(refusal(try run(command, "--since", "999")).contains("there is no event 999 yet"))
    }

    @Test func positionsOfTheStoreAreNotInTheLog() throws {
        #expect(try csv("link", "Film/p7", "genres", "Genre/p3").contains("linked  Film/p7.genres - Genre/p3\n"))
        #expect(try !csv("log", "--kind", "linked").contains(" at "))
    }

    @Test(arguments: [["--log-level", "error"], ["--log-level=error"]])
    func theLogLevelMayStandBeforeTheCommand(option: [String]) throws {
        let result = try Tool.run(option + ["count", store.path, "Film"])
        #expect(result == .init(output: "4\n", error: "", exitCode: 0))
        #expect(try Tool.run(option + ["views", "list", store.path]).exitCode == 0)
        #expect(refusal(try Tool.run(option + ["qurey", store.path])).contains("Did you mean 'strata query'?"))
        #expect(try Tool.run(["--log-level", "loud", "count", store.path, "Film"]).exitCode == 2)
    }

    /// The place of a member in an ordered to-many is kept in a property of the store's own.
    @Test func placesOfMembersAreNotInTheLog() throws {
        let folder = try ScratchFolder(
            entity: """
                <attribute name="name" optional="YES" attributeType="String"/>\
                <relationship name="parts" optional="YES" toMany="YES" deletionRule="Nullify" ordered="YES" \
                destinationEntity="E" inverseName="whole" inverseEntity="E"/>\
                <relationship name="whole" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="E" \
                inverseName="parts" inverseEntity="E"/>
                """)
        try folder.make("s")
        try folder.run("insert", "s", "E", "name=a")
        for name in ["b", "c"] { try folder.run("insert", "s", "E", "name=\(name)", "whole=E/p1") }
        try folder.run("link", "s", "E/p1", "parts", "E/p3", "--position", "0")
        #expect(try folder.run("query", "s", "E", "--columns", "parts.name", "--limit", "1").contains("c, b"))
        let log = try folder.run("log", "s", "--object", "E/p3")
        #expect(log.contains("name: \"c\", whole: E/p1\n"), "\(log)")
        #expect(log.hasSuffix("  moved in the order of whole\n") && !log.contains("#"), "\(log)")
    }

    // MARK: Conditions

    @Test func anObjectOfAnotherEntityIsNoArgument() throws {
        let expected =
            "strata: studio is Studio, and Genre/p3 is Genre: they are never equal. Name an object of Studio.\n"
        for command in [["query"], ["count"], ["export"]] {
            let words = [command[0], store.path, "Film", "--where", "studio = %@", "--argument", "Genre/p3"]
            #expect(refusal(try Tool.run(words)) == expected, "\(command)")
        }
        #expect(refusal(try run("delete", "Film", "--where", "studio = %@", "--argument", "Genre/p3")) == expected)
        #expect(
            try csv(
                "count", "Film", "--where", "studio = %@ OR ANY genres = %@", "--argument", "Studio/p1", "--argument",
                "Genre/p4")
                == "3\n")
    }

    @Test func anObjectInAConditionIsAnArgument() throws {
        #expect(
            refusal(try run("query", "Film", "--where", "SELF = Film/p5"))
                == "strata: A condition names an object by an argument: write %@ in place of Film/p5, and --argument Film/p5.\n"
        )
        #expect(try csv("count", "Film", "--where", "title = 'Film/p5'") == "0\n")
    }

    @Test func groupsSayWhatTheyTake() throws {
        #expect(refusal(try run("query", "Film", "--having", "count > 1")).contains("give --group-by"))
        #expect(
            refusal(try run("query", "Film", "--group-by", "year(released)")).contains(
                "--group-by takes key paths, not year(released)."))
    }

    @Test func aQueryHasTheStandardBudget() throws {
        let opened = try Store.open(.directory(store.directory), model: nil)
        defer { opened.close() }
        let moment = try StoreMoment(nil, in: opened)
        let error = #expect(throws: StrataError.self) {
            try WatchedQuery.run(opened, moment, total: 0) { try $0.spend(rows: RequestBudget.standard.steps + 5000) }
        }
        #expect(error?.code == .budgetExceeded)
    }

    // MARK: Files

    private func file(_ name: String, _ text: String) throws -> String {
        let path = store.path + "/" + name
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    @Test func anImportSaysWhatItMisses() throws {
        let database = try file("x.sqlite", "SQLite format 3\0")
        #expect(refusal(try Tool.run("import", database)).contains("strata import \(database) --into Name.strata"))
        let films = try file("films.ndjson", #"{"title": "A", "year": 2000}"# + "\n\n{bad")
        let broken = try run("import", "Film", films)
        #expect(broken.error.hasSuffix("line 3: This is not JSON: there is no key (byte 2).\n"), "\(broken)")
        let object = try file("object.ndjson", #"{"title": "A", "year": 2000, "studio": {"a": 1}}"#)
        #expect(
            try run("import", "Film", object).error.contains(
                "studio takes a reference such as Studio/p1, not a dictionary."))
        let sound = try file("sound.ndjson", #"{"title": "A", "year": 2000}"#)
        #expect(
            try run("import", "Film", sound, "--resume").error
                == "note: the log has no import of this file as Film; it begins at the first record\n")
    }

    @Test func namesFromFilesDoNotDriveTheTerminal() throws {
        let heading = try file("heading.csv", "title,\u{1B}[31mred\nA,B\n")
        for result in [
            try run("import", "Film", heading), try run("query", "\u{1B}[31mFilm"), try Tool.run("\u{1B}[31mquery"),
        ] {
            #expect(!result.error.contains("\u{1B}") && result.error.contains("\\u{1b}[31m"), "\(result)")
        }
    }

    @Test func textThatXMLCannotHoldIsDataInAPropertyList() throws {
        let title = "a\u{1}b\u{FFFF}\tc"
        let films = try file("films.ndjson", #"{"title": "a\u0001b\uffff\tc", "year": 2001}"#)
        #expect(try run("import", "Film", films).exitCode == 0)
        let out = store.path + "/out.plist"
        _ = try csv("export", "Film", out, "--columns", "title,year", "--where", "year = 2001")
        let text = try String(contentsOf: URL(filePath: out), encoding: .utf8)
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\n" || $0 == "\t" })
        #expect(text.contains("<data>"))
        _ = try csv("delete", "Film", "--where", "year = 2001")
        #expect(try run("import", "Film", out).exitCode == 0)
        let again = try csv("query", "Film", "--where", "year = 2001", "--columns", "title", "--format", "csv")
        #expect(again == "title\n\(title)\n", "\(again)")
    }

    @Test func aRestoreNamesTheBackupThatLacksAValue() throws {
        let (image, backup) = (store.path + "/image", store.path + ".new")
        try Data(repeating: 7, count: 300_000).write(to: URL(filePath: image))
        _ = try csv("insert", "Still", "name=frame", "image=@\(image)")
        _ = try csv("backup", backup)
        try FileManager.default.removeItem(atPath: backup + "/blobs")
        let restored = store.path + ".before-restore"
        let error = refusal(try Tool.run("restore", backup, restored), exitCode: 1)
        #expect(error.contains(backup) && !error.contains("partial"), "\(error)")
    }

    /// Spreadsheets of many countries write semicolons.
    @Test(arguments: [(";", "';'"), ("\t", "tab"), ("|", "'|'")])
    func aHeadingWithAnotherSeparatorIsToldOfTheOption(separator: String, word: String) throws {
        let films = try file("films.csv", ["title", "year"].joined(separator: separator) + "\n")
        let hint = " The heading has one column: --separator \(word) may be missing.\n"
        for result in [try run("import", "Film", films), try run("import", "Film", films, "--map", "title=title")] {
            #expect(refusal(result).hasSuffix(hint), "\(result)")
        }
        let comma = try file("comma.csv", "titel;x,year\n")
        #expect(!refusal(try run("import", "Film", comma)).contains("--separator"))
    }

    @Test func namesInAFileThatAreWrongAreToldWithTheRightOnes() throws {
        let twice = try run("import", "Film", try file("twice.csv", "title,year,title\n"))
        #expect(twice.error.hasSuffix("line 1: Two columns have the name 'title'.\n"), "\(twice)")
        let films = try file("films.csv", "title,year,studio\nA,2000,Ghibli\n")
        let mapped = try run("import", "Film", films, "--map", "studio=studio.nam")
        #expect(mapped.error.contains("Studio has no attribute 'nam'. Did you mean 'name'?"), "\(mapped)")
    }

    /// The beginning of an option is what people type most.
    @Test(arguments: [
        ("--col", "--columns"), ("--group", "--group-by"), ("--colums", "--columns"), ("--wher", "--where"),
    ])
    func anUnknownOptionNamesTheOneThatBeginsSo(typed: String, meant: String) throws {
        let error = refusal(try run("query", "Film", typed, "x"))
        #expect(error.hasPrefix("Error: Unknown option '\(typed)'. Did you mean '\(meant)'?\n"), "\(error)")
        let other = refusal(try run("query", "Film", "--zebra", "x"))
        #expect(other.hasPrefix("Error: Unknown option '--zebra'.\n"), "\(other)")
    }

    @Test func aMomentThatIsNearlyATagNamesIt() throws {
        #expect(try run("tag", "release").exitCode == 0)
        let error = refusal(try run("query", "Film", "--at", "relase"))
        #expect(error.hasPrefix("strata: 'relase' is not a moment. Did you mean the tag 'release'? Write "), "\(error)")
    }
}
