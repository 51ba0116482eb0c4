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
}
