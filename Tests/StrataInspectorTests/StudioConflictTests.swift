import Foundation
import Testing

@testable import StrataInspector

/// What a person sees of others' changes before anything is saved over them.
@Suite struct StudioConflictTests {
    private let films: WritableStudio

    init() throws { films = try WritableStudio() }

    private func tool(_ arguments: String...) throws {
        let result = try Tool.run(arguments)
        #expect(result.exitCode == 0, "\(result.error)")
    }

    private func texts(_ conflict: JSONNode) -> [String?] {
        [conflict["property"].text] + ["base", "theirs", "mine"].map { conflict[$0]["text"].text }
    }

    private let rating: [String: Any] = ["kind": "set", "object": "Film/p5", "values": ["rating": "3"], "seen": 5]

    @Test func aDraftShowsWhatOthersHaveChangedSince() throws {
        #expect(try films.send("draft", rating)["conflicts"].items.isEmpty)
        try tool("update", films.store.path, "Film/p5", "rating=7", "--author", "cy", "--reason", "a poll")
        let conflicts = try films.send("draft", rating)["conflicts"].items
        #expect(conflicts.map(texts) == [["rating", "9", "7", "3"]])
        #expect(conflicts.first?["transaction"]["author"].text == "cy")
        #expect(conflicts.first?["transaction"]["reason"].text == "a poll")
        // Who does not say what was seen gets the change as it is.
        #expect(try films.send("draft", rating.filter { $0.key != "seen" })["conflicts"].items.isEmpty)
    }

    @Test func theSameValueAndOtherValuesAreNoConflict() throws {
        try tool("update", films.store.path, "Film/p5", "rating=3", "year=1980")
        let draft = try films.send("draft", rating)
        #expect(draft["conflicts"].items.isEmpty && draft["count"].number == 0)
        #expect(try films.send("draft", rating.merging(["values": ["title": "x"]]) { $1 })["conflicts"].items.isEmpty)
    }

    @Test func aSaveThatWasOvertakenSaysByWhat() throws {
        let draft = try films.send("draft", rating)
        try tool("update", films.store.path, "Film/p5", "rating=7", "--author", "cy")
        let save = ["draft": try #require(draft["draft"].text)]
        let problem = try films.send("save", save, status: 409)["error"]
        #expect(problem["conflicts"].items.map(texts) == [["rating", "9", "7", "3"]])
        #expect(problem["conflicts"][0]["transaction"]["author"].text == "cy")
    }

    @Test func aDeletedObjectSaysWhoDeletedIt() throws {
        let draft = try films.send("draft", rating)
        try tool("delete", films.store.path, "Film/p5", "--author", "cy")
        let save = ["draft": try #require(draft["draft"].text)]
        for problem in [
            try films.send("save", save, status: 409)["error"], try films.send("draft", rating, status: 409)["error"],
        ] {
            #expect(problem["conflicts"][0]["property"].text == nil)
            #expect(problem["conflicts"][0]["transaction"]["author"].text == "cy")
        }
    }

    @Test func aDeletionNamesEachValueThatWouldBeLost() throws {
        try tool("update", films.store.path, "Film/p5", "rating=7", "year=1980")
        let conflicts = try films.send("draft", ["kind": "delete", "object": "Film/p5", "seen": 5])["conflicts"].items
        #expect(Set(conflicts.map { texts($0)[0...2] }) == [["rating", "9", "7"], ["year", "1979", "1980"]])
        #expect(conflicts.allSatisfy { $0["mine"].text == nil })
    }

    @Test func aToOneIsAConflictAndMembersAreNone() throws {
        try tool("update", films.store.path, "Film/p5", "studio=Studio/p2")
        let link: [String: Any] = [
            "kind": "link", "object": "Film/p5", "relationship": "studio", "members": ["Studio/p1"], "seen": 5,
        ]
        let conflicts = try films.send("draft", link)["conflicts"].items.map(texts)
        // It is what it was, by a way of its own.
        #expect(conflicts == [["studio", "Studio/p1 (Mosfilm)", "Studio/p2 (Ghibli)", "Studio/p1 (Mosfilm)"]])
        try tool("unlink", films.store.path, "Film/p5", "genres", "Genre/p3")
        let member = link.merging(["relationship": "genres", "members": ["Genre/p3"]]) { $1 }
        #expect(try films.send("draft", member)["conflicts"].items.isEmpty)
    }

    @Test func whatWasSeenMayHaveLeftTheHistory() throws {
        try tool("update", films.store.path, "Film/p5", "rating=7")
        try tool("history", "trim", films.store.path, "--before", "t6", "--force")
        // What was before is not known any more; the draft says what is there now.
        let draft = try films.send("draft", rating)
        #expect(draft["conflicts"].items.isEmpty)
        #expect(draft["objects"][0]["changes"][0]["before"]["text"].text == "7")
        _ = try films.send("draft", rating.merging(["seen": 99]) { $1 }, status: 400)
    }
}
