import Foundation
import StrataModel
import Testing

@testable import StrataInspector

/// Changes that pages make: what they would do first, and then exactly that.
@Suite struct StudioDraftTests {
    private let films: WritableStudio

    init() throws { films = try WritableStudio() }

    private func page(_ path: String, _ query: [String: String] = [:]) throws -> JSONNode {
        let parts = path.split(separator: "/").map(String.init)
        return try JSONNode(films.studio.answer(StudioAddress(path: [films.name] + parts, query: query)).body)
    }

    /// Shows a change and saves it.
    private func make(_ change: [String: Any], reason: String = "") throws -> Double? {
        let draft = try films.send("draft", change)
        let id = try #require(draft["draft"].text)
        return try films.send("save", ["draft": id, "author": "eve", "reason": reason])["transaction"].number
    }

    private func value(_ property: String, of object: String) throws -> String? {
        try page("object/\(object)")["values"].items.first { $0["name"].text == property }?["value"]["text"].text
    }

    @Test func aDraftChangesNothing() throws {
        let draft = try films.send("draft", ["kind": "set", "object": "Film/p5", "values": ["rating": "3"]])
        #expect(draft["count"].number == 1 && draft["problems"].items.isEmpty)
        let change = draft["objects"][0]["changes"][0]
        #expect(change["property"].text == "rating" && change["before"]["text"].text == "9")
        #expect(change["after"]["text"].text == "3")
        #expect(try value("rating", of: "Film/p5") == "9")
        #expect(try page("timeline")["moment"]["newest"].number == 5)
    }

    @Test func aSaveNamesAuthorAndReason() throws {
        let change: [String: Any] = [
            "kind": "set", "object": "Film/p5", "values": ["rating": "3", "released": NSNull()],
        ]
        #expect(try make(change, reason: "a mistake") == 6)
        #expect(try value("rating", of: "Film/p5") == "3" && value("released", of: "Film/p5") == "nil")
        let saved = try page("transaction/6")["transaction"]
        #expect(saved["author"].text == "eve" && saved["reason"].text == "a mistake")
        #expect(saved["context"].text == "strata-studio")
    }

    @Test func nothingIsSavedThatWasNotShown() throws {
        _ = try films.send("save", ["draft": "none", "author": "eve"], status: 409)
        let change: [String: Any] = ["kind": "set", "object": "Film/p5", "values": ["rating": "3"]]
        let draft = try #require(try films.send("draft", change)["draft"].text)
        _ = try Tool.run("update", films.store.path, "Film/p5", "rating=5")
        let refusal = try films.send("save", ["draft": draft], status: 409)["error"]["message"].text
        #expect(refusal?.contains("Look at it again") ?? false)
        #expect(try value("rating", of: "Film/p5") == "5")
        let again = try #require(try films.send("draft", change)["draft"].text)
        _ = try films.send("save", ["draft": again])
        let saved = try films.send("save", ["draft": again], status: 409)["error"]
        #expect(saved["transaction"].number == 7 && saved["message"].text?.contains("saved already") ?? false)
        #expect(try page("timeline")["moment"]["newest"].number == 7)
    }

    @Test func deletingShowsWhatGoesWithIt() throws {
        let draft = try films.send("draft", ["kind": "delete", "object": "Studio/p2"])
        let kinds = draft["objects"].items.map { "\($0["label"].text ?? "") \($0["kind"].text ?? "")" }
        #expect(
            kinds == [
                "Studio/p2 (Ghibli) deleted", "Film/p7 (Ponyo) deleted", "Film/p8 (Totoro, \"Tonari no\") deleted",
            ])
        #expect(draft["summary"].text == "2 Film deleted, 1 Studio deleted")
        #expect(try make(["kind": "delete", "object": "Studio/p2"]) == 6)
        #expect(try page("objects/Film")["count"].number == 2)
    }

    @Test func whatIsLostIsNamedBeforeWhatOnlyChanges() throws {
        let draft = try films.send("draft", ["kind": "delete", "object": "Genre/p3"])
        #expect(draft["objects"].items.map { $0["kind"].text } == ["deleted", "updated", "updated"])
        #expect(draft["summary"].text == "1 Genre deleted, 2 Film updated")
    }

    @Test(
        arguments: [
            ["kind": "delete", "object": "Film/p7"], ["kind": "delete", "object": "Studio/p2"],
            ["kind": "set", "object": "Film/p7", "values": ["rating": "5"]],
            ["kind": "set", "object": "Film/p7", "values": ["rating": "-0"]],
        ] as [[String: any Sendable]])
    func anObjectWithANaNIsChangedLikeAnother(change: [String: any Sendable]) throws {
        #expect(try make(["kind": "set", "object": "Film/p7", "values": ["rating": "nan"]]) == 6)
        #expect(try value("rating", of: "Film/p7")?.lowercased() == "nan")
        #expect(try make(change) == 7)
    }

    @Test func linksAreMadeAndCut() throws {
        let link: [String: Any] = [
            "kind": "link", "object": "Film/p8", "relationship": "genres", "members": ["Genre/p3"],
        ]
        let draft = try films.send("draft", link)
        let added = draft["objects"].items.flatMap { $0["links"].items }.flatMap { $0["added"].items }
        #expect(!added.isEmpty)
        #expect(try make(link) == 6)
        #expect(try page("object/Film/p8")["relationships"][0]["count"].number == 1)
        #expect(try make(link.merging(["kind": "unlink"]) { $1 }) == 7)
        #expect(try page("object/Film/p8")["relationships"][0]["count"].number == 0)
        _ = try films.send("draft", link.merging(["kind": "unlink"]) { $1 }, status: 400)
    }

    @Test func aTransactionIsRevertedAndConflictsAreNamed() throws {
        #expect(try make(["kind": "revert", "transaction": 4]) == 6)
        #expect(try value("rating", of: "Film/p5") == "8.1")
        #expect(try page("transaction/6")["transaction"]["reason"].text == "revert of transaction 4")
        #expect(try films.send("draft", ["kind": "revert", "transaction": 4])["count"].number == 0)
        #expect(try make(["kind": "set", "object": "Film/p5", "values": ["rating": "7"]]) == 7)
        let refusal = try films.send("draft", ["kind": "revert", "transaction": 4], status: 409)["error"]["message"]
            .text
        #expect(refusal?.contains("rating") ?? false)
        let kept = try films.send("draft", ["kind": "revert", "transaction": 4, "conflicts": "keep"])
        #expect(kept["count"].number == 0)
        _ = try films.send("draft", ["kind": "revert", "transaction": 99], status: 400)
    }

    @Test func anObjectIsRestored() throws {
        _ = try make(["kind": "delete", "object": "Film/p6"])
        #expect(try page("object/Film/p6")["exists"].flag == false)
        let draft = try films.send("draft", ["kind": "restore", "object": "Film/p6", "at": "5"])
        #expect(draft["objects"].items.contains { $0["kind"].text == "inserted" })
        #expect(try make(["kind": "restore", "object": "Film/p6", "at": "5"]) == 7)
        #expect(try value("title", of: "Film/p6") == "Mirror")
    }

    @Test func whatTheModelForbidsIsSaidBeforeTheSave() throws {
        let draft = try films.send("draft", ["kind": "set", "object": "Film/p5", "values": ["year": "1700"]])
        #expect(draft["problems"].items.count == 1)
        let id = try #require(draft["draft"].text)
        _ = try films.send("save", ["draft": id], status: 409)
        let twice = try films.send("draft", ["kind": "set", "object": "Studio/p1", "values": ["name": "Ghibli"]])
        _ = try films.send("save", ["draft": try #require(twice["draft"].text)], status: 409)
        #expect(try page("timeline")["moment"]["newest"].number == 5)
    }

    @Test func noFileIsReadForAValue() throws {
        let file = FileManager.default.temporaryDirectory.appending(component: "secret-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("c2VjcmV0".utf8).write(to: file)
        let made = try Tool.run("insert", films.store.path, "Still", "name=frame")
        #expect(made.exitCode == 0)
        let still = try #require(try page("objects/Still")["rows"][0]["object"].text)
        let change: [String: Any] = [
            "kind": "set", "object": still, "values": ["image": "@\(file.path(percentEncoded: false))"],
        ]
        _ = try films.send("draft", change, status: 400)
    }

    @Test(arguments: [
        "", "{}", "[1]", "{\"kind\":\"drop\"}", "{\"kind\":\"set\"}", "{\"kind\":\"set\",\"object\":\"x\"}",
    ])
    func whatIsNoChangeIsRefused(body: String) throws {
        let answer = films.studio.change(StudioAddress(path: [films.name, "draft"]), Data(body.utf8))
        #expect(answer.status == 400, "\(String(decoding: answer.body, as: UTF8.self))")
    }

    @Test(arguments: [true, false]) func aStoreThatIsNoLongerAtItsPathSaysSo(isReplaced: Bool) throws {
        func moment() throws -> JSONNode { try page("model")["moment"] }
        #expect(try moment()["isGone"].flag == false && moment()["isWritable"].flag == true)
        let elsewhere = films.store.path + ".new"
        try FileManager.default.moveItem(atPath: films.store.path, toPath: elsewhere)
        if isReplaced { try FileManager.default.copyItem(atPath: elsewhere, toPath: films.store.path) }
        #expect(try moment()["isGone"].flag == true && moment()["isWritable"].flag == false)
    }

    @Test func withoutPermissionNothingChanges() throws {
        let reading = try Studio(paths: [films.store.path])
        defer { reading.close() }
        let body = Data("{\"kind\":\"delete\",\"object\":\"Film/p5\"}".utf8)
        #expect(reading.change(StudioAddress(path: [films.name, "draft"]), body).status == 403)
        try films.store.expectUntouched()
    }
}
