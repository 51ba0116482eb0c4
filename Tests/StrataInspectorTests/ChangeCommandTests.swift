import Foundation
import Testing

@Suite struct ChangeCommandTests {
    private let store: FilmStore

    init() throws { store = try FilmStore() }

    private func run(_ command: String, _ arguments: String...) throws -> Tool.Result {
        try Tool.run([command, store.path] + arguments)
    }

    private func rows(_ entity: String, _ columns: String, _ arguments: String...) throws -> String {
        try Tool.run(["query", store.path, entity, "--columns", columns, "--format", "csv"] + arguments).output
    }

    private func expectSound() throws {
        let result = try Tool.run("verify", store.path)
        #expect(result.exitCode == 0, "\(result)")
    }

    @Test func insertMakesAnObjectAndBothEndsOfItsLinks() throws {
        let result = try run(
            "insert", "Film", "title=Solaris", "year=1972", "released=1972-03-20", "studio.name=Mosfilm",
            "genres.label=drama,fantasy", "--author", "cli", "--reason", "it was missing")
        #expect(result.exitCode == 0 && result.error.isEmpty, "\(result)")
        let lines = result.output.split(separator: "\n")
        #expect(lines.first?.hasPrefix("inserted  Film/p") ?? false)
        #expect(lines.count { $0.hasPrefix("linked") } == 2)
        #expect(lines.last == "transaction 6, 3 events")
        #expect(
            try rows("Film", "title,year,released,studio.name,genres.@count", "--where", "year = 1972")
                == "title,year,released,studio.name,genres.@count\nSolaris,1972,1972-03-20T00:00:00.000Z,Mosfilm,2\n")
        let log = try Tool.run("log", store.path, "--since", "t6", "--kind", "inserted", "--json").output
        #expect(log.contains("\"author\":\"cli\""))
        try expectSound()
    }

    @Test func insertIsValidatedAsAnAppsSaveIs() throws {
        let before = try Data(contentsOf: store.directory.appending(component: "data.mdb"))
        let old = try run("insert", "Film", "title=Old", "year=1700", "studio=Studio/p1")
        #expect(old.exitCode == 1 && old.error.contains("year"), "\(old)")
        let nothing = try run("insert", "Film")
        #expect(nothing.exitCode == 1)
        #expect(nothing.error.split(separator: "\n").count >= 2, "every failure is told: \(nothing.error)")
        let twice = try run("insert", "Studio", "name=Ghibli")
        #expect(twice.exitCode == 1, "\(twice)")
        #expect(try Tool.run("log", store.path, "--json").output.split(separator: "\n").count == 15)
        _ = before
        let cases = [
            ["Film", "titel=x"], ["Film", "year=soon"], ["Film", "title"], ["Film", "studio.name=Nobody"], ["Flim"],
            ["Film", "title.x=3"],
        ]
        for words in cases {
            let result = try Tool.run(["insert", store.path] + words)
            #expect(result.exitCode == 2 && result.output.isEmpty && !result.error.isEmpty, "\(words): \(result)")
        }
        try expectSound()
    }

    @Test func updateChangesTheNamedAndTheFound() throws {
        #expect(
            try run("update", "Film/p6", "Film/p7", "rating=5", "--author", "cli")
                == .init(
                    output: "updated  Film/p6\nupdated  Film/p7\ntransaction 6, 2 events\n", error: "", exitCode: 0))
        #expect(
            try run("update", "Film", "--where", "rating = nil", "rating=6", "--nil", "released").output
                == "updated  Film/p8\ntransaction 7, 1 event\n")
        #expect(try rows("Film", "rating", "--sort", "year") == "rating\n5\n9\n6\n5\n")
        #expect(try run("update", "Film/p6", "rating=5").output == "nothing changed\n")
        #expect(
            try run("update", "Film/p6", "rating=4", "--json").output
                == """
                {
                  "changes" : [
                    {
                      "event" : "updated",
                      "object" : "Film/p6"
                    }
                  ],
                  "eventNumber" : 19,
                  "events" : 1,
                  "transaction" : 8
                }

                """)
        #expect(try run("update", "Film", "rating=4").exitCode == 2)
        #expect(try run("update", "Film/p6").exitCode == 2)
        #expect(
            try run("update", "Film/p99", "rating=4")
                == .init(output: "", error: "strata: There is no Film/p99 in the store.\n", exitCode: 1))
        try expectSound()
    }

    @Test func deleteTakesAlongWhatTheRulesSayAndRevertBringsItBack() throws {
        let before = try rows("Film", "title,rating,studio,genres.@count")
        let deleted = try run("delete", "Studio/p1", "--author", "cli")
        #expect(deleted.exitCode == 0)
        #expect(deleted.output.contains("deleted   Studio/p1\n") || deleted.output.contains("deleted  Studio/p1\n"))
        #expect(try rows("Film", "title", "--sort", "year") == "title\n\"Totoro, \"\"Tonari no\"\"\"\nPonyo\n")
        let reverted = try run("revert", "t6", "--author", "cli")
        #expect(reverted.exitCode == 0, "\(reverted)")
        #expect(try rows("Film", "title,rating,studio,genres.@count") == before)
        #expect(try run("revert", "99").exitCode == 2)
        try expectSound()
    }

    @Test func aRevertThatOthersOverlaidIsAConflict() throws {
        let conflict = try run("update", "Film/p5", "rating=3")
        #expect(conflict.exitCode == 0)
        let refused = try run("revert", "4")
        #expect(refused.exitCode == 1 && refused.output.isEmpty && refused.error.contains("Film"), "\(refused)")
        #expect(try run("revert", "4", "--conflicts", "keep").exitCode == 0)
        #expect(try rows("Film", "rating,released", "--where", "year = 1979") == "rating,released\n3,\n")
        try expectSound()
    }

    @Test func linkAndUnlinkChangeOneMember() throws {
        #expect(
            try run("link", "Genre/p3", "films", "Film/p7", "Film/p8").output
                == "linked  Film/p7.genres - Genre/p3\nlinked  Film/p8.genres - Genre/p3\ntransaction 6, 2 events\n")
        #expect(
            try run("unlink", "Film/p7", "genres", "Genre/p3").output
                == "unlinked  Film/p7.genres - Genre/p3\ntransaction 7, 1 event\n")
        #expect(
            try run("link", "Film/p7", "studio", "Studio/p1").output == "updated  Film/p7\ntransaction 8, 1 event\n")
        let none = try run("unlink", "Film/p7", "genres", "Genre/p3")
        #expect(
            none
                == .init(
                    output: "", error: "strata: Film/p7.genres does not lead to Genre/p3.\n", exitCode: 1))
        #expect(try run("unlink", "Studio/p1", "films").exitCode == 2)
        let both = try run("unlink", "Genre/p3", "films", "Film/p8", "--all")
        #expect(both.exitCode == 2 && both.error.contains("not both"), "\(both)")
        #expect(try run("unlink", "Genre/p3", "films", "Film/p8").exitCode == 0)
        #expect(try run("link", "Film/p7", "title", "Genre/p3").exitCode == 2)
        #expect(try run("link", "Film/p7", "genres", "Studio/p1").exitCode == 2)
        #expect(try run("link", "Film/p7", "genres", "Genre/p4", "--position", "0").exitCode == 2)
        try expectSound()
    }

    @Test func aConflictNamesItsObjects() throws {
        #expect(try Tool.run("update", store.path, "Film/p5", "studio=Studio/p2").exitCode == 0)
        #expect(try Tool.run("update", store.path, "Film/p5", "--nil", "studio").exitCode == 0)
        let result = try Tool.run("revert", store.path, "t6")
        #expect(result.exitCode == 1)
        #expect(result.error.hasSuffix("strata: Film/p5.studio: now nil, was to become Studio/p1\n"), "\(result)")
    }
}
