import Foundation
import StrataGraph
import StrataModel
import Testing

@testable import StrataInspector

/// Drafts show the derived values that the save will compute, also of objects that the change does not touch.
@Suite final class StudioDerivedTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "derived-\(UUID().uuidString)")
    private let studio: Studio

    init() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Chat",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string, isOptional: true)),
                    .attribute(try Self.derived("key", .string, "canonical:(title)")),
                    .attribute(try Self.derived("size", .integer64, "messages.length.@sum")),
                    .attribute(try Self.derived("changed", .date, "now()")),
                    .relationship(
                        RelationshipDescription(
                            name: "messages", destinationEntityName: "Message", inverseName: "chat", isToMany: true,
                            deleteRule: .cascade)),
                ]),
            EntityDescription(
                name: "Message",
                properties: [
                    .attribute(AttributeDescription(name: "length", type: .integer64, isOptional: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "chat", destinationEntityName: "Chat", inverseName: "messages", isOptional: true)),
                ]),
        ])
        let path = directory.appending(path: "S.strata")
        let container = PersistentContainer(name: "S", model: model, at: .url(path))
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try container.loadPersistentStores()
        let context = container.newBackgroundContext()
        let chat = try context.insertNewObject(forEntityName: "Chat")
        try chat.setValue("Ünder", forKey: "title")
        for length in [3, 4] {
            let message = try context.insertNewObject(forEntityName: "Message")
            try message.setValue(length, forKey: "length")
            try message.setValue(chat, forKey: "chat")
        }
        try context.save()
        container.close()
        studio = try Studio(paths: [path.path(percentEncoded: false)], isWritable: true)
    }

    deinit {
        studio.close()
        try? FileManager.default.removeItem(at: directory)
    }

    private static func derived(
        _ name: String, _ type: AttributeType, _ expression: String
    ) throws -> AttributeDescription {
        AttributeDescription(
            name: name, type: type, isOptional: true, derivationExpression: try FetchExpression(format: expression))
    }

    private func send(_ page: String, _ body: [String: Any], status: Int = 200) throws -> JSONNode {
        let data = try JSONSerialization.data(withJSONObject: body)
        let answer = studio.change(StudioAddress(path: ["S", page]), data)
        #expect(answer.status == status, "\(String(decoding: answer.body, as: UTF8.self))")
        return try JSONNode(answer.body)
    }

    /// Each change of a draft as `Chat.size: 7 -> 9`.
    private func lines(_ draft: JSONNode) -> [String] {
        draft["objects"].items.flatMap { object in
            object["changes"].items.map { change in
                let texts = [change["before"]["text"].text ?? "-", change["after"]["text"].text ?? "-"]
                return "\(object["entity"].text ?? "").\(change["property"].text ?? ""): \(texts[0]) -> \(texts[1])"
            }
        }
    }

    @Test func valuesOfTheObjectItself() throws {
        let draft = try send("draft", ["kind": "set", "object": "Chat/p1", "values": ["title": "Över"]])
        #expect(lines(draft) == ["Chat.key: under -> over", "Chat.title: Ünder -> Över"])
        #expect(draft["problems"].items.isEmpty && draft["count"].number == 1)
    }

    @Test func valuesOfAnObjectThatIsNotTouched() throws {
        let draft = try send("draft", ["kind": "set", "object": "Message/p2", "values": ["length": "10"]])
        #expect(lines(draft) == ["Message.length: 3 -> 10", "Chat.size: 7 -> 14"])
        #expect(draft["count"].number == 2)
        let saved = try send("save", ["draft": try #require(draft["draft"].text), "author": "eve"])
        #expect(saved["transaction"].number != nil)
        let gone = try send("draft", ["kind": "delete", "object": "Message/p3"])
        #expect(lines(gone).contains("Chat.size: 14 -> 10"))
    }

    @Test func aSaveThatWouldDeriveSomethingElseIsRefused() throws {
        let first = try send("draft", ["kind": "set", "object": "Message/p2", "values": ["length": "10"]])
        let second = try send("draft", ["kind": "set", "object": "Message/p3", "values": ["length": "20"]])
        _ = try send("save", ["draft": try #require(second["draft"].text)])
        // The size would be another one than was shown.
        _ = try send("save", ["draft": try #require(first["draft"].text)], status: 409)
    }
}
