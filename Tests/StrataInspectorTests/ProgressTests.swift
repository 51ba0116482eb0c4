import Foundation
import StrataStore
import Testing

@testable import StrataInspector

/// What takes long tells how far it is, on a terminal or where the environment asks for it, and nowhere else.
@Suite struct ProgressTests {
    private let store: FilmStore

    init() throws { store = try FilmStore() }

    /// A file of records in the store's directory.
    private func films() throws -> String {
        let path = store.path + "/many.ndjson"
        let lines = (1...1200).map { #"{"title": "Film \#($0)", "year": 2000, "studio": "Studio/p1"}"# }
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: path))
        return path
    }

    @Test(arguments: [
        (["import", "STORE", "Film", "FILE"], "records: 1,200 of 1,200 (100 %)"),
        (["rebuild", "STORE"], "replaying events: 0 of 15 (0 %)"),
        (["verify", "STORE"], "reading the log: 0 of 15 (0 %)"),
        (["compact", "STORE"], "copying: "), (["backup", "STORE", "STORE.new"], "copying: "),
        (["restore", "STORE", "STORE.new"], "copying: "),
        (["replay", "STORE", "--into", "STORE.new"], "replaying events: 0 of 15 (0 %)"),
        (["doctor", "STORE"], "reading the log: 0 of 5 (0 %)"),
        (["export", "STORE", "Film", "STORE/films.csv"], "objects: 0 of 4 (0 %)"),
        (["export", "STORE", "--form", "cloudevents"], "events: 0 of 15 (0 %)"),
    ])
    func progressIsToldWhereItIsWanted(words: [String], expected: String) throws {
        let file = try films()
        let arguments = words.map {
            $0.replacing("STORE", with: store.path).replacing("FILE", with: file)
        }
        let told = try Tool.run(arguments, environment: ["STRATA_PROGRESS": "0"])
        #expect(told.exitCode == 0 && told.error.contains(expected), "\(told)")
        #expect(told.error.split(separator: "\n").allSatisfy { $0.contains(": ") && !$0.contains("\r") })
    }

    @Test func progressIsToldNowhereElse() throws {
        let file = try films()
        for words in [
            ["import", store.path, "Film", file], ["verify", store.path], ["rebuild", store.path, "--json"],
        ] {
            let result = try Tool.run(words)
            #expect(result.exitCode == 0 && result.error.isEmpty, "\(result)")
            let silent = try Tool.onTerminal(words, .error, environment: ["STRATA_PROGRESS": "never"])
            #expect(silent.exitCode == 0 && silent.error.isEmpty, "\(silent)")
        }
    }

    /// One line that is written again and again, and is gone at the end.
    @Test func aTerminalShowsOneLine() throws {
        let file = try films()
        let result = try Tool.onTerminal(
            ["import", store.path, "Film", file], .error, environment: ["STRATA_PROGRESS": "0"])
        #expect(result.exitCode == 0)
        let shown = result.error.components(separatedBy: "\r\u{1B}[K")
        #expect(shown.first == "" && shown.last == "" && shown.count > 3, "\(result)")
        #expect(shown.contains { $0.hasPrefix("records: 1,000 of 1,2") && $0.hasSuffix(" s left") }, "\(result)")
        #expect(!result.error.contains("\n"))
    }

    @Test func aTerminalIsToldAfterASecondAndFiveTimesASecond() {
        let terminal = ProgressLine.Pace(nil, isTerminal: true)
        #expect(terminal?.isRewritten == true)
        #expect(terminal?.start == .seconds(1) && terminal?.interval == .milliseconds(200))
        #expect(ProgressLine.Pace(nil, isTerminal: false) == nil)
        #expect(ProgressLine.Pace("never", isTerminal: true) == nil)
        let lines = ProgressLine.Pace("10", isTerminal: false)
        #expect(lines?.isRewritten == false && lines?.start == .seconds(10) && lines?.interval == .seconds(10))
        for wrong in ["", "soon", "-1", "nan", "1e99"] {
            #expect(ProgressLine.Pace(wrong, isTerminal: false) == nil, "\(wrong)")
        }
    }

    @Test(arguments: [
        (StoreProgress(phase: "records", done: 0, total: 50), 0.0, "records: 0 of 50 (0 %)"),
        (
            StoreProgress(phase: "records", done: 12_000, total: 50_000), 1.5,
            "records: 12,000 of 50,000 (24 %), 8,000/s, 5 s left"
        ),
        (StoreProgress(phase: "records", done: 1000, total: 0), 2, "records: 1,000, 500/s"),
        (
            StoreProgress(phase: "events", done: 100, total: 100_000), 1,
            "events: 100 of 100,000 (0 %), 100/s, 16 min 39 s left"
        ),
        (
            StoreProgress(phase: "events", done: 10, total: 100_000), 1,
            "events: 10 of 100,000 (0 %), 10/s, 2 h 46 min left"
        ),
        (StoreProgress(phase: "events", done: 120, total: 100), 1, "events: 120 of 100 (100 %), 120/s, 0 s left"),
        (
            StoreProgress(phase: "copying", done: 1 << 20, total: 4 << 20, unit: .bytes), 2,
            "copying: 1.0 MiB of 4.0 MiB (25 %), 512.0 KiB/s, 6 s left"
        ),
    ])
    func aLineHasRateAndTimeLeft(progress: StoreProgress, seconds: Double, expected: String) {
        #expect(ProgressLine.text(progress, .seconds(seconds)) == expected)
    }

    @Test func colourIsForTerminals() throws {
        let words = ["verify", store.path]
        let plain = try Tool.run(words)
        #expect(plain.exitCode == 0 && !plain.output.contains("\u{1B}"))
        let terminal = ["TERM": "xterm", "NO_COLOR": ""]
        #expect(try Tool.onTerminal(words, .output, environment: terminal).output.contains("\u{1B}["))
        for environment in [["TERM": "xterm", "NO_COLOR": "1"], ["TERM": "dumb", "NO_COLOR": ""]] {
            let refused = try Tool.onTerminal(words, .output, environment: environment)
            #expect(withoutTime(refused.output) == withoutTime(plain.output))
        }
        let forced = try Tool.run(words, environment: ["CLICOLOR_FORCE": "1", "NO_COLOR": ""])
        #expect(forced.output.contains("\u{1B}["))
        for environment in [["CLICOLOR_FORCE": "1", "NO_COLOR": "1"], ["CLICOLOR_FORCE": "0", "NO_COLOR": ""]] {
            let refused = try Tool.run(words, environment: environment)
            #expect(withoutTime(refused.output) == withoutTime(plain.output))
        }
    }

    /// What `verify` says, but for how long it took.
    private func withoutTime(_ output: String) -> String {
        output.replacing(/in \d+\.\d{3} s/, with: "in some time")
    }
}
