import Foundation
import StrataStore
import Testing

@testable import StrataInspector

/// The shell: its lines, its editor, and the names that it and completion scripts complete.
@Suite struct ShellTests {
    private let store: FilmStore

    init() throws { store = try FilmStore() }

    private func shell(_ lines: String...) throws -> Tool.Result {
        let text = lines.map { $0.replacing("'", with: "'\\''") + "\n" }.joined()
        return try Tool.shell("printf '%s' '\(text)' | $strata shell '\(store.path)' 2>&1")
    }

    @Test func linesAreCommandsAndQueries() throws {
        #expect(
            try shell(
                "count Film", "", "Film year > 2000", "Film --columns title --where 'year = 1975' --format csv",
                "query Film --where \"title = 'Mirror'\" --columns year --format csv", ".entities"
            )
                == .init(
                    output: """
                        4
                        object   title  year  rating  released  studio
                        Film/p7  Ponyo  2008     7.6  nil       Studio/p2 (Ghibli)
                        1 row
                        title
                        Mirror
                        year
                        1975
                        Film
                        Genre
                        Still
                        Studio

                        """, error: "", exitCode: 0))
        try store.expectUntouched()
        #expect(try shell("update Film/p6 rating=1 --author eve", "blame Film/p6").output.contains("eve"))
        #expect(try shell(".help").output.contains("  query "))
        #expect(try shell(".properties Genre", ".quit", "count Film").output == "label\nfilms\n")
    }

    /// Commands of a group get the store behind their own words.
    @Test func commandsOfGroupsAreLinesToo() throws {
        let result = try shell("views list", "model show --entity Genre", "history trim --before now --dry-run --force")
        #expect(result.exitCode == 0, "\(result)")
        for part in ["Genre", "would drop"] { #expect(result.output.contains(part), "\(part) \(result)") }
        #expect(!result.output.contains("Missing expected argument"), "\(result)")
        let help = try shell(".help").output
        for name in ["views", "history", "keys", "model"] { #expect(help.contains("  \(name) "), "\(help)") }
        try store.expectUntouched()
    }

    /// Options follow a condition without another word; in quotes they belong to it.
    @Test func optionsFollowACondition() throws {
        let result = try shell(
            "Film year > 2000 --json --columns title", "Film title = \"a --json b\" --columns title --format csv",
            "Film  year > 1900   --sort '-year'  --limit 1 --columns title --format csv",
            "Film year - --5 > 1900 --columns 'title, year' --limit 1 --format csv")
        let lines = [
            "[", "  {\"title\":\"Ponyo\"}", "]", "title", "title", "Ponyo", "title,year", "Stalker,1979", "",
        ]
        #expect(
            result.exitCode == 0
                && result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) == lines,
            "\(result)")
    }

    @Test func aConditionMayBeginWithWhere() throws {
        let result = try shell(
            "Film where year > 2000 --columns title --format csv",
            "Film WHERE (year = 1975) --columns title --format csv")
        #expect(result.output == "title\nPonyo\ntitle\nMirror\n" && result.exitCode == 0, "\(result)")
    }

    @Test func aShellWhoseOutputIsClosedEndsAtOnce() throws {
        let result = try Tool.shell(
            """
            start=$SECONDS; (yes 'count Film' | head -20000) | $strata shell '\(store.path)' 2>&1 | head -1
            echo "${PIPESTATUS[1]} $((SECONDS - start < 60))"
            """)
        #expect(result.output == "4\n0 1\n", "\(result)")
    }

    @Test func aLineThatFailsDoesNotEndTheShell() throws {
        let result = try shell("cuont Film", "Film yaer > 3", ".hlep", "count 'Film", "count Film")
        #expect(result.exitCode == 2, "\(result)")
        for part in [
            "Did you mean 'count'?", "did you mean year?", "There is no '.hlep'", "The quote ' has no end.",
        ] { #expect(result.output.contains(part), "\(part) \(result)") }
        #expect(result.output.hasSuffix("\n4\n"))
    }

    @Test func wordsAreSplitAsAShellSplitsThem() throws {
        #expect(try ShellWords.split("a 'b c' \"d 'e' \\\" \\n\" f\\ g ''") == ["a", "b c", "d 'e' \" \\n", "f g", ""])
        #expect(try ShellWords.split("  ").isEmpty)
    }

    // MARK: Editing

    private func typed(_ bytes: String, history: [String] = []) -> EditedLine {
        var line = EditedLine(history: history)
        var rest = Array(bytes.utf8)[...]
        while !rest.isEmpty { if let key = EditedLine.Key.read({ rest.popFirst() }) { line.press(key) } }
        return line
    }

    @Test(arguments: [
        ("abc\u{7F}d", "abd"), ("abc\u{1B}[D\u{1B}[Dx", "axbc"), ("bc\u{1}a\u{5}d", "abcd"), ("ab cd \u{17}x", "ab x"),
        ("abc\u{2}\u{1}\u{B}", ""), ("abc\u{1B}[D\u{15}", "c"), ("ab\u{1B}[H\u{1B}[3~", "b"), ("Größe✓", "Größe✓"),
        ("a\u{1B}[1~b", "ba"), ("\u{1B}[A", "two"), ("x\u{1B}[A\u{1B}[A", "one"),
        ("x\u{1B}[A\u{1B}[A\u{1B}[B\u{1B}[B", "x"),
        ("\u{1B}[B", ""), ("\u{1B}[A!", "two!"),
    ])
    func keysEditTheLine(bytes: String, text: String) {
        #expect(String(typed(bytes, history: ["one", "two"]).text) == text)
    }

    /// A terminal sends the scalars of a character one by one; keys then take it for one.
    @Test(arguments: [
        ("a👩🏽‍🚀b\u{7F}\u{7F}c", "ac"), ("e\u{301}\u{7F}x", "x"), ("🇩🇪🇫🇷\u{7F}", "🇩🇪"),
        ("\u{1112}\u{1161}\u{11AB}\u{7F}a", "a"),
        ("👩🏽‍🚀\u{1B}[Dx\u{1B}[3~", "x"), ("\u{301}\u{1}e\u{5}x", "e\u{301}x"), ("漢字\u{1B}[D\u{7F}", "字"),
    ])
    func aCharacterOfSeveralScalarsIsOne(bytes: String, text: String) {
        #expect(String(typed(bytes).text) == text)
    }

    @Test func aLineOfWideCharactersIsShownInItsColumns() {
        for (bytes, width, text, cursor) in [
            ("漢字漢字", 20, "漢字漢字", 8), ("漢字漢字", 5, "漢字", 4), ("漢字漢字", 4, "字", 2), ("漢字漢字\u{1}", 5, "漢字", 0),
            ("a👩🏽‍🚀b", 20, "a👩🏽‍🚀b", 4), ("e\u{301}e\u{301}", 20, "e\u{301}e\u{301}", 2),
            ("a\u{202E}b", 20, "a\\u{202e}b", 10),
            ("漢", 1, "", 0),
        ] {
            let shown = typed(bytes).shown(in: width)
            #expect(shown.text == text && shown.cursor == cursor, "\(bytes) \(width) \(shown)")
        }
    }

    @Test func aLongLineIsShownAroundItsCursor() {
        for (bytes, width, text, cursor) in [
            ("0123456789", 20, "0123456789", 10), ("0123456789", 5, "6789", 4), ("0123456789\u{1}", 5, "01234", 0),
        ] {
            let shown = typed(bytes).shown(in: width)
            #expect(shown.text == text && shown.cursor == cursor, "\(shown)")
        }
    }

    // MARK: Completion

    private var names: Shell {
        get throws {
            let arguments = StoreArguments(path: store.path)
            let schema = try arguments.reading { $0.schema }
            return Shell(store: arguments, completion: NameCompletion(schema), schema: schema)
        }
    }

    @Test func namesAreCompleted() throws {
        let shell = try names
        #expect(shell.completions(of: "que").texts == ["query "])
        #expect(shell.completions(of: "Fi").texts == ["Film "])
        #expect(shell.completions(of: "query St").texts == ["Still ", "Studio "])
        #expect(shell.completions(of: "query Film --gro").texts == ["--group-by "])
        var found = shell.completions(of: "query Film --where 'studio.na")
        #expect(found.count == 9 && found.texts == ["studio.name"], "\(found)")
        found = shell.completions(of: "Film genres.films.t")
        #expect(found.count == 14 && found.texts == ["genres.films.title"], "\(found)")
        found = shell.completions(of: "Film rating > 3 AND (ye")
        #expect(found.count == 2 && found.texts == ["year"], "\(found)")
        #expect(shell.completions(of: "Film genres.@").texts == ["genres.@count"])
        #expect(shell.completions(of: "show Film/p5 --at").texts == ["--at "])
        #expect(shell.completions(of: "Film rating > 3 --col").texts == ["--columns "])
        #expect(shell.completions(of: "Film --gro").texts == ["--group-by "])
        #expect(shell.completions(of: "Film nothing.x").texts.isEmpty)
    }

    @Test func completionScriptsCompleteFromTheStoreOnTheLine() throws {
        let path = store.path
        #expect(NameCompletion.entities(in: ["strata", "query", path, "Fi"]) == ["Film", "Genre", "Still", "Studio"])
        #expect(NameCompletion.entities(in: ["strata", "query", "/nowhere", "Fi"]).isEmpty)
        let words = ["strata", "query", path, "Film", "--columns", "title,studio.co"]
        #expect(NameCompletion.keyPaths(in: words, completing: "title,studio.co") == ["title,studio.country"])
        for shell in ["bash", "zsh", "fish"] {
            #expect(try Tool.run("completions", shell).output.contains("---completion query"), "\(shell)")
        }
        // What the scripts run.
        let asked = try Tool.run(
            ["---completion", "query", "--", "positional@1", "3", "2", "strata", "query", path, "Fi"],
            environment: ["SAP_SHELL": "bash"])
        #expect(asked.output.split(separator: "\n").contains("Film"), "\(asked)")
        try store.expectUntouched()
    }

    /// A list of columns needs no quotes: a comma or AS shows that it goes on.
    @Test func aListOfColumnsNeedsNoQuotes() throws {
        let result = try shell(
            "Film year > 2000 --columns title AS name, year --format csv",
            "query Film --where 'year > 2000' --columns year as y,title , rating --format csv",
            "Film --columns title --sort -year , title --limit 1 --format csv",
            "query --columns title Film --limit 1 --sort year --format csv")
        #expect(
            result.output == "name,year\nPonyo,2008\ny,title,rating\n2008,Ponyo,7.6\ntitle\nPonyo\ntitle\nMirror\n",
            "\(result)")
    }

    @Test func idsAreCompletedBehindAnEntity() throws {
        let shell = try names
        #expect(shell.completions(of: "show Studio/").texts == ["Studio/p1 ", "Studio/p2 "])
        let found = shell.completions(of: "show Studio/p2")
        #expect(found.texts == ["Studio/p2 "] && found.count == 9, "\(found)")
        #expect(shell.completions(of: "update Film/p5 studio=Studio/").texts == ["Studio/p1", "Studio/p2"])
        #expect(shell.completions(of: "show Nothing/").texts.isEmpty)
        try store.expectUntouched()
    }
}
