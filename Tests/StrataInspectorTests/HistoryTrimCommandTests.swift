import Foundation
import StrataGraph
import StrataStore
import Testing

/// Truncating the history with the tool.
@Suite struct HistoryTrimCommandTests {
    private let store: FilmStore

    init() throws { store = try FilmStore() }

    private func run(_ command: String, _ arguments: String...) throws -> Tool.Result {
        try Tool.run([command, store.path] + arguments)
    }

    private func trim(_ arguments: String...) throws -> Tool.Result {
        try Tool.run(["history", "trim", store.path] + arguments)
    }

    @Test func aPlanSaysWhatWouldGoAndWhatHoldsIt() throws {
        let plan = try trim("--before", "t4", "--dry-run")
        #expect(
            plan.output
                == """
                tag 'first cut' needs the history from event 13 on
                would drop 3 transactions with up to 13 events
                the history is whole

                """)
        #expect(plan.exitCode == 1)
        try store.expectUntouched()
        let forced = try trim("--before", "t4", "--dry-run", "--force")
        #expect(forced.exitCode == 0 && forced.output.contains("would drop 4 transactions with up to 14 events"))
        try store.expectUntouched()
    }

    @Test func whatIsKeptIsListedAndVerified() throws {
        let before = try run("diff", "t3", "t5").output
        let trimmed = try trim("--before", "t3", "--author", "eve", "--reason", "three are enough")
        #expect(trimmed.exitCode == 0, "\(trimmed)")
        #expect(
            trimmed.output.hasSuffix("the history begins at event 13 (t3, 2026-01-01T00:00:03.000Z)\n"), "\(trimmed)")
        #expect(try run("diff", "t3", "t5").output == before)
        let log = try run("log", "--json").output
        #expect(log.contains("\"transaction\":4") && !log.contains("\"transaction\":3"), "\(log)")
        #expect(try run("log", "--since", "t1").exitCode == 0)
        let early = try run("query", "Film", "--at", "t2")
        #expect(early.exitCode == 1 && early.error.contains("The history begins at event 13"), "\(early)")
        #expect(try run("verify").exitCode == 0)
        #expect(try run("rebuild").exitCode == 0)
        for command in ["stats", "timeline", "tag", "inspect", "doctor"] {
            let result = try run(command)
            #expect(result.exitCode == 0, "\(command): \(result)")
        }
        let again = try trim("--before", "2020-01-01", "--json")
        #expect(again.exitCode == 0 && again.output.contains("\"transactions\" : 0"), "\(again)")
        let all = try trim("--before", "now", "--force", "--json")
        #expect(all.exitCode == 0 && all.output.contains("\"transaction\" : 5"), "\(all)")
        #expect(try run("tag").output == "no tag\n")
        #expect(try run("verify").exitCode == 0)
        #expect(try run("compact").exitCode == 0)
    }
}
