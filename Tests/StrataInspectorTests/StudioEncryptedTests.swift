import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

@testable import StrataInspector

/// Pages of a store with encrypted attributes, with the key and without.
@Suite final class StudioEncryptedTests {
    private let made: EncryptedStore

    init() throws {
        made = try EncryptedStore(
            in: FileManager.default.temporaryDirectory.appending(component: "studio-\(UUID().uuidString)"))
    }

    deinit { try? FileManager.default.removeItem(at: made.folder) }

    private func page(
        _ path: String, _ query: [String: String] = [:], keys: [String] = [], status: Int = 200
    ) throws -> JSONNode {
        let studio = try Studio(paths: [made.path], keyFiles: keys)
        defer { studio.close() }
        let parts = path.split(separator: "/").map(String.init)
        let answer = studio.answer(StudioAddress(path: ["Clinic"] + parts, query: query))
        #expect(answer.status == status, "\(path): \(String(decoding: answer.body, as: UTF8.self))")
        return try JSONNode(answer.body)
    }

    @Test func valuesAndTheirHistoryAreShownWithTheKeyOnly() throws {
        for (keys, text, kind) in [([], "(encrypted)", "encrypted"), ([made.key], "bronchitis", "text")] {
            let cell = try page("objects/Patient", ["columns": "diagnosis"], keys: keys)["rows"][0]["cells"][0]
            #expect(cell["text"].text == text && cell["kind"].text == kind)
            let object = try page("object/Patient/p2", keys: keys)
            let value = object["values"].items.first { $0["name"].text == "diagnosis" }
            let before = keys.isEmpty ? text : "influenza"
            #expect(value?["value"]["text"].text == text)
            #expect(value?["origin"]["before"]["text"].text == before)
            let change = object["history"][0]["events"][0]["changes"][0]
            #expect(change["before"]["text"].text == before && change["after"]["text"].text == text)
            let number = try #require(object["history"][0]["transaction"]["number"].number)
            let event = try page("transaction/\(Int(number))", keys: keys)["events"][0]
            #expect(event["changes"][0]["after"]["text"].text == text)
        }
    }

    @Test func aFilterNeedsTheKeyAndSaysHowToGiveIt() throws {
        let filter = ["where": "diagnosis = 'bronchitis'"]
        let refusal = try page("objects/Patient", filter, status: 422)["error"]
        #expect(refusal["field"].text == "where" && refusal["message"].text?.hasSuffix("with --key-file.") ?? false)
        #expect(try page("objects/Patient", filter, keys: [made.key])["count"].number == 1)
        let facet = try page("facet/Patient/diagnosis", keys: [made.key], status: 400)["error"]
        #expect(facet["field"].text == "property" && facet["message"].text?.contains("encrypted") ?? false)
        #expect(try page("objects/Patient", ["sort": "diagnosis"], status: 400)["error"]["field"].text == "sort")
    }

    @Test func anotherKeyOpensNothing() throws {
        let other = try EncryptedStore.makeKey("other.key", in: made.folder)
        #expect(throws: (any Error).self) { try Studio(paths: [self.made.path], keyFiles: [other]) }
        let several = try Studio(paths: [made.path], keyFiles: [other, made.key])
        several.close()
    }

    @Test func keysForWritingBelongToOneStore() throws {
        do {
            _ = try Studio(paths: [made.path, made.path], isWritable: true, keyFiles: [made.key])
            Issue.record("Two stores were opened for writing with one key.")
        } catch {
            #expect(Studio.text(of: error).contains("one store"))
        }
    }

    @Test func aValueIsChangedWithTheKeyOnly() throws {
        let change: [String: Any] = ["kind": "set", "object": "Patient/p2", "values": ["diagnosis": "well"]]
        for (keys, status) in [([], 409), ([made.key], 200)] {
            let studio = try Studio(paths: [made.path], isWritable: true, keyFiles: keys)
            defer { studio.close() }
            func send(_ page: String, _ body: [String: Any], _ status: Int) throws -> JSONNode {
                let data = try JSONSerialization.data(withJSONObject: body)
                let answer = studio.change(StudioAddress(path: ["Clinic", page]), data)
                #expect(answer.status == status, "\(String(decoding: answer.body, as: UTF8.self))")
                return try JSONNode(answer.body)
            }
            let draft = try send("draft", change, keys.isEmpty ? 422 : 200)
            if let id = draft["draft"].text { _ = try send("save", ["draft": id], status) }
        }
        #expect(
            try page("objects/Patient", ["columns": "diagnosis"], keys: [made.key])["rows"][0]["cells"][0]["text"].text
                == "well")
    }

    /// A value under a former key would be lost to those who have only the new one.
    @Test func aValueIsNotWrittenUnderAFormerKey() throws {
        let new = try EncryptedStore.makeKey("new.key", in: made.folder)
        let studio = try Studio(paths: [made.path], isWritable: true, keyFiles: [made.key])
        defer { studio.close() }
        func send(_ page: String, _ body: [String: Any], _ status: Int) throws -> JSONNode {
            let data = try JSONSerialization.data(withJSONObject: body)
            let answer = studio.change(StudioAddress(path: ["Clinic", page]), data)
            #expect(answer.status == status, "\(String(decoding: answer.body, as: UTF8.self))")
            return try JSONNode(answer.body)
        }
        func draft(_ values: [String: Any], _ status: Int) throws -> JSONNode {
            try send("draft", ["kind": "set", "object": "Patient/p2", "values": values], status)
        }
        let before = try draft(["diagnosis": "well"], 200)
        try made.run("keys", "rotate", made.path, "--key-file", made.key, "--new-key-file", new)
        _ = try send("save", ["draft": try #require(before["draft"].text)], 409)
        let refusal = try draft(["diagnosis": "well"], 422)["error"]["message"].text ?? ""
        #expect(refusal.contains("has come under the key") && refusal.hasSuffix("Start Studio with --key-file."))
        // What is not encrypted needs no key, and neither does nil.
        for values in [["name": "Bea"], ["diagnosis": NSNull()]] as [[String: Any]] {
            let id = try #require(try draft(values, 200)["draft"].text)
            _ = try send("save", ["draft": id], 200)
        }
    }

    @Test func aKeyUnderWhichAnAppSavedAfterARotationIsListedAsNeeded() throws {
        let new = try EncryptedStore.makeKey("new.key", in: made.folder)
        var options = StoreOptions()
        options.encryptionKeys = KeyFiles.keys(of: [made.key])
        let store = try Store.open(.directory(URL(filePath: made.path)), model: nil, options: options)
        defer { store.close() }
        try made.run("keys", "rotate", made.path, "--key-file", made.key, "--new-key-file", new)
        let context = try PersistentContainer(over: store).newBackgroundContext()
        let patient = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Patient")).first)
        try patient.setValue("well", forKey: "diagnosis")
        try context.save()
        let former = try Store.encryptionKeyID(of: KeyFiles.read(made.key))
        let lines = try made.run("keys", "list", made.path).split(separator: "\n")
        let line = lines.first { $0.hasPrefix(former) }
        #expect(line?.hasSuffix("1 value  its values need it: rotate again") ?? false, "\(lines)")
    }
}
