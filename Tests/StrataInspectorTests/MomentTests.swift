import Foundation
import Testing

/// Every form of a moment, in every command that takes one; and every listing into a pipe whose reader leaves.
@Suite struct MomentTests {
    private let store: FilmStore

    init() throws { store = try FilmStore() }

    /// Commands up to the moment that follows.
    private static let commands: [[String]] = [
        ["query", "STORE", "Film", "--at"], ["count", "STORE", "Film", "--at"], ["show", "STORE", "Studio/p1", "--at"],
        ["blame", "STORE", "Studio/p1", "--at"], ["diff", "STORE"], ["diff", "STORE", "t1"],
        ["export", "STORE", "Film", "--at"], ["log", "STORE", "--since"], ["log", "STORE", "--until"],
        ["stats", "STORE", "--since"], ["stats", "STORE", "--until"], ["timeline", "STORE", "--since"],
        ["timeline", "STORE", "--until"], ["replay", "STORE", "--speed", "0", "--from"],
        ["replay", "STORE", "--speed", "0", "--to"],
        ["export", "STORE", "--form", "cloudevents", "--since"],
        ["export", "STORE", "--form", "cloudevents", "--until"],
    ]

    private func run(_ command: [String], _ moment: String) throws -> Tool.Result {
        try Tool.run(command.map { $0 == "STORE" ? store.path : $0 } + [moment])
    }

    /// The third transaction ends at event 13, some months before now; all of these forms mean it.
    private static let forms = [
        "t3", "first cut", "tag:first cut", "2026-01-01T00:00:03Z", "2026-01-01T00:00:03.500Z",
        "2026-01-01T01:00:03+01:00", "2026-01-01T00:00:03", "2026-01-01 00:00:03",
    ]

    @Test func theFormsOfAMomentMeanTheSameEverywhere() throws {
        for command in Self.commands {
            let since = ["--since", "--from"].contains(command.last)
            let expected = try run(command, "13")
            for form in Self.forms {
                let result = try run(command, form)
                #expect(result.exitCode == 0 && result.error.isEmpty, "\(command) \(form): \(result)")
                // What begins at a transaction has it, and what begins at a tag has what is after it.
                if !since || form == "t3" { #expect(result == expected, "\(command) \(form)") }
            }
            for form in [
                "now", "0 seconds ago", "1 second ago", "90 minutes ago", "2 hours ago", "1.5 days ago", "3 weeks ago",
            ] {
                let result = try run(command, form)
                let isGone = ["show", "blame"].contains(command[0])
                #expect(result.exitCode == 0 || isGone && result.exitCode == 1, "\(command) \(form): \(result)")
            }
        }
    }

    /// As `context(asOf: .event(n))` in the library.
    @Test func everyEventNumberOfATransactionMeansTheTransaction() throws {
        for command in Self.commands {
            let whole = try run(command, "t3")
            for number in 10...13 { #expect(try run(command, "\(number)") == whole, "\(command) \(number)") }
        }
        let count = ["count", "STORE", "Film", "--at"]
        #expect(try run(count, "13").output == "4\n")
        #expect(try run(count, "10").output == "4\n")
        #expect(try run(count, "0").output == "0\n")
        #expect(try run(count, "2025-12-31").output == "0\n")
        #expect(try run(count, "999999 weeks ago").output == "0\n")
    }

    @Test(arguments: [
        "noon", "", "t", "tx", "2 hours", "two hours ago", "-2 hours ago", "nan hours ago", "inf hours ago",
        "2 fortnights ago",
        "2026-13-01", "2026-01-01T25:00:00Z", "12 ", "-1", "1e3", "0x10",
    ])
    func whatIsNoMomentNamesTheForms(text: String) throws {
        for command in Self.commands {
            // What begins with a minus is an option to the parser.
            var words = command.map { $0 == "STORE" ? store.path : $0 }
            if text.hasPrefix("-"), let option = words.last, option.hasPrefix("--") {
                words[words.count - 1] = "\(option)=\(text)"
            } else if text.hasPrefix("-") {
                words += ["--", text]
            } else {
                words.append(text)
            }
            let result = try Tool.run(words)
            #expect(
                result
                    == .init(
                        output: "",
                        error:
                            "strata: '\(text)' is not a moment. Write an event number (1200), a transaction (t12), a tag, a date "
                            + "(2026-11-21 or 2026-11-21T10:00:00Z), or '2 hours ago'.\n", exitCode: 2), "\(words)")
        }
    }

    @Test func whatTheLogDoesNotReachIsBadUsageOrNothing() throws {
        for moment in ["16", "18446744073709551615", "t6", "t18446744073709551615", "tag:none"] {
            for command in Self.commands {
                let result = try run(command, moment)
                let isBound = ["--since", "--until", "--from"].contains(command.last)
                #expect(result.exitCode == 2 || isBound && result.exitCode == 0, "\(command) \(moment): \(result)")
                #expect(result.exitCode == 0 || result.output.isEmpty && !result.error.isEmpty, "\(command) \(moment)")
            }
        }
    }

    // MARK: Closed pipes

    @Test(arguments: [
        "query STORE Film --format ndjson", "query STORE Film --json", "query STORE Film",
        "query STORE Film --format csv",
        "log STORE", "log STORE --json", "log STORE --reverse", "replay STORE --speed 0",
        "replay STORE --speed 0 --json",
        "export STORE Film", "export STORE Film --form plist", "export STORE Film --form csv",
        "export STORE --form cloudevents", "show STORE Film/p5 --history", "diff STORE t1", "timeline STORE",
        "stats STORE",
        "inspect STORE", "verify STORE", "doctor STORE", "model show STORE", "predicate FORMATS",
        "predicate FORMATS --json",
        "blame STORE Film/p5", "help", "query --help", "completions bash",
    ])
    func aReaderThatLeavesEndsItQuietly(line: String) throws {
        let formats = store.path + "/formats.txt"
        try Data(String(repeating: "a > 1\n", count: 50_000).utf8).write(to: URL(filePath: formats))
        let words = line.replacing("STORE", with: "'\(store.path)'").replacing("FORMATS", with: "'\(formats)'")
        // Nobody reads at all: the program may not even begin to write before the pipe is closed.
        let closed = try Tool.shell("$strata \(words) | true; echo ${PIPESTATUS[0]}")
        #expect(closed.output == "0\n", "\(closed)")
        let first = try Tool.shell("$strata \(words) | head -1 > /dev/null; echo ${PIPESTATUS[0]}")
        #expect(first.output == "0\n", "\(first)")
    }

    @Test func aLongListingStopsWhenItsReaderLeaves() throws {
        let lines = (1...30_000).map { #"{"title": "Film \#($0)", "year": 2000, "studio": "Studio/p1"}"# }
        let path = store.path + "/many.ndjson"
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: path))
        #expect(try Tool.run("import", store.path, "Film", path).exitCode == 0)
        for line in ["query STORE Film --format ndjson", "query STORE Film", "log STORE --json", "export STORE Film"] {
            let words = line.replacing("STORE", with: "'\(store.path)'")
            let result = try Tool.shell("$strata \(words) | head -1 | wc -l; echo ${PIPESTATUS[0]}")
            #expect(result.output == "1\n0\n", "\(line): \(result)")
        }
        for form in ["ndjson", "csv", "json", "plist"] {
            let pipe = "'\(store.path)/pipe'"
            let result = try Tool.shell(
                "rm -f \(pipe); mkfifo \(pipe); head -c 100 \(pipe) > /dev/null & "
                    + "$strata export '\(store.path)' Film \(pipe) --form \(form); echo $?")
            #expect(result.output == "0\n", "\(form): \(result)")
        }
    }

    @Test func aFullDiskIsNoReaderThatHasSeenEnough() throws {
        let result = try Tool.shell("$strata log '\(store.path)' --json 2>&1 >/dev/full; echo $?")
        #expect(result.output == "strata: Standard output cannot be written: No space left on device.\n1\n")
    }
}
