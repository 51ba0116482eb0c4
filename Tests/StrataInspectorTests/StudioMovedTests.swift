import Foundation
import Testing

@testable import StrataInspector

/// Pages and commands on the past of a store that a migration changed.
@Suite struct StudioMovedTests {
    private let store: MovedStore
    private let studio: Studio
    private let name: String

    init() throws {
        store = try MovedStore()
        studio = try Studio(paths: [store.path])
        name = try #require(studio.names.first)
    }

    private func page(_ path: String, _ query: [String: String] = [:], status: Int = 200) throws -> JSONNode {
        let parts = path.split(separator: "/").map(String.init)
        let answer = studio.answer(StudioAddress(path: [name] + parts, query: query))
        #expect(answer.status == status, "\(path): \(String(decoding: answer.body, as: UTF8.self))")
        return try JSONNode(answer.body)
    }

    /// Each value as `name: text, by author`.
    private func origins(_ page: JSONNode) -> [String] {
        page["values"].items.map { value in
            let author = value["origin"]["author"].text ?? "nobody"
            return "\(value["name"].text ?? ""): \(value["value"]["text"].text ?? ""), by \(author)"
        }
    }

    @Test func whoWroteAValueIsKnownUnderTheNamesOfThen() throws {
        let then = origins(try page("object/Human/p1", ["at": "3"]))
        #expect(then == ["name: P1, by ann", "age: 40, by bob", "isTall: true, by ann", "note: x, by ann"])
        let now = origins(try page("object/Human/p1"))
        #expect(now == ["fullName: P1, by ann", "age: 41, by ann", "isTall: 1, by ann"])
        let blame = try Tool.run("blame", store.path, "Human/p1", "--at", "t3").output.split(separator: "\n")
        #expect(blame.count == 4 && blame.allSatisfy { $0.contains("inserted") || $0.contains("updated") }, "\(blame)")
    }

    @Test func valuesBesideThoseOfAnotherModelAreThoseOfTheSameProperty() throws {
        let values = try page("object/Human/p1", ["with": "3"])["values"].items
        let changed = values.map { "\($0["name"].text ?? "") \($0["isChanged"].flag ?? false)" }
        #expect(changed.prefix(2) == ["fullName false", "age true"], "\(changed)")
        #expect(values.map { $0["other"]["text"].text } == ["P1", "40", "true"])
        let then = try page("object/Human/p1", ["at": "3", "with": "6"])["values"].items
        #expect(then.map { $0["other"]["text"].text } == ["P1", "41", "1", "nil"])
    }

    @Test(arguments: ["Person", "Human"], ["3", ""])
    func anEntityIsFoundByTheNamesThatItHas(entity: String, at: String) throws {
        let table = try page("objects/\(entity)", ["at": at])
        #expect(table["count"].number == (at == "3" ? 2 : 1))
        #expect(try page("object/\(entity)/p1", ["at": at])["exists"].flag == true)
        #expect(try page("object/\(entity)/p2", ["at": at])["exists"].flag == (at == "3"))
        #expect(try page("transactions", ["entity": entity])["transactions"].items.count >= 4)
    }

    @Test func anEntityThatHasLeftTheModelHasItsPast() throws {
        #expect(try page("objects/Junk", ["at": "4"])["rows"][0]["object"].text == "Junk/p3")
        #expect(origins(try page("object/Junk/p3", ["at": "4"])) == ["text: rust, by ann"])
        let now = try page("object/Junk/p3")
        #expect(now["exists"].flag == false && now["history"].items.count == 1)
        #expect(now["fate"].text?.contains("its entity was not in the model then") ?? false)
        #expect(
            try page("transactions", ["entity": "Junk"])["transactions"].items.map { $0["number"].number }.last == 2)
        let refusal = try page("objects/Junk", status: 400)["error"]["message"].text
        #expect(refusal == "The store has no entity 'Junk' at this moment. It has Human.")
        _ = try page("objects/Nobody", ["at": "4"], status: 400)
    }

    @Test func everyObjectOfATransactionHasAPageThen() throws {
        for number in 2...6 {
            for event in try page("transaction/\(number)")["events"].items {
                guard let object = event["object"].text else { continue }
                _ = try page("object/\(object)", ["at": "\(number)"])
                let exists = try page("object/\(object)", ["at": "\(max(2, number - 1))"])["exists"].flag
                #expect(exists == true)
            }
        }
    }

    @Test(arguments: [
        ["show", "Junk/p3", "--at", "t4"], ["show", "Person/p2", "--at", "t3"], ["show", "Human/p2", "--at", "t3"],
        ["query", "Junk", "--at", "t4"], ["query", "Person", "--at", "t4"], ["query", "Human", "--at", "t4"],
        ["count", "Person"], ["blame", "Person/p1"], ["log", "--entity", "Junk"], ["log", "--object", "Junk/p3"],
        ["diff", "t1", "t3", "--entity", "Junk"], ["diff", "t1", "t3", "--object", "Person/p1"],
    ])
    func commandsFindThePast(words: [String]) throws {
        let result = try Tool.run([words[0], store.path] + words.dropFirst())
        #expect(result.exitCode == 0 && result.output.contains { $0.isNumber }, "\(result)")
    }

    @Test(arguments: [["update", "Person/p1", "age=1"], ["insert", "Person", "age=1"], ["delete", "Junk/p3"]])
    func changesGoByTheNamesOfNow(words: [String]) throws {
        let result = try Tool.run([words[0], store.path] + words.dropFirst())
        #expect(result.exitCode == 2 || result.exitCode == 1, "\(result)")
        #expect(result.error.contains("The store has no entity"), "\(result)")
    }
}
