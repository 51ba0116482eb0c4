import Foundation
import Testing

@Suite struct HistoryCommandTests {
    private let store: FilmStore

    init() throws { store = try FilmStore() }

    private func run(_ command: String, _ arguments: String...) throws -> Tool.Result {
        let result = try Tool.run([command, store.path] + arguments)
        try store.expectUntouched()
        return result
    }

    @Test func blameNamesTheEventOfEveryValue() throws {
        #expect(
            try run("blame", "Film/p5")
                == .init(
                    output: """
                        title      6  2026-01-01T00:00:03.000Z  ann  inserted  "Stalker"
                        year       6  2026-01-01T00:00:03.000Z  ann  inserted  1979
                        rating    14  2026-01-01T00:00:04.000Z  bob  updated   9
                        released  14  2026-01-01T00:00:04.000Z  bob  updated   1979-05-21T00:00:00.000Z
                        studio     6  2026-01-01T00:00:03.000Z  ann  inserted  Studio/p1 (Mosfilm)

                        """, error: "", exitCode: 0))
        let json = try run("blame", "Film/p5", "--at", "t3", "--json").output
        #expect(json.contains("\"reason\" : \"the first films\"") && !json.contains("bob"))
        #expect(try run("blame", "Film/p99").exitCode == 1)
    }

    @Test func diffTellsWhatBecameOfEveryObject() throws {
        #expect(
            try run("diff", "t3")
                == .init(
                    output: """
                        ~ Film/p5
                            rating: 8.1 -> 9
                            released: nil -> 1979-05-21T00:00:00.000Z
                        1 changed

                        """, error: "", exitCode: 0))
        #expect(
            try run("diff", "t4", "t3").output
                == """
                ~ Film/p5
                    rating: 9 -> 8.1
                    released: 1979-05-21T00:00:00.000Z -> nil
                1 changed

                """)
        #expect(
            try run("diff", "t2", "t3", "--object", "Film/p6").output
                == """
                + Film/p6  rating: 8, studio: Studio/p1 (Mosfilm), title: "Mirror", year: 1975
                + Film/p6.genres - Genre/p3 (drama)
                1 came, 1 link

                """)
        #expect(try run("diff", "now", "now").output == "no difference\n")
        #expect(try run("diff", "t3", "--json").output.contains("\"change\" : \"updated\""))
    }

    @Test func timelineDrawsTransactionsOverTime() throws {
        #expect(
            try run("timeline", "--by", "minute")
                == .init(
                    output: """
                                          transactions  events
                        2026-01-01 00:00             5      15  ████████████████████████████████████
                        5 transactions, 15 events

                        """, error: "", exitCode: 0))
        #expect(
            try run("timeline", "--author", "bob", "--json").output
                == """
                {
                  "by" : "minute",
                  "periods" : [
                    {
                      "authors" : {
                        "bob" : 1
                      },
                      "events" : 1,
                      "start" : "2026-01-01T00:00:00.000Z",
                      "transactions" : 1
                    }
                  ]
                }

                """)
        #expect(try run("timeline", "--author", "nobody").output == "no transaction\n")
    }

    @Test func statsCountWhatHappened() throws {
        let result = try run("stats", "--json")
        let text = try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        #expect(text["transactions"] as? Int == 5 && text["events"] as? Int == 15)
        #expect(
            try run("stats", "--since", "t4", "--until", "t4").output.contains("transactions                     1"))
    }

    @Test func logFollowsWhatAnotherProcessSaves() throws {
        let result = try Tool.shell(
            """
            $strata log '\(store.path)' --since t6 --follow --limit 2 --json > '\(store.path)/log.txt' & p=$!
            sleep 0.5
            $strata update '\(store.path)' Film/p6 rating=1 --author other > /dev/null
            $strata update '\(store.path)' Film/p6 rating=2 --author other > /dev/null
            wait $p; echo $?; cat '\(store.path)/log.txt'
            """)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 3 && lines.first == "0", "\(result)")
        #expect(lines.dropFirst().allSatisfy { $0.contains("\"author\":\"other\"") && $0.contains("Film/p6") })
    }

    @Test func aFollowerWhoseReaderIsGoneEnds() throws {
        let result = try Tool.shell(
            "timeout 10 $strata log '\(store.path)' --follow | head -1 > /dev/null; echo ${PIPESTATUS[0]}")
        #expect(result.output == "0\n")
    }

    @Test func replayMakesTheStoreOfThen() throws {
        let new = store.path + ".new"
        #expect(
            try run("replay", "--to", "t3", "--into", new)
                == .init(
                    output: "\(new): 3 transactions, 13 events, 8 objects, 0 large values, verified\n", error: "",
                    exitCode: 0))
        #expect(
            try Tool.run("query", new, "Film", "--columns", "title,rating", "--format", "csv", "--where", "rating > 8")
                .output
                == "title,rating\nStalker,8.1\n")
        #expect(try Tool.run("verify", new).exitCode == 0)
        #expect(
            try Tool.run("log", new).output
                == Tool.run("log", store.path, "--until", "t3").output)
        #expect(try run("replay", "--into", new).exitCode == 1)
        #expect(try Tool.run("insert", new, "Genre", "label=war").exitCode == 0)
        #expect(try Tool.run("verify", new).exitCode == 0)
    }

    @Test func replayPlaysTheLog() throws {
        #expect(try run("replay", "--speed", "0", "--json").output == Tool.run("log", store.path, "--json").output)
        let stepped = try Tool.shell(
            "printf '\\n\\nq\\n' | $strata replay '\(store.path)' --step --json 2>/dev/null | wc -l")
        #expect(stepped.output.trimmingCharacters(in: .whitespacesAndNewlines) == "5")
        #expect(try run("replay", "--step", "--speed", "3").exitCode == 2)
    }
}
