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
                would drop 3 transactions and about 0 events
                the history is whole

                """)
        #expect(plan.exitCode == 1)
        try store.expectUntouched()
        let forced = try trim("--before", "t4", "--dry-run", "--force")
        #expect(forced.exitCode == 0 && forced.output.contains("would drop 4 transactions and about 1 event"))
        try store.expectUntouched()
    }

    @Test(arguments: [[], ["--dry-run"], ["--entity", "Film"]]) func aMomentThatHasNotComeIsRefused(
        more: [String]
    ) throws {
        let refused = try Tool.run(["history", "trim", store.path, "--before", "2999-01-01"] + more)
        #expect(refused.exitCode == 2 && refused.output == "")
        #expect(refused.error.hasPrefix("strata: 2999-01-01 is in the future"), "\(refused)")
        try store.expectUntouched()
    }

    @Test func whatIsKeptIsListedAndVerified() throws {
        let before = try run("diff", "t3", "t5").output
        let trimmed = try trim("--before", "t3", "--author", "eve", "--reason", "three are enough")
        #expect(trimmed.exitCode == 0, "\(trimmed)")
        #expect(trimmed.output.contains("the history begins at event 13 (t3, 2026-01-01T00:00:03.000Z)\ntruncated "))
        #expect(trimmed.output.hasSuffix(" by eve: three are enough\n"), "\(trimmed)")
        #expect(try run("diff", "t3", "t5").output == before)
        let log = try run("log", "--json").output
        #expect(log.contains("\"transaction\":4") && !log.contains("\"transaction\":3"), "\(log)")
        #expect(try run("log", "--since", "t1").exitCode == 0)
        let early = try run("query", "Film", "--at", "t2")
        #expect(early.exitCode == 1 && early.error.contains("The history begins at event 13"), "\(early)")
        #expect(try run("verify").exitCode == 0)
        #expect(try run("rebuild").exitCode == 0)
        let tags = try run("tag").output.split(separator: "\n").map { $0.split(separator: " ").suffix(3) }
        #expect(tags.contains(["13", "t3", "2026-01-01T00:00:03.000Z"]), "\(tags)")
        for command in ["stats", "timeline", "tag", "inspect", "doctor"] {
            let result = try run(command)
            #expect(result.exitCode == 0, "\(command): \(result)")
        }
        let inspected = try run("inspect").output
        #expect(inspected.contains(" by eve: three are enough\n"), "\(inspected)")
        let again = try trim("--before", "2020-01-01", "--json")
        #expect(again.exitCode == 0 && again.output.contains("\"transactions\" : 0"), "\(again)")
        let all = try trim("--before", "now", "--force", "--json")
        #expect(all.exitCode == 0 && all.output.contains("\"transaction\" : 5"), "\(all)")
        #expect(try run("tag").output == "no tag\n")
        #expect(try run("verify").exitCode == 0)
        #expect(try run("compact").exitCode == 0)
    }

    @Test func aPlanSaysAsManyEventsAsTheTruncationDrops() throws {
        func events(_ result: Tool.Result) throws -> Int {
            let document = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
            return try #require(document?["events"] as? Int)
        }
        for moment in ["t3", "t4", "now"] {
            let planned = try events(try trim("--before", moment, "--force", "--dry-run", "--json"))
            #expect(try events(try trim("--before", moment, "--force", "--json")) == planned, "\(moment)")
        }
    }

    @Test func blameKnowsWhatItNoLongerKnows() throws {
        let text = try run("query", "Film", "--json").output
        let rows = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
        let references = try rows.map { try #require($0["object"] as? String) }
        for reference in references {
            #expect(try !run("blame", reference).output.contains("before the history"))
        }
        #expect(try trim("--before", "now", "--force").exitCode == 0)
        for reference in references {
            let blamed = try run("blame", reference)
            #expect(blamed.output.contains("before the history") && !blamed.output.contains("inserted"), "\(blamed)")
            #expect(try run("blame", reference, "--json").output.contains("\"beforeHistory\" : true"))
        }
    }
}
